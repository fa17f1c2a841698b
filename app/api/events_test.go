package api

import (
	"errors"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"lamplighter/monitor"
)

// recorded is an Eventer that notes what it is asked for.
type recorded struct {
	list  []monitor.Event
	err   error
	since chan time.Time
}

func (r recorded) Events(since time.Time) ([]monitor.Event, error) {
	r.since <- since
	return r.list, r.err
}

func step(kind monitor.EventKind) monitor.Event {
	return monitor.Event{At: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC), Kind: kind, ID: "7-7", PID: 7, Label: "2 - alpha", Detail: "so\u202e"}
}

func TestEvents(t *testing.T) {
	r := recorded{list: []monitor.Event{step(monitor.EventStarted), step(monitor.EventStopped)}, since: make(chan time.Time, 1)}
	srv := serveParts(t, func(p *Parts) { p.Events = r })
	const route = "/global-dashboard/events"
	status, _, body := srv.request(t, http.MethodGet, route)
	if back := time.Since(<-r.since).Round(time.Hour); status != 200 || back != eventsBack || !strings.HasPrefix(body, `{"events":[{"at":"2026-11-20T12:00:00Z","kind":"started",`) || strings.Contains(body, "\u202e") {
		t.Errorf("%d, %v back, %s", status, back, body)
	}
	for since, want := range map[string]time.Duration{"1h": time.Hour, "2d": 48 * time.Hour} {
		if status, _, body := srv.request(t, http.MethodGet, route+"?since="+since); status != 200 || time.Since(<-r.since).Round(time.Minute) != want {
			t.Errorf("%s: %d %s", since, status, body)
		}
	}
	if status, _, _ := srv.request(t, http.MethodGet, route+"?since=2026-11-20T13:00:00%2B01:00"); status != 200 || !(<-r.since).Equal(step("").At) {
		t.Errorf("RFC 3339: %d", status)
	}
	for _, since := range []string{"x", "-1h", "2026-13-01", "%1b%5b2J"} {
		if status, _, body := srv.request(t, http.MethodGet, route+"?since="+since); status != 400 || !strings.Contains(body, "is not a time; write it like") {
			t.Errorf("%s: %d %s", since, status, body)
		}
	}
	for _, query := range []string{"since=%zz", "%", "since=1h&since=2h", "since=1h&x=%zz", "since=1h;x"} {
		if status, _, body := srv.request(t, http.MethodGet, route+"?"+query); status != 400 || !strings.HasPrefix(body, `{"error":`) {
			t.Errorf("%s: %d %s", query, status, body)
		}
	}
	if list, err := srv.dial(t).Events(t.Context(), step("").At); err != nil || !reflect.DeepEqual(list, r.list) || !(<-r.since).Equal(step("").At) {
		t.Errorf("the client has %+v, %v", list, err)
	}
	r.list, r.err = nil, errors.New("no disk")
	srv = serveParts(t, func(p *Parts) { p.Events = r })
	if status, _, body := srv.request(t, http.MethodGet, route); status != 500 || !strings.Contains(body, "cannot be read: no disk") {
		t.Errorf("%d %s", status, body)
	}
	<-r.since
	r.err = nil
	srv = serveParts(t, func(p *Parts) { p.Events = r })
	if _, _, body := srv.request(t, http.MethodGet, route); strings.TrimSpace(body) != `{"events":[]}` {
		t.Errorf("nothing: %s", body)
	}
}

package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"reflect"
	"strings"
	"testing"

	"lamplighter/monitor"
	"lamplighter/monitor/process"
	"lamplighter/monitor/stop"
)

// A shutdown is an order like any other: the ladder is asked first, who asks is
// protected, and who ordered it is recorded before it is sent.
func TestShutdownAsksTheLadder(t *testing.T) {
	refusal := func(kind error) *stop.Refusal {
		return &stop.Refusal{Label: "2 - alpha", Kind: kind, Why: "it is pinned."}
	}
	unsure := errors.New("the processes cannot be listed")
	for name, test := range map[string]struct {
		result stop.Result
		err    error
		status int
		body   string // part of it
	}{
		"may end": {stop.Result{Outcome: stop.WouldEnd}, nil, 200, `{"asked":"PUT shutdown of 7-7"}`},
		"refused": {
			stop.Result{Outcome: stop.Refused, Detail: "Not ended: 2 - alpha is pinned."}, refusal(stop.ErrPinned),
			409, `{"error":"Not ended: 2 - alpha is pinned. To force it, use kill with {\"force\":true}.","outcome":"refused",`,
		},
		"refused for good": {
			stop.Result{Outcome: stop.Refused, Detail: "Not ended: 2 - alpha is ours."}, refusal(stop.ErrOurs),
			409, `{"error":"Not ended: 2 - alpha is ours.","outcome":"refused",`,
		},
		"gone":   {stop.Result{Outcome: stop.Gone, Detail: "It has ended."}, process.ErrGone, 404, `{"error":"It has ended."`},
		"unsure": {stop.Result{Outcome: stop.Failed}, unsure, 500, `{"error":"` + unsure.Error()},
	} {
		for _, listener := range []string{"the port", "the socket"} {
			l, fwd := &ladder{result: test.result, err: test.err}, &forwarder{}
			m := newModel()
			m.set(snapshot(instance(7, "alpha")))
			var told []string
			p := parts(m, shower{})
			p.Stop, p.Proxy = l, fwd
			p.Record = func(e monitor.Event) {
				told = append(told, fmt.Sprint(e.Kind, " ", e.ID, " ", e.PID, " ", e.Label, " ", e.Detail, " after ", len(fwd.asked)))
			}
			by, asker := "a request", peer(socketPeer(os.Getpid()))
			if listener == "the port" {
				by, asker = "the page", &webConn{Conn: ourConn(t), proven: true}
			}
			req := httptest.NewRequestWithContext(context.WithValue(t.Context(), peerKey{}, asker), "PUT", "/global-dashboard/instance/7/shutdown", nil)
			req.Header.Set(fetchSite, "same-origin")
			w := httptest.NewRecorder()
			Handler(p).ServeHTTP(w, req)
			if w.Code != test.status || !strings.HasPrefix(w.Body.String(), test.body) || !json.Valid(w.Body.Bytes()) {
				t.Errorf("%s, on %s: %d %s", name, listener, w.Code, w.Body)
			}
			if refused := strings.Contains(w.Body.String(), `"forceable":true`); refused != (name == "refused") {
				t.Errorf("%s, on %s: forceable %v", name, listener, refused)
			}
			if want := []stop.Order{{DryRun: true, Protect: []int{os.Getpid()}, By: by}}; !reflect.DeepEqual(l.orders, want) {
				t.Errorf("%s, on %s: the ladder was asked %+v, want %+v", name, listener, l.orders, want)
			}
			var want []string
			if test.err == nil {
				want = []string{"stop_ordered 7-7 7 " + m.Snapshot().Instances[0].Label() + " by " + by + " after 0"}
			}
			if !reflect.DeepEqual(told, want) || len(fwd.asked) != len(want) {
				t.Errorf("%s, on %s: recorded %q and forwarded %q, want %q", name, listener, told, fwd.asked, want)
			}
		}
	}
}

// Of what is forwarded nothing else is an order, and one who cannot be seen
// orders nothing.
func TestOnlyShutdownIsAnOrder(t *testing.T) {
	l, fwd := &ladder{}, &forwarder{}
	m := newModel()
	m.set(snapshot(instance(7, "alpha")))
	p := parts(m, shower{})
	p.Stop, p.Proxy = l, fwd
	h := Handler(p)
	for _, route := range []struct{ method, name string }{{"GET", "get_tool_stats"}, {"POST", "clear_tool_stats"}, {"POST", "cancel_task_execution"}} {
		if w := try(t, h, route.method, "/global-dashboard/instance/7/"+route.name, ""); w.Code != 200 {
			t.Errorf("%s: %d %s", route.name, w.Code, w.Body)
		}
	}
	if len(l.orders) != 0 || len(fwd.asked) != 3 {
		t.Errorf("the ladder was asked %+v", l.orders)
	}
	fwd.asked = nil
	req := httptest.NewRequestWithContext(context.WithValue(t.Context(), peerKey{}, socketPeer(0)), "PUT", "/global-dashboard/instance/7/shutdown", nil)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, req)
	if w.Code != 409 || !strings.Contains(w.Body.String(), "Ask with a program that") || len(l.orders)+len(fwd.asked) != 0 {
		t.Errorf("by one who cannot be seen: %d %s", w.Code, w.Body)
	}
}

package api

import (
	"bytes"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"

	"lamplighter/app/apptest"
)

func TestLimitsOf(t *testing.T) {
	for descriptors, want := range map[uint64]limits{
		0: {1, 2}, 64: {10, 12}, 256: {42, 51}, 1024: {170, 204}, 4096: {256, 384}, 1<<64 - 1: {256, 384},
	} {
		if got := limitsOf(descriptors); got != want {
			t.Errorf("%d: %+v, want %+v", descriptors, got, want)
		}
	}
	if got := systemLimits(); got.streams < 1 || got.connections < got.streams {
		t.Errorf("here: %+v", got)
	}
}

func TestStreamsAreLimited(t *testing.T) {
	m := newModel()
	m.set(snapshot(instance(7, "alpha")))
	srv := serve(t, m, shower{}, func(o *Options) { o.Handler = newRoutes(parts(m, shower{}), 2).handler() })
	c := srv.dial(t)
	var open []*http.Response
	for range 2 {
		resp, err := c.do(t.Context(), http.MethodGet, "/global-dashboard/stream")
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		open = append(open, resp)
	}
	// It must not keep its connection either, which takes a descriptor.
	if resp, err := c.http.Get("http://lamplighter/global-dashboard/stream"); err != nil || !resp.Close {
		t.Errorf("one too many: %+v, %v", resp, err)
	} else {
		resp.Body.Close()
	}
	status, _, body := srv.request(t, http.MethodGet, "/global-dashboard/stream")
	if status != http.StatusServiceUnavailable || !strings.Contains(body, `{"error":"2 streams are open, which is the most; close one`) {
		t.Errorf("one too many: %d, %s", status, body)
	}
	if status, _, _ := srv.request(t, http.MethodGet, "/health"); status != http.StatusOK {
		t.Errorf("other routes: %d", status)
	}
	open[0].Body.Close()
	apptest.Eventually(t, "a place is free again", func() bool {
		status, _, _ := srv.request(t, http.MethodHead, "/global-dashboard/stream")
		return status == http.StatusOK
	})
}

func TestDoorkeeper(t *testing.T) {
	var log bytes.Buffer
	d := newDoorkeeper(2, "the page", slog.New(slog.NewTextHandler(&log, nil)))
	var ends []net.Conn
	arrive := func() (closed bool) {
		ours, theirs := net.Pipe()
		ends = append(ends, ours, theirs)
		d.note(ours, http.StateNew)
		d.mu.Lock()
		defer d.mu.Unlock()
		return !d.open[ours]
	}
	for i, want := range []bool{false, false, true, true, true} {
		if closed := arrive(); closed != want {
			t.Errorf("connection %d: closed %v", i, closed)
		}
	}
	if _, err := ends[5].Read(make([]byte, 1)); err == nil {
		t.Error("one too many is open")
	}
	d.note(ends[4], http.StateClosed) // one that was not let in
	d.note(ends[0], http.StateActive)
	d.note(ends[0], http.StateClosed)
	if arrive() || !arrive() {
		t.Error("one place should be free")
	}
	if n := strings.Count(log.String(), "too many are open"); n != 3 {
		t.Errorf("logged %d times: %s", n, log.String())
	}
	for _, c := range ends {
		c.Close()
	}
}

package api

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"lamplighter/app/apptest"
	"lamplighter/monitor"
)

func TestRoutes(t *testing.T) {
	m := newModel()
	s := snapshot(instance(7, "alpha"))
	s.Warnings = []string{"the settings are broken"}
	m.set(s)
	srv := serve(t, m, shower{url: "http://127.0.0.1:1/"}, nil)
	for _, test := range []struct {
		method, route string
		status        int
		allow, body   string // body: part of it
	}{
		{"GET", "/health", 200, "", `{"status":"ok","program":"lamplighter","version":"1.2.3","pid":`},
		{"GET", "/health", 200, "", `,"ready":true,"seq":1,"warnings":["the settings are broken"]}`},
		{"HEAD", "/health", 200, "", ""},
		{"HEAD", "/global-dashboard/stream", 200, "", ""},
		{"GET", "/global-dashboard/instances", 200, "", `{"instances":[{"id":"7-7","pid":7,`},
		{"GET", "/global-dashboard/instances?x=%zz&y", 200, "", `{"instances":[`},
		{"POST", "/show", 200, "", `{"url":"http://127.0.0.1:1/","reason":null}`},
		{"GET", "/show", 405, "POST", `{"error":"GET is not possible here; use POST"}`},
		{"DELETE", "/health", 405, "GET, HEAD", `{"error":`},
		{"POST", "/global-dashboard/stream", 405, "GET, HEAD", `{"error":`},
		{"GET", "/workspaces", 503, "", `{"error":"no workspaces can be had here"}`},
		{"DELETE", "/workspaces/stream", 405, "GET, HEAD", `{"error":`},
		{"GET", "/", 302, "", ""},
		{"GET", "/global-dashboard/instances/", 404, "", `{"error":`},
		{"GET", "/%1b%5b2J%e2%80%ae", 404, "", `{"error":"there is nothing at /\u001b[2J\u202e"}`},
	} {
		status, header, body := srv.request(t, test.method, test.route)
		if status != test.status || header.Get("Allow") != test.allow || !strings.Contains(body, test.body) {
			t.Errorf("%s %s: %d, Allow %q, %s", test.method, test.route, status, header.Get("Allow"), body)
		}
		if header.Get("Cache-Control") != "no-store" || header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s %s: header %v", test.method, test.route, header)
		}
	}
}

func TestShow(t *testing.T) {
	for _, test := range []struct {
		show shower
		want string
	}{
		{shower{err: errors.New("no server")}, `{"url":null,"reason":"no server"}`},
		{shower{url: "u", err: errors.New("no browser")}, `{"url":"u","reason":"no browser"}`},
	} {
		shown, err := serve(t, newModel(), test.show, nil).dial(t).Show(t.Context())
		if body, _ := Marshal(shown); err != nil || string(body) != test.want {
			t.Errorf("got %s, %v; want %s", body, err, test.want)
		}
	}
}

func TestClientInstances(t *testing.T) {
	m := newModel()
	m.set(snapshot(instance(7, "alpha\x1b\u202e"), instance(8, "")))
	srv := serve(t, m, shower{}, nil)
	c, health, err := Dial(t.Context(), srv.path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if health.PID != os.Getpid() || health.Program != Program || health.Warnings == nil {
		t.Errorf("health %+v", health)
	}
	list, err := c.Instances(t.Context())
	if err != nil || len(list.Instances) != 2 || *list.Instances[0].ProjectName != "alpha\x1b\u202e" || list.Instances[1].ProjectName != nil {
		t.Errorf("got %+v, %v", list, err)
	}
}

// Whoever takes what is asked and says nothing is not waited for for ever.
func TestNothingAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := net.Pipe()
		defer theirs.Close()
		go func() { _, _ = io.Copy(io.Discard, theirs) }() // until we hang up
		c := &Client{path: "/s", http: &http.Client{Transport: &http.Transport{
			DialContext: func(context.Context, string, string) (net.Conn, error) { return ours, nil },
		}}}
		began := time.Now()
		var health Health
		err := c.ask(t.Context(), http.MethodGet, "/health", &health)
		if !errors.Is(err, ErrUnreachable) || !strings.HasSuffix(err.Error(), "nothing answers on /s within 3 s") || time.Since(began) != answerTime {
			t.Errorf("after %v: %v", time.Since(began), err)
		}
		c.Close()
	})
}

// Both ports tell whether the model has looked, and how often that has changed something.
func TestHealthTellsWhenReady(t *testing.T) {
	m := newModel()
	for seq, want := range map[uint64]string{0: `"ready":false,"seq":0,`, 1: `"ready":true,"seq":1,`, 7: `"ready":true,"seq":7,`} {
		m.set(&monitor.Snapshot{Seq: seq})
		for _, h := range []http.Handler{Handler(parts(m, shower{})), SessionHandler(parts(m, shower{}))} {
			apptest.Contains(t, try(t, h, http.MethodGet, "/health", "").Body.String(), want)
		}
	}
}

// Nobody is told that there is nothing before the model has looked.
func TestInstancesWaitForTheFirstLook(t *testing.T) {
	for name, test := range map[string]struct {
		looks  bool
		status int
		body   string // part of it
	}{
		"it comes":       {true, http.StatusOK, `{"instances":[{"id":"7-7",`},
		"it never comes": {false, http.StatusServiceUnavailable, `{"error":"lamplighter has only just started`},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := &model{}
				w := httptest.NewRecorder()
				answered := make(chan struct{})
				began := time.Now()
				go func() {
					defer close(answered)
					Handler(parts(m, shower{})).ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/global-dashboard/instances", nil))
				}()
				synctest.Wait()
				select {
				case <-answered:
					t.Fatalf("answered at once: %d %s", w.Code, w.Body)
				default:
				}
				if test.looks {
					m.set(snapshot(instance(7, "alpha")))
				}
				<-answered
				if w.Code != test.status || !strings.HasPrefix(w.Body.String(), test.body) {
					t.Errorf("got %d %s", w.Code, w.Body)
				}
				// The bubble's clock stands still unless all wait for it.
				if waited := time.Since(began); waited >= answerTime || (waited == 0) != test.looks {
					t.Errorf("answered after %v; a client waits %v", waited, answerTime)
				}
				if n := m.subscribers(); n != 0 {
					t.Errorf("%d subscriptions are left", n)
				}
			})
		})
	}
}

package api

import (
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"strings"
	"testing"

	"lamplighter/monitor"
)

// It answers, and the process ends with the connection still open.
func TestQuit(t *testing.T) {
	for _, restart := range []bool{true, false} {
		ordered := make(chan bool, 1)
		var srv *served
		srv = serve(t, newModel(), shower{}, func(o *Options) {
			p := parts(newModel(), shower{})
			p.Quit = func(restart bool) {
				ordered <- restart
				srv.cancel()
			}
			o.Handler = Handler(p)
		})
		quitting, err := srv.dial(t).Quit(t.Context(), restart)
		if err != nil || quitting.PID != os.Getpid() {
			t.Errorf("restart %v: %+v, %v", restart, quitting, err)
		}
		if got := <-ordered; got != restart {
			t.Errorf("told %v", got)
		}
	}
}

// What does not say whether another one starts ends nothing.
func TestQuitRefused(t *testing.T) {
	srv := serve(t, newModel(), shower{}, func(o *Options) {
		p := parts(newModel(), shower{})
		p.Quit = func(bool) { t.Error("it ends") }
		o.Handler = Handler(p)
	})
	for body, status := range map[string]int{
		`{}`: 400, `{"restart":null}`: 400, `{"restart":"true"}`: 400, `{"Restart":true}`: 400, `{"restart":true,"force":true}`: 400,
		`{"restart":true,"restart":false}`: 400, `[]`: 400, ``: 400, `{"restart":true}x`: 400,
	} {
		if got, answer := srv.post(t, "/quit", "application/json", strings.NewReader(body)); got != status || !strings.Contains(answer, "restart") {
			t.Errorf("%s: %d %s", body, got, answer)
		}
	}
	if status, header, _ := srv.request(t, http.MethodGet, "/quit"); status != http.StatusMethodNotAllowed || header.Get("Allow") != "POST" {
		t.Errorf("GET: %d", status)
	}
	if _, err := serve(t, newModel(), shower{}, nil).dial(t).Quit(t.Context(), true); err == nil || errors.Is(err, ErrNoQuit) {
		t.Errorf("where nothing ends: %v", err)
	}
}

// One of before the route is told from one that refuses.
func TestQuitOfAnOlderOne(t *testing.T) {
	srv := serve(t, newModel(), shower{}, func(o *Options) {
		now := o.Handler
		o.Handler = http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			if req.URL.Path == quitPath {
				answer(w, quiet(), http.StatusNotFound, Failure{Error: "there is nothing at /quit"})
				return
			}
			now.ServeHTTP(w, req)
		})
	})
	if _, err := srv.dial(t).Quit(t.Context(), true); !errors.Is(err, ErrNoQuit) {
		t.Errorf("%v", err)
	}
}

func FuzzParseQuit(f *testing.F) {
	for _, seed := range []string{`{"restart":true}`, ` {"restart": false} `, `{}`, `{"restart":null}`, `{"restart":1}`, `{"Restart":true}`, `[true]`, "", "{\"\xff\":1}"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		order, err := parseQuit(body)
		if err != nil {
			if order.Restart || strings.ContainsFunc(err.Error(), monitor.Unprintable) {
				t.Errorf("%q: %v, %q", body, order, err)
			}
			return
		}
		again, err := json.Marshal(order)
		if err != nil {
			t.Fatal(err)
		}
		if back, err := parseQuit(again); err != nil || back != order {
			t.Errorf("%q: %v, then %v, %v", body, order, back, err)
		}
	})
}

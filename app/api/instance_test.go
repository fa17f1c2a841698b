package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"lamplighter/app/dashboard"
	"lamplighter/monitor"
	"lamplighter/monitor/process"
	"lamplighter/monitor/stop"
)

// try sends one request to the routes themselves.
func try(t *testing.T, h http.Handler, method, target, body string) *httptest.ResponseRecorder {
	t.Helper()
	req := httptest.NewRequestWithContext(t.Context(), method, target, strings.NewReader(body))
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, req)
	return w
}

// A parked one has no pid, and its id still means it. The id of one whose pid was
// reused means nobody.
func TestParkedAndReused(t *testing.T) {
	parked := instance(9, "parked")
	parked.State = monitor.StateParked
	m := newModel()
	m.set(snapshot(parked, monitor.Instance{Identity: monitor.Identity{PID: 7, Start: 99}, Kind: "other", State: monitor.StateNoProject}))
	f, l, pins := &forwarder{}, &ladder{}, &pinner{}
	p := parts(m, shower{})
	p.Proxy, p.Stop, p.Pins = f, l, pins
	h := Handler(p)
	if w := try(t, h, "PUT", "/global-dashboard/instance/9-7/pin", `{"pinned":true}`); w.Code != 409 || !strings.Contains(w.Body.String(), "is parked") {
		t.Errorf("parked: %d %s", w.Code, w.Body)
	}
	if w := try(t, h, "POST", "/global-dashboard/instance/9-7/kill", ""); w.Code != 409 || !strings.Contains(w.Body.String(), "the next request starts it again") {
		t.Errorf("to end a parked one: %d %s", w.Code, w.Body)
	}
	if w := try(t, h, "PUT", "/global-dashboard/instance/7-7/shutdown", ""); w.Code != 404 {
		t.Errorf("the id of the one before: %d %s", w.Code, w.Body)
	}
	if f.asked != nil || l.orders != nil || pins.pinned != nil {
		t.Errorf("forwarded %v, ended %v, pinned %v", f.asked, l.orders, pins.pinned)
	}
}

func TestPin(t *testing.T) {
	m := newModel()
	m.set(snapshot(instance(7, "alpha")))
	pins := &pinner{}
	p := parts(m, shower{})
	p.Pins = pins
	h := Handler(p)
	const path = "/global-dashboard/instance/7/pin"
	for body, pinned := range map[string]bool{`{"pinned":true}`: true, ` {"pinned": false} `: false} {
		w := try(t, h, "PUT", path, body)
		if want := fmt.Sprintf(`{"pinned":%v}`, pinned); w.Code != 200 || strings.TrimSpace(w.Body.String()) != want || pins.pinned["7-7"] != pinned {
			t.Errorf("%s: %d %s, %v", body, w.Code, w.Body, pins.pinned)
		}
	}
	pins.pinned = nil
	for _, body := range []string{"", "{}", "null", "true", "[]", `{"pinned":null}`, `{"pinned":1}`, `{"pinned":"true"}`, `{"pin":true}`, `{"pinned":true,"x":1}`, `{"Pinned":true}`, `{"pinned":true,"Pinned":false}`, `{"pinned":true,"pinned":true}`, `{"pinned":true}{}`, `{"pinned":true`} {
		if w := try(t, h, "PUT", path, body); w.Code != 400 || pins.pinned != nil || !strings.HasPrefix(w.Body.String(), `{"error":`) {
			t.Errorf("%s: %d %s", body, w.Code, w.Body)
		}
	}
	pins.err = errors.New("the pins cannot be written: no space")
	if w := try(t, h, "PUT", path, `{"pinned":true}`); w.Code != 500 || !strings.Contains(w.Body.String(), "no space") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	pins.err = fmt.Errorf("process 7 was not pinned: it has ended: %w", process.ErrGone)
	if w := try(t, h, "PUT", path, `{"pinned":true}`); w.Code != 404 || !strings.Contains(w.Body.String(), "it has ended") {
		t.Errorf("one that has just ended: %d %s", w.Code, w.Body)
	}
	p.Pins = nil
	if w := try(t, Handler(p), "PUT", path, `{"pinned":true}`); w.Code != 503 {
		t.Errorf("without: %d %s", w.Code, w.Body)
	}
}

func TestRestartLanguageServer(t *testing.T) {
	parked := instance(9, "parked")
	parked.State = monitor.StateParked
	m := newModel()
	m.set(snapshot(instance(7, "alpha"), parked))
	p := parts(m, shower{})
	var asked []string
	var fails error
	p.RestartLanguageServer = func(_ context.Context, in monitor.Instance, o stop.Order) (string, error) {
		asked = append(asked, in.ID()+" by "+o.By)
		return "7 - alpha: ended gopls (8).", fails
	}
	h := Handler(p)
	const path = "/global-dashboard/instance/7/restart-language-server"
	for _, body := range []string{"", "{}"} {
		if w := try(t, h, "POST", path, body); w.Code != 200 || strings.TrimSpace(w.Body.String()) != `{"detail":"7 - alpha: ended gopls (8)."}` {
			t.Errorf("%s: %d %s", body, w.Code, w.Body)
		}
	}
	for body, path := range map[string]string{`{"force":true}`: path, "": "/global-dashboard/instance/9-7/restart-language-server"} {
		if w := try(t, h, "POST", path, body); w.Code != 400 && w.Code != 409 {
			t.Errorf("%s %s: %d %s", path, body, w.Code, w.Body)
		}
	}
	if !slices.Equal(asked, []string{"7-7 by a request", "7-7 by a request"}) {
		t.Errorf("asked %q", asked)
	}
	for err, status := range map[error]int{errors.New("it runs none"): 409, fmt.Errorf("process 7: %w", process.ErrGone): 404} {
		fails = err
		if w := try(t, h, "POST", path, ""); w.Code != status || !strings.Contains(w.Body.String(), err.Error()) {
			t.Errorf("%v: %d %s", err, w.Code, w.Body)
		}
	}
	p.RestartLanguageServer = nil
	if w := try(t, Handler(p), "POST", path, ""); w.Code != 503 {
		t.Errorf("without: %d %s", w.Code, w.Body)
	}
}

func TestHistory(t *testing.T) {
	living, ended := monitor.Identity{PID: 7, Start: 7}, monitor.Identity{PID: 5, Start: 5}
	rss := uint64(3)
	m := newModel()
	m.set(snapshot(instance(7, "alpha"), instance(8, "new")))
	p := parts(m, shower{})
	p.Recorder = &book{history: map[monitor.Identity]dashboard.History{
		living: {ID: "7-7", Times: []int64{1, 2}, RSSBytes: []*uint64{nil, &rss}, CPUPercent: []*float64{nil, nil}, ToolCalls: []*int64{nil, nil}},
		ended:  {ID: "5-5"},
	}}
	h := Handler(p)
	for word, want := range map[string]string{
		"7":   `{"id":"7-7","times":[1,2],"rss_bytes":[null,3],"cpu_percent":[null,null],"tool_calls":[null,null]}`,
		"7-7": `{"id":"7-7","times":[1,2],`, "5-5": `{"id":"5-5",`, "5": `{"error":"no server is \"5\"`, "8": `{"error":`, "7-8": `{"error":`, "05-5": `{"error":`, "5-05": `{"error":`,
	} {
		w := try(t, h, "GET", "/global-dashboard/instance/"+word+"/history", "")
		if !strings.HasPrefix(w.Body.String(), want) || (w.Code == 404) != strings.Contains(want, "error") {
			t.Errorf("%s: %d %s", word, w.Code, w.Body)
		}
	}
}

func TestPanics(t *testing.T) {
	m := newModel()
	for name, page := range map[string]http.HandlerFunc{
		"before": func(http.ResponseWriter, *http.Request) { panic("so") },
		"after": func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusEarlyHints)
			_, _ = w.Write([]byte("half"))
			panic("so")
		},
		"on purpose": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
	} {
		p := parts(m, shower{})
		p.Page = page
		s := serveWeb(t, nil, func(w *Web) {
			p.Log = w.options.Log
			w.options.Handler = Handler(p)
		})
		resp, err := http.Get(s.URL())
		if err == nil {
			defer resp.Body.Close()
		}
		if answered := err == nil && resp.StatusCode == 500; answered != (name == "before") {
			t.Errorf("%s: %v, %v", name, resp, err)
		}
		if logged := strings.Contains(s.log.String(), "panic in a route"); logged != (name != "on purpose") {
			t.Errorf("%s: logged %s", name, s.log.String())
		}
		if again, body := s.send(t, get("/health")); again.StatusCode != 200 {
			t.Errorf("%s, afterwards: %d %s", name, again.StatusCode, body)
		}
		http.DefaultClient.CloseIdleConnections()
	}
}

func TestRule(t *testing.T) {
	m := newModel()
	m.set(snapshot(monitor.Instance{Identity: monitor.Identity{PID: 7, Start: 7}, Kind: "own.py", State: monitor.StateLive, OnPipes: true}))
	p := parts(m, shower{})
	var written []string
	p.AddRule = func(in *monitor.Instance, name string) error {
		if name == "taken" {
			return errors.New(`the settings have a rule "taken" already`)
		}
		written = append(written, fmt.Sprintf("%d %s", in.Identity.PID, name))
		return nil
	}
	h := Handler(p)
	const path = "/global-dashboard/instance/7/rule"
	for _, test := range []struct {
		body   string
		status int
	}{
		{`{"name":"notes"}`, 200}, {`{"hidden":true}`, 200}, {`{"name":"taken"}`, 409},
		{`{}`, 400}, {`{"name":"notes","hidden":true}`, 400}, {`{"hidden":false}`, 400}, {`{"name":1}`, 400}, {``, 400},
	} {
		if w := try(t, h, "PUT", path, test.body); w.Code != test.status {
			t.Errorf("%s: %d %s", test.body, w.Code, w.Body)
		}
	}
	if want := []string{"7 notes", "7 "}; !slices.Equal(written, want) {
		t.Errorf("written %q, want %q", written, want)
	}
	p.AddRule = nil
	if w := try(t, Handler(p), "PUT", path, `{"hidden":true}`); w.Code != 503 {
		t.Errorf("without: %d %s", w.Code, w.Body)
	}
}

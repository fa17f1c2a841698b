package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
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

func TestForwardedRoutes(t *testing.T) {
	m := newModel()
	m.set(snapshot(instance(7, "alpha"), instance(8, "beta")))
	f := &forwarder{}
	p := parts(m, shower{})
	p.Proxy, p.Stop = f, &ladder{result: stop.Result{Outcome: stop.WouldEnd}}
	h := Handler(p)
	if len(dashboard.Routes()) < 17 {
		t.Fatalf("only %d routes are forwarded", len(dashboard.Routes()))
	}
	for _, route := range dashboard.Routes() {
		for word, id := range map[string]string{"8": "8-7", "7-7": "7-7"} {
			path := "/global-dashboard/instance/" + word + "/" + route.Name
			f.asked = nil
			w := try(t, h, route.Method, path, "")
			if want := route.Method + " " + route.Name + " of " + id; w.Code != 200 || !reflect.DeepEqual(f.asked, []string{want}) {
				t.Errorf("%s: %d %s, asked %v", path, w.Code, w.Body, f.asked)
			}
			for _, method := range []string{"GET", "HEAD", "POST", "PUT", "DELETE", "PATCH"} {
				if method == route.Method || method == "HEAD" && route.Method == "GET" {
					continue
				}
				f.asked = nil
				if w := try(t, h, method, path, ""); w.Code != 405 || !strings.HasPrefix(w.Header().Get("Allow"), route.Method) || f.asked != nil {
					t.Errorf("%s %s: %d, Allow %q, asked %v", method, path, w.Code, w.Header().Get("Allow"), f.asked)
				}
			}
		}
	}
}

// Whatever does not name a server of now reaches none: neither the one whose
// pid was reused, nor one that merely shares something with it.
func TestNoOtherInstance(t *testing.T) {
	parked := instance(9, "parked")
	parked.State = monitor.StateParked
	m := newModel()
	m.set(snapshot(instance(7, "alpha"), parked))
	f, l, pins, kept := &forwarder{}, &ladder{}, &pinner{}, &policyBook{}
	p := parts(m, shower{})
	p.Proxy, p.Stop, p.Pins, p.Recorder, p.Policies = f, l, pins, &book{}, kept
	h := Handler(p)
	for _, word := range []string{"7-8", "8", "8-7", "9", "24282", "alpha", "0", "-7", "07", "7-07", "+7", "7-", "-", "7-7-7", "7.0", "7e0", "18446744073709551623", "0x7", "7-7.", "~"} {
		for _, route := range []struct{ method, name, body string }{
			{"PUT", "shutdown", ""}, {"GET", "get_tool_names", ""}, {"POST", "kill", ""}, {"PUT", "pin", `{"pinned":true}`}, {"PUT", "keep", `{"minutes":60}`},
			{"GET", "history", ""},
		} {
			w := try(t, h, route.method, "/global-dashboard/instance/"+word+"/"+route.name, route.body)
			if w.Code != 404 || !strings.HasPrefix(w.Body.String(), `{"error":"`) {
				t.Errorf("%s of %s: %d %s", route.name, word, w.Code, w.Body)
			}
		}
	}
	if f.asked != nil || l.orders != nil || pins.pinned != nil || kept.told != nil {
		t.Errorf("forwarded %v, ended %v, pinned %v, %v", f.asked, l.orders, pins.pinned, kept.told)
	}
	// The parked one has no pid, and its id still means it.
	if w := try(t, h, "PUT", "/global-dashboard/instance/9-7/pin", `{"pinned":true}`); w.Code != 409 || !strings.Contains(w.Body.String(), "is parked") {
		t.Errorf("parked: %d %s", w.Code, w.Body)
	}
	if w := try(t, h, "POST", "/global-dashboard/instance/9-7/kill", ""); w.Code != 409 || !strings.Contains(w.Body.String(), "the next request starts it again") || l.orders != nil {
		t.Errorf("to end a parked one: %d %s", w.Code, w.Body)
	}
	// Its pid is now another server's.
	m.set(snapshot(monitor.Instance{Identity: monitor.Identity{PID: 7, Start: 99}, Kind: "other", State: monitor.StateNoProject}))
	if w := try(t, h, "PUT", "/global-dashboard/instance/7-7/shutdown", ""); w.Code != 404 || f.asked != nil {
		t.Errorf("the id of the one before: %d %s, asked %v", w.Code, w.Body, f.asked)
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

// What is taken is JSON, and means the same when it is written anew.
func FuzzParsePin(f *testing.F) {
	for _, seed := range []string{
		`{"pinned":true}`, ` {"pinned":false} `, `{}`, `{"pinned":null}`, `{"Pinned":true}`, `{"pinned":true,"pinned":false}`, `{"pinned":true}{}`, `[true]`, "", "{\"\xff\":1}",
		`{"\u202e\u001b[2J":true}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		pinned, err := parsePin(body)
		if err != nil {
			if pinned || strings.ContainsFunc(err.Error(), monitor.Unprintable) {
				t.Errorf("%q: %v, %q", body, pinned, err)
			}
			return
		}
		again, err := json.Marshal(Pin{Pinned: pinned})
		if err != nil {
			t.Fatal(err)
		}
		if back, err := parsePin(again); err != nil || back != pinned {
			t.Errorf("%q: %v, then %v, %v", body, pinned, back, err)
		}
		var meant any
		if err := json.Unmarshal(body, &meant); err != nil {
			t.Errorf("%q was taken and is not JSON: %v", body, err)
		}
	})
}

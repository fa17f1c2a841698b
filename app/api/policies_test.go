package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"lamplighter/app/policies"
	"lamplighter/monitor"
	"lamplighter/monitor/policy"
)

func TestPolicy(t *testing.T) {
	m := newModel()
	s := snapshot(instance(7, "alpha"))
	s.Policy = monitor.Policy{
		Active: true, Paused: true, PausedUntil: new(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)), Idle: 2, Orphans: 1,
		Rules: []monitor.PolicyRule{{Name: "orphans", Words: "End orphaned servers after 10 min", On: true, Set: true}, {Name: "idle", Words: "idle\u202e", Attached: new(false)}},
	}
	m.set(s)
	h := Handler(parts(m, shower{}))
	w := try(t, h, "GET", "/global-dashboard/policy", "")
	want := `{"active":true,"paused":true,"paused_until":"2026-11-20T12:00:00Z","idle":2,"orphans":1,"rules":[` +
		`{"name":"orphans","words":"End orphaned servers after 10 min","on":true,"set":true},{"name":"idle","words":"idle\u202e","on":false,"set":false,"attached":false}]}`
	if got := strings.TrimSpace(w.Body.String()); w.Code != 200 || got != want {
		t.Errorf("got  %d %s\nwant %s", w.Code, got, want)
	}
	for _, method := range []string{"POST", "DELETE", "PATCH"} {
		if w := try(t, h, method, "/global-dashboard/policy", ""); w.Code != 405 || w.Header().Get("Allow") != "GET, PUT, HEAD" {
			t.Errorf("%s: %d, Allow %q", method, w.Code, w.Header().Get("Allow"))
		}
	}
	if w := try(t, h, "PUT", "/global-dashboard/decisions", "{}"); w.Code != 405 || w.Header().Get("Allow") != "GET, HEAD" {
		t.Errorf("decisions: %d, Allow %q", w.Code, w.Header().Get("Allow"))
	}
}

func TestSetPolicy(t *testing.T) {
	m := newModel()
	s := snapshot(instance(7, "alpha"))
	s.Policy.Rules = []monitor.PolicyRule{{Name: "orphans", Set: true}, {Name: "memory"}}
	m.set(s)
	told := &policyBook{}
	p := parts(m, shower{})
	p.Policies = told
	h := Handler(p)
	const path = "/global-dashboard/policy"
	for body, want := range map[string]struct{ told, answer string }{
		`{"rule":"orphans","on":true}`:     {"switch orphans true by a request", `{"rule":"orphans","on":true}`},
		` {"on":false, "rule":"orphans" }`: {"switch orphans false by a request", `{"rule":"orphans","on":false}`},
		`{"rule":"memory","on":false}`:     {"switch memory false by a request", `{"rule":"memory","on":false}`},
		`{"rule":"idle","on":true}`:        {"switch idle true by a request", `{"rule":"idle","on":true}`}, // whose standing is not known yet
		`{"paused":false}`:                 {"resume by a request", `{"paused":false,"paused_until":null}`},
		`{"paused":true}`:                  {"pause by a request", `{"paused":true,"paused_until":null}`},
		`{"paused":true,"minutes":null}`:   {"pause by a request", `{"paused":true,"paused_until":null}`},
		`{"paused":true,"minutes":60}`:     {"pause by a request", `{"paused":true,"paused_until":"`},
		`{"minutes":0.1,"paused":true}`:    {"pause by a request", `{"paused":true,"paused_until":"`},
	} {
		told.told, told.until = nil, time.Time{}
		w := try(t, h, "PUT", path, body)
		if w.Code != 200 || !slices.Equal(told.told, []string{want.told}) || !strings.HasPrefix(w.Body.String(), want.answer) {
			t.Errorf("%s: %d %s, told %q", body, w.Code, w.Body, told.told)
		}
		var answer Paused
		if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil {
			t.Fatal(err)
		}
		if limited := strings.Contains(want.answer, `until":"`); limited != told.until.After(time.Now().Add(-time.Minute)) || limited != (answer.PausedUntil != nil) {
			t.Errorf("%s: paused until %v, answered %v", body, told.until, answer.PausedUntil)
		}
	}
	told.told = nil
	for _, body := range []string{
		"", "{}", "null", "true", "[]", `{"paused":null}`, `{"paused":1}`, `{"paused":"true"}`, `{"Paused":true}`, `{"paused":true,"x":1}`, `{"paused":true,"paused":true}`,
		`{"paused":true}{}`, `{"paused":true`, `{"minutes":60}`, `{"paused":false,"minutes":60}`, `{"paused":false,"minutes":null}`, `{"paused":true,"minutes":0}`,
		`{"paused":true,"minutes":-1}`, `{"paused":true,"minutes":0.001}`, `{"paused":true,"minutes":43201}`, `{"paused":true,"minutes":1e400}`,
		`{"paused":true,"minutes":"60"}`, `{"rule":"idle"}`, `{"on":true}`, `{"rule":"idle","on":null}`, `{"rule":null,"on":true}`, `{"rule":"idle","on":1}`,
		`{"rule":"Idle","on":true}`, `{"rule":"","on":true}`, `{"rule":"nosuch\u202e","on":true}`, `{"rule":"idle","on":true,"paused":true}`,
		`{"rule":"idle","on":true,"minutes":null}`, `{"rule":null,"paused":true}`, `{"on":null,"paused":true}`,
	} {
		if w := try(t, h, "PUT", path, body); w.Code != 400 || told.told != nil || !strings.HasPrefix(w.Body.String(), `{"error":`) {
			t.Errorf("%s: %d %s, told %q", body, w.Code, w.Body, told.told)
		}
	}
	if w := try(t, h, "PUT", path, `{"rule":"memory","on":true}`); w.Code != 409 || !strings.Contains(w.Body.String(), "the settings give it nothing to do") || told.told != nil {
		t.Errorf("a rule without a limit: %d %s, told %q", w.Code, w.Body, told.told)
	}
	told.err = errors.New("policy.json cannot be written: no space")
	for _, body := range []string{`{"paused":true}`, `{"paused":false}`, `{"rule":"idle","on":false}`} {
		if w := try(t, h, "PUT", path, body); w.Code != 500 || !strings.Contains(w.Body.String(), "no space") {
			t.Errorf("%s: %d %s", body, w.Code, w.Body)
		}
	}
	p.Policies = nil
	if w := try(t, Handler(p), "PUT", path, `{"paused":true}`); w.Code != 503 {
		t.Errorf("without: %d %s", w.Code, w.Body)
	}
}

func TestKeep(t *testing.T) {
	m := newModel()
	m.set(snapshot(instance(7, "alpha"), instance(8, "beta")))
	told := &policyBook{}
	p := parts(m, shower{})
	p.Policies = told
	h := Handler(p)
	const path = "/global-dashboard/instance/7/keep"
	for body, want := range map[string]string{
		`{"minutes":60}`: "1h0m0s", ` {"minutes": 0.5} `: "30s", `{"minutes":43200}`: "720h0m0s", `{"minutes":0}`: "0s", `{"minutes":-0.0}`: "0s",
	} {
		told.told = nil
		w := try(t, h, "PUT", path, body)
		answer := `{"kept_until":"`
		if want == "0s" {
			answer = `{"kept_until":null}`
		}
		if w.Code != 200 || !slices.Equal(told.told, []string{"keep 7-7 for " + want + " by a request"}) || !strings.HasPrefix(w.Body.String(), answer) {
			t.Errorf("%s: %d %s, told %q", body, w.Code, w.Body, told.told)
		}
	}
	told.told = nil
	for _, body := range []string{
		"", "{}", "null", "60", "[]", `{"minutes":null}`, `{"minutes":"60"}`, `{"minutes":true}`, `{"Minutes":60}`, `{"minutes":60,"x":1}`, `{"minutes":60,"minutes":60}`,
		`{"minutes":60}{}`, `{"minutes":60`, `{"minutes":-1}`, `{"minutes":1e-9}`, `{"minutes":43201}`, `{"minutes":1e308}`, `{"minutes":1e999}`, `{"minutes":NaN}`,
	} {
		if w := try(t, h, "PUT", path, body); w.Code != 400 || told.told != nil || !strings.HasPrefix(w.Body.String(), `{"error":`) {
			t.Errorf("%s: %d %s, told %q", body, w.Code, w.Body, told.told)
		}
	}
	for _, method := range []string{"GET", "POST", "DELETE"} {
		if w := try(t, h, method, path, ""); w.Code != 405 || w.Header().Get("Allow") != "PUT" {
			t.Errorf("%s: %d, Allow %q", method, w.Code, w.Header().Get("Allow"))
		}
	}
	told.err = errors.New("policy.json cannot be written: no space")
	if w := try(t, h, "PUT", path, `{"minutes":60}`); w.Code != 500 || !strings.Contains(w.Body.String(), "no space") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	told.err = fmt.Errorf("2 - alpha was not kept: %w", policies.ErrInactive)
	if w := try(t, h, "PUT", path, `{"minutes":60}`); w.Code != 409 || !strings.Contains(w.Body.String(), "does not hold the lock") {
		t.Errorf("where another one acts: %d %s", w.Code, w.Body)
	}
	p.Policies = nil
	if w := try(t, Handler(p), "PUT", path, `{"minutes":60}`); w.Code != 503 {
		t.Errorf("without: %d %s", w.Code, w.Body)
	}
}

func TestDecisions(t *testing.T) {
	m := newModel()
	m.set(snapshot(instance(7, "alpha")))
	at := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	p := parts(m, shower{})
	p.Policies = &policyBook{actions: []policy.Action{
		{
			ID: monitor.Identity{PID: 7, Start: 7}, Label: "2 - alpha\u202e", Rule: policy.Idle, Do: policy.Wait, At: at, Reason: "no call for 30 min",
			Evidence: func() []string { return []string{"idle since 11:30 at least"} },
		},
		{ID: monitor.Identity{PID: 8, Start: 1}, Do: policy.Refuse, Because: "it is pinned"},
	}}
	h := Handler(p)
	const path = "/global-dashboard/decisions"
	want := `{"decisions":[{"id":"7-7","label":"2 - alpha\u202e","rule":"idle","do":"wait","at":"2026-11-20T12:00:00Z","reason":"no call for 30 min",` +
		`"because":null,"evidence":["idle since 11:30 at least"],"words":{"text":"stops at","at":"2026-11-20T12:00:00Z","why":"no call for 30 min"}},{"id":"8-1","label":"","rule":null,"do":"refuse","at":null,"reason":null,"because":"it is pinned","evidence":[],"words":{"text":"is left alone","why":"it is pinned"}}]}`
	for _, query := range []string{"", "?", "?what=", "?other=1"} {
		if w := try(t, h, "GET", path+query, ""); w.Code != 200 || strings.TrimSpace(w.Body.String()) != want {
			t.Errorf("%q: %d %s\nwant %s", query, w.Code, w.Body, want)
		}
	}
	for _, what := range []string{"idle", "orphans", "all"} {
		if w := try(t, h, "GET", path+"?what="+what, ""); w.Code != 200 || !strings.Contains(w.Body.String(), `"label":"ordered: `+what+`"`) {
			t.Errorf("%s: %d %s", what, w.Code, w.Body)
		}
	}
	for _, query := range []string{"what=Idle", "what=idle,all", "what=idle&what=idle", "what=idle&what=", "what=%zz", "what=idle;x", "what=%1b%5b2J", "what=idle%00"} {
		if w := try(t, h, "GET", path+"?"+query, ""); w.Code != 400 || !strings.HasPrefix(w.Body.String(), `{"error":`) {
			t.Errorf("%s: %d %s", query, w.Code, w.Body)
		}
	}
	p.Policies = nil
	if w := try(t, Handler(p), "GET", path, ""); w.Code != 503 {
		t.Errorf("without: %d %s", w.Code, w.Body)
	}
}

func TestClientOfPolicies(t *testing.T) {
	m := newModel()
	m.set(snapshot(instance(7, "alpha")))
	pins := &pinner{}
	srv := serve(t, m, shower{}, func(o *Options) {
		p := parts(m, shower{})
		p.Policies, p.Pins = &policyBook{actions: []policy.Action{{Label: "by the policies"}}}, pins
		o.Handler = Handler(p)
	})
	c := srv.dial(t)
	for what, label := range map[policy.Rule]string{"": "by the policies", policy.Orphans: "ordered: orphans"} {
		if list, err := c.Decisions(t.Context(), what); err != nil || len(list) != 1 || list[0].Label != label {
			t.Errorf("%q: %+v, %v", what, list, err)
		}
	}
	if _, err := c.Decisions(t.Context(), "no&such"); err == nil || !strings.Contains(err.Error(), `"no&such" is not one of`) {
		t.Errorf("got %v", err)
	}
	if err := c.Pin(t.Context(), "7-7", true); err != nil || !pins.pinned["7-7"] || !slices.Equal(pins.by, []string{"the command line"}) {
		t.Errorf("%v, %v by %q", err, pins.pinned, pins.by)
	}
	if err := c.Pin(t.Context(), "7-8", true); err == nil || err.Error() != `no server is "7-8"; it may have ended` {
		t.Errorf("got %v", err)
	}
}

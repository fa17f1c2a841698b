package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"lamplighter/app/apptest"
	"lamplighter/app/payload"
	"lamplighter/monitor"
	"lamplighter/monitor/policy"
	"lamplighter/monitor/process"
	"lamplighter/monitor/stop"
)

// ladder is a Stopper that answers as it is told and notes its orders.
type ladder struct {
	result stop.Result
	err    error
	held   chan struct{} // if not nil, Stop waits until it is closed

	mu     sync.Mutex
	orders []stop.Order
	ids    []string
	began  chan context.Context
}

func (l *ladder) Stop(ctx context.Context, in monitor.Instance, o stop.Order) (stop.Result, error) {
	l.mu.Lock()
	l.orders, l.ids = append(l.orders, o), append(l.ids, in.ID())
	l.mu.Unlock()
	if l.held != nil {
		l.began <- ctx
		<-l.held
	}
	return l.result, l.err
}

func serveParts(t *testing.T, change func(*Parts)) *served {
	t.Helper()
	m := newModel()
	parked := instance(9, "parked")
	parked.State = monitor.StateParked
	m.set(snapshot(instance(7, "alpha"), instance(8, "8"), parked))
	p := parts(m, shower{})
	change(&p)
	return serve(t, m, shower{}, func(o *Options) { o.Handler = Handler(p) })
}

// post sends a body, which nil leaves out, of that kind.
func (s *served) post(t *testing.T, route, kind string, body io.Reader) (int, string) {
	t.Helper()
	c := s.dial(t)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://lamplighter"+route, body)
	if err != nil {
		t.Fatal(err)
	}
	if kind != "" {
		req.Header.Set("Content-Type", kind)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, strings.TrimSpace(string(answer))
}

func TestKillAnswers(t *testing.T) {
	refusal := &stop.Refusal{Label: "2 - alpha", Kind: stop.ErrPinned, Why: "it is pinned."}
	for name, test := range map[string]struct {
		result stop.Result
		err    error
		status int
		body   string
	}{
		"ended": {
			stop.Result{Outcome: stop.Ended, Detail: "Ended: x.", Steps: []monitor.Event{step(monitor.EventEnded)}, Processes: 3, FreedBytes: 5}, nil,
			200, `{"outcome":"ended","detail":"Ended: x.","steps":[{"at":"2026-11-20T12:00:00Z","kind":"ended","id":"7-7","pid":7,"label":"2 - alpha","detail":"so\u202e"}],"processes":3,"freed_bytes":5}`,
		},
		"dry run": {
			stop.Result{Outcome: stop.WouldEnd, Detail: "Would end x."}, nil,
			200, `{"outcome":"would_end","detail":"Would end x.","steps":[],"processes":0,"freed_bytes":0}`,
		},
		"refused": {
			stop.Result{Outcome: stop.Refused, Detail: refusal.Error()}, refusal,
			409, `{"error":"Not ended: 2 - alpha is pinned.","outcome":"refused","detail":"Not ended: 2 - alpha is pinned.","steps":[],"processes":0,"freed_bytes":0,"forceable":true}`,
		},
		"gone": {
			stop.Result{Outcome: stop.Gone, Detail: "It has ended."}, process.ErrGone,
			404, `{"error":"It has ended.","outcome":"gone","detail":"It has ended.","steps":[],"processes":0,"freed_bytes":0}`,
		},
		"survived": {
			stop.Result{Outcome: stop.Failed, Detail: "It is still there.", Processes: 1}, fmt.Errorf("x: %w", stop.ErrSurvived),
			502, `{"error":"It is still there.","outcome":"failed","detail":"It is still there.","steps":[],"processes":1,"freed_bytes":0}`,
		},
		"nothing could be done": {
			stop.Result{Outcome: stop.Failed}, errors.New("why"),
			500, `{"error":"why","outcome":"failed","detail":"","steps":[],"processes":0,"freed_bytes":0}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := &ladder{result: test.result, err: test.err}
			srv := serveParts(t, func(p *Parts) { p.Stop = l })
			status, body := srv.post(t, "/global-dashboard/instance/7-7/kill", "", nil)
			if status != test.status || body != test.body {
				t.Errorf("got  %d %s\nwant %d %s", status, body, test.status, test.body)
			}
			killed, err := srv.dial(t).Kill(t.Context(), "7-7", KillOrder{})
			if err != nil || killed.Outcome != test.result.Outcome || killed.Detail != test.result.Detail || killed.Processes != test.result.Processes ||
				len(killed.Steps) != len(test.result.Steps) || killed.Forceable != (name == "refused") {
				t.Errorf("the client has %+v, %v", killed, err)
			}
		})
	}
}

func TestKillWhom(t *testing.T) {
	l := &ladder{result: stop.Result{Outcome: stop.Ended}}
	srv := serveParts(t, func(p *Parts) { p.Stop = l })
	for id, want := range map[string]string{
		"7": "7-7", "7-7": "7-7", "8": "8-7", "9-7": "", // "8" is a project too, and 9-7 is parked
		"9": "", "7-8": "", "24282": "", "alpha": "", "0": "", "-7": "", "07": "", "7-07": "", "+7": "", "7-": "", "7-7-7": "", "7e0": "", "18446744073709551623": "", "%1b%5b2J": "", "..": "", "7%2f7": "",
	} {
		l.ids = nil
		status, body := srv.post(t, "/global-dashboard/instance/"+id+"/kill", "", nil)
		if got := strings.Join(l.ids, " "); got != want || (want == "") != (status >= 300) || want == "" && status < 400 && status != http.StatusTemporaryRedirect && status != http.StatusMovedPermanently {
			t.Errorf("%s: %d %s, ended %q", id, status, body, got)
		}
	}
	if killed, err := srv.dial(t).Kill(t.Context(), "7-8", KillOrder{}); err != nil || killed.Outcome != stop.Gone || !strings.Contains(killed.Detail, `no server is "7-8"`) {
		t.Errorf("%+v, %v", killed, err)
	}
}

func TestKillOrders(t *testing.T) {
	const route, j = "/global-dashboard/instance/7/kill", "application/json"
	pids := func(n int) string { return `{"protect":[1` + strings.Repeat(",1", n-1) + `]}` }
	for name, test := range map[string]struct {
		kind   string
		body   string
		status int
		want   stop.Order // or
		err    string     // part of it
	}{
		"no body":          {"", "", 200, stop.Order{}, ""},
		"no body, a kind":  {"text/plain", "", 200, stop.Order{}, ""},
		"empty":            {j, "{}", 200, stop.Order{}, ""},
		"all":              {j + "; charset=utf-8", ` {"force":true,"dry_run":true,"protect":[3,4]} `, 200, stop.Order{Force: true, DryRun: true, Protect: []int{3, 4}}, ""},
		"no kind":          {"", "{}", 400, stop.Order{}, "has to be application/json"},
		"another kind":     {"text/plain", "{}", 400, stop.Order{}, "has to be application/json"},
		"a form":           {"application/x-www-form-urlencoded", "force=true", 400, stop.Order{}, "has to be application/json"},
		"misspelt":         {j, `{"dryrun":true}`, 400, stop.Order{}, `\"dryrun\": there is no such field`},
		"wrong type":       {j, `{"dry_run":"yes"}`, 400, stop.Order{}, "not an order like"},
		"null":             {j, `null`, 400, stop.Order{}, "not a JSON object"},
		"a list":           {j, `[]`, 400, stop.Order{}, "not a JSON object"},
		"cut off":          {j, `{"force":true`, 400, stop.Order{}, "not an order like"},
		"in capitals":      {j, `{"Force":true}`, 400, stop.Order{}, "no such field"},
		"folded":           {j, `{"dry_run":true,"Dry_Run":false}`, 400, stop.Order{}, "no such field"},
		"a folding letter": {j, `{"\u017force":true}`, 400, stop.Order{}, "no such field"},
		"twice":            {j, `{"dry_run":true,"dry_run":false}`, 400, stop.Order{}, "dry_run is given twice"},
		"twice, escaped":   {j, `{"dry_run":true,"dry\u005frun":false}`, 400, stop.Order{}, "dry_run is given twice"},
		"two":              {j, `{}{"force":true}`, 400, stop.Order{}, "something follows"},
		"rubbish after":    {j, `{}]`, 400, stop.Order{}, "something follows"},
		"not a pid":        {j, `{"protect":[0]}`, 400, stop.Order{}, "0 is not a pid"},
		"a negative pid":   {j, `{"protect":[-1]}`, 400, stop.Order{}, "-1 is not a pid"},
		"many pids":        {j, pids(maxProtect + 1), 400, stop.Order{}, "more than 64 pids"},
		"too long":         {j, `{"force":true}` + strings.Repeat(" ", payload.Max), 413, stop.Order{}, "longer than"},
	} {
		t.Run(name, func(t *testing.T) {
			l := &ladder{result: stop.Result{Outcome: stop.Ended}}
			srv := serveParts(t, func(p *Parts) { p.Stop = l })
			var body io.Reader
			if test.body != "" {
				body = strings.NewReader(test.body)
			}
			status, answer := srv.post(t, route, test.kind, body)
			if status != test.status || test.err != "" && !strings.Contains(answer, test.err) || !json.Valid([]byte(answer)) {
				t.Errorf("%d %s", status, answer)
			}
			// Who asks, as the system says it, is protected in any case.
			test.want.Protect = append(test.want.Protect, os.Getpid())
			switch test.want.By = "a request"; {
			case test.status != 200 && len(l.orders) != 0:
				t.Errorf("done all the same: %+v", l.orders)
			case test.status == 200 && (len(l.orders) != 1 || !reflect.DeepEqual(l.orders[0], test.want)):
				t.Errorf("ordered %+v, want %+v", l.orders, test.want)
			}
		})
	}
	for body, says := range map[string]string{
		`{"rule":""}`: `rule: \"\" is not one of idle, orphans`, `{"rule":null}`: "is not one of", `{"rule":"all"}`: `\"all\" is not one of`, `{"rule":"Idle"}`: "is not one of",
		`{"rule":["idle"]}`: "not an order like", `{"rule":"idle","rule":"orphans"}`: "rule is given twice",
	} {
		l := &ladder{}
		srv := serveParts(t, func(p *Parts) { p.Stop, p.Policies = l, &policyBook{} })
		if status, answer := srv.post(t, route, j, strings.NewReader(body)); status != 400 || !strings.Contains(answer, says) || len(l.orders) > 0 {
			t.Errorf("%s: %d %s", body, status, answer)
		}
	}
	l := &ladder{result: stop.Result{Outcome: stop.Ended}}
	srv := serveParts(t, func(p *Parts) { p.Stop = l })
	if _, err := srv.dial(t).Kill(t.Context(), "7", KillOrder{Force: true, Protect: []int{5}}); err != nil {
		t.Fatal(err)
	}
	if want := (stop.Order{Force: true, Protect: []int{5, os.Getpid()}, By: "the command line"}); !reflect.DeepEqual(l.orders, []stop.Order{want}) {
		t.Errorf("the client ordered %+v", l.orders)
	}
}

// An order by a rule has the policies look once more, when the tree is held. What
// it does not mean is not ended with force either.
func TestKillByRule(t *testing.T) {
	changed := &stop.Refusal{Label: "9 - alpha", Kind: stop.ErrChanged, Why: "it was used since."}
	inUse := &stop.Refusal{Label: "9 - alpha", Kind: stop.ErrInUse, Why: "it is in use by curl (77)."}
	for _, test := range []struct {
		order     KillOrder
		err       *stop.Refusal
		told      string
		forceable bool
	}{
		{KillOrder{Rule: policy.Idle}, changed, "confirm 7-7 of idle", false},
		{KillOrder{Rule: policy.Orphans, Force: true}, changed, "confirm 7-7 of orphans", false},
		{KillOrder{Rule: policy.Idle}, inUse, "confirm 7-7 of idle", true},
		{KillOrder{}, changed, "", false},
	} {
		l := &ladder{result: stop.Result{Outcome: stop.Refused, Detail: test.err.Error()}, err: test.err}
		told := &policyBook{}
		srv := serveParts(t, func(p *Parts) { p.Stop, p.Policies = l, told })
		killed, err := srv.dial(t).Kill(t.Context(), "7", test.order)
		if err != nil || killed.Outcome != stop.Refused || killed.Forceable != test.forceable || len(l.orders) != 1 {
			t.Fatalf("%+v: %+v, %v, %+v", test.order, killed, err, l.orders)
		}
		o := l.orders[0]
		if o.Automatic || o.Force != test.order.Force || (o.Confirm != nil) != (test.told != "") {
			t.Errorf("%+v: ordered %+v", test.order, o)
		}
		if o.Confirm != nil && (o.Confirm(t.Context()) != nil || !slices.Equal(told.told, []string{test.told})) {
			t.Errorf("%+v: asked %q", test.order, told.told)
		}
	}
	l := &ladder{}
	srv := serveParts(t, func(p *Parts) { p.Stop = l })
	if _, err := srv.dial(t).Kill(t.Context(), "7", KillOrder{Rule: policy.Idle}); err == nil || !strings.Contains(err.Error(), noPolicies) || len(l.orders) > 0 {
		t.Errorf("without policies: %v, %+v", err, l.orders)
	}
}

// A caller from a namespace that cannot be seen may be part of the server.
func TestKillByAnUnseenCaller(t *testing.T) {
	l := &ladder{result: stop.Result{Outcome: stop.Ended}}
	m := newModel()
	m.set(snapshot(instance(7, "alpha")))
	p := parts(m, shower{})
	p.Stop = l
	handler := Handler(p)
	w := httptest.NewRecorder()
	req := httptest.NewRequest(http.MethodPost, "/global-dashboard/instance/7/kill", nil)
	handler.ServeHTTP(w, req.WithContext(context.WithValue(req.Context(), peerKey{}, socketPeer(0))))
	if w.Code != http.StatusConflict || !strings.Contains(w.Body.String(), "Ask with a program that") || len(l.orders) != 0 {
		t.Errorf("%d %s, ordered %+v", w.Code, w.Body, l.orders)
	}
}

// What was begun is brought to its end without the one who ordered it.
func TestKillGoesOnWithoutTheClient(t *testing.T) {
	l := &ladder{result: stop.Result{Outcome: stop.Ended}, held: make(chan struct{}), began: make(chan context.Context, 1)}
	srv := serveParts(t, func(p *Parts) { p.Stop = l })
	ctx, leave := context.WithCancel(t.Context())
	c := srv.dial(t)
	left := make(chan error, 1)
	go func() {
		_, err := c.Kill(ctx, "7", KillOrder{})
		left <- err
	}()
	climbing := <-l.began
	leave()
	if err := <-left; !errors.Is(err, ErrUnreachable) || !errors.Is(err, context.Canceled) {
		t.Errorf("the client left with %v", err)
	}
	srv.stop(t) // it waits no longer for requests than shutdownTime
	if err := climbing.Err(); err != nil {
		t.Errorf("the ladder was told to end: %v", err)
	}
	close(l.held)
}

func TestKillWaitsForTheFirstLook(t *testing.T) {
	m := &model{}
	l := &ladder{result: stop.Result{Outcome: stop.Ended}}
	p := parts(m, shower{})
	p.Stop = l
	w := httptest.NewRecorder()
	done := make(chan struct{})
	go func() {
		defer close(done)
		Handler(p).ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/global-dashboard/instance/7/kill", nil))
	}()
	apptest.Eventually(t, "it waits", func() bool { return m.subscribers() > 0 })
	m.set(snapshot(instance(7, "alpha")))
	<-done
	if w.Code != http.StatusOK || len(l.ids) != 1 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// The events name who asked, and not the page where it was another program.
func TestOrderedBy(t *testing.T) {
	l, pins := &ladder{result: stop.Result{Outcome: stop.Ended}}, &pinner{}
	m := newModel()
	m.set(snapshot(instance(7, "alpha")))
	p := parts(m, shower{})
	p.Stop, p.Pins = l, pins
	web := NewWeb(WebOptions{Handler: Handler(p), Log: quiet()})
	conn := &webConn{Conn: ourConn(t), web: web, proven: true}
	const host = "127.0.0.1:25282"
	for _, test := range []struct {
		peer   peer // nil: none that tells
		header map[string]string
		want   string
	}{
		{conn, map[string]string{fetchSite: "same-origin", "Origin": "http://" + host}, "the page"},
		{conn, map[string]string{fetchSite: "same-origin"}, "the page"},
		{conn, map[string]string{"Origin": "http://" + host}, "the page"}, // browsers that do not say the rest yet
		{conn, map[string]string{"User-Agent": "curl/8"}, "a request"},
		{conn, map[string]string{"User-Agent": userAgent}, "a request"},
		{conn, map[string]string{fetchSite: "none"}, "a request"},
		{socketPeer(os.Getpid()), map[string]string{"User-Agent": userAgent}, "the command line"},
		{socketPeer(os.Getpid()), map[string]string{fetchSite: "same-origin", "Origin": "http://" + host}, "a request"},
		{nil, nil, "a request"},
	} {
		for method, name := range map[string]string{"POST": "kill", "PUT": "pin"} {
			l.orders, pins.by = nil, nil
			req := httptest.NewRequestWithContext(t.Context(), method, "/global-dashboard/instance/7/"+name, strings.NewReader(map[string]string{"pin": `{"pinned":true}`}[name]))
			req.Host = host
			req.Header.Set("Content-Type", "application/json")
			for name, value := range test.header {
				req.Header.Set(name, value)
			}
			if test.peer != nil {
				req = req.WithContext(context.WithValue(req.Context(), peerKey{}, test.peer))
			}
			w := httptest.NewRecorder()
			web.options.Handler.ServeHTTP(w, req)
			by := pins.by
			for _, order := range l.orders {
				by = append(by, order.By)
			}
			if w.Code != 200 || !reflect.DeepEqual(by, []string{test.want}) {
				t.Errorf("%s with %v: %d %s, by %q, want %q", name, test.header, w.Code, w.Body, by, test.want)
			}
		}
	}
}

package dashboard

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"lamplighter/app/apptest"
	"lamplighter/app/payload"
	"lamplighter/monitor"
)

// TestWhatIsSent: each route with our headers and what was understood of the
// body, and nothing of the caller.
func TestWhatIsSent(t *testing.T) {
	d := serveRaw(t, says(ok(`{}`)))
	p, in := trusting(), ours(t, d.port)
	values := map[kind]string{number: "7", word: `"ü"`, prose: `""`}
	for i, r := range rules {
		body := ""
		for _, f := range r.fields {
			body += fmt.Sprintf("%s %q :\t%s", map[bool]string{true: "{", false: ","}[body == ""], f.name, values[f.kind])
		}
		if body != "" {
			body += "}\n"
		}
		req := httptest.NewRequest(r.Method, "/global-dashboard/instance/1/"+r.Name+"?a=b", strings.NewReader(body))
		for name, value := range map[string]string{
			"Authorization": "Bearer x", "Cookie": "a=b", "Origin": "http://x", "X-Forwarded-For": "1.2.3.4", "User-Agent": "x", "Accept-Encoding": "gzip",
			"Content-Type": "application/json; charset=utf-8", "Expect": "100-continue", "Connection": "keep-alive", "Te": "trailers", "Accept": "*/*",
		} {
			req.Header.Set(name, value)
		}
		w := httptest.NewRecorder()
		if p.Forward(w, req, &in, r.Route, nil); w.Code != 200 {
			t.Fatalf("%v: %d %s", r.Route, w.Code, w.Body)
		}
		raw := d.requests()[i]
		got, err := http.ReadRequest(bufio.NewReader(strings.NewReader(raw)))
		if err != nil {
			t.Fatal(err)
		}
		sent, err := io.ReadAll(got.Body)
		if err != nil {
			t.Fatal(err)
		}
		if want := strings.NewReplacer(" ", "", "\t", "", "\n", "").Replace(body); string(sent) != sortedFields(r, want) {
			t.Errorf("%v: the body is %s", r.Route, sent)
		}
		if got.Method != r.Method || got.RequestURI != "/"+r.Name || got.Host != fmt.Sprintf("127.0.0.1:%d", d.port) || !got.Close {
			t.Errorf("sent %q", raw)
		}
		got.Header.Del("Content-Length")
		got.Header.Del("Connection")
		if kind := got.Header.Get("Content-Type"); (kind == "application/json") != (body != "") {
			t.Errorf("%v: Content-Type %q", r.Route, kind)
		}
		got.Header.Del("Content-Type")
		if len(got.Header) != 1 || got.UserAgent() != "lamplighter" {
			t.Errorf("%v: headers %v", r.Route, got.Header)
		}
	}
}

// sortedFields is a body of at most two fields in the order of their names.
func sortedFields(r rule, body string) string {
	if len(r.fields) < 2 || r.fields[0].name < r.fields[1].name {
		return body
	}
	first, second, _ := strings.Cut(strings.Trim(body, "{}"), ",")
	return "{" + second + "," + first + "}"
}

func TestWhatIsRefused(t *testing.T) {
	d := serveRaw(t, says(ok(`{}`)))
	in := ours(t, d.port)
	for _, c := range []struct {
		method, name, kind, body string
		status                   int
		text                     string
	}{
		{"POST", "get_log_messages", "application/json", strings.Repeat(" ", payload.Max+1), 413, "longer than 1048576 bytes"},
		{"GET", "last_execution", "application/json", strings.Repeat(" ", payload.Max+1), 413, "longer than 1048576 bytes"},
		{"POST", "get_log_messages", "text/plain", `{"start_idx":1}`, 400, "has to be application/json"},
		{"POST", "get_log_messages", "", `{"start_idx":1}`, 400, "has to be application/json"},
		{"POST", "get_log_messages", "", "", 400, `it should be like {\"start_idx\":0}`},
		{"POST", "get_log_messages", "application/json|text/plain", `{"start_idx":1}`, 400, "has to be application/json"},
		{"POST", "clear_tool_stats", "application/json", `{"all":1}`, 400, "no body is needed"},
		{"PUT", "shutdown", "application/x-www-form-urlencoded", `x`, 400, "has to be application/json"},
		{"POST", "shutdown", "", "", 404, "not forwarded"},
		{"GET", "get_serena_config", "", "", 404, "not forwarded"},
		{"GET", "../heartbeat", "", "", 404, "not forwarded"},
		{"GET", "", "", "", 404, "not forwarded"},
	} {
		req := httptest.NewRequest("POST", "/", strings.NewReader(c.body))
		if c.kind != "" {
			req.Header["Content-Type"] = strings.Split(c.kind, "|")
		}
		w := httptest.NewRecorder()
		trusting().Forward(w, req, &in, Route{c.method, c.name}, nil)
		checkAnswer(t, w)
		if w.Code != c.status || !strings.Contains(w.Body.String(), c.text) {
			t.Errorf("%s %s %.30q: %d %s", c.method, c.name, c.body, w.Code, w.Body)
		}
	}
	if asked := d.requests(); len(asked) > 0 {
		t.Errorf("was asked: %q", asked)
	}
}

// TestPermit: whoever decides is asked once nothing else speaks against it, and
// has the last word.
func TestPermit(t *testing.T) {
	d := serveRaw(t, says(ok(`{}`)))
	in := ours(t, d.port)
	ended := in
	ended.Identity.Start++
	for what, c := range map[string]struct {
		in     monitor.Instance
		body   string
		permit bool
		asked  int // the one who decides
		status int
	}{
		"permitted":     {in, "", true, 1, 200},
		"not permitted": {in, "", false, 1, 418},
		"has ended":     {ended, "", true, 0, 404},
		"a wrong body":  {in, `{"x":1}`, true, 0, 400},
	} {
		before, asked := len(d.requests()), 0
		w := httptest.NewRecorder()
		req := httptest.NewRequest("PUT", "/", strings.NewReader(c.body))
		req.Header.Set("Content-Type", "application/json")
		trusting().Forward(w, req, &c.in, Route{"PUT", "shutdown"}, func() bool {
			if asked++; !c.permit {
				w.WriteHeader(http.StatusTeapot)
			}
			return c.permit
		})
		if sent := len(d.requests()) - before; w.Code != c.status || asked != c.asked || (sent == 1) != (c.status == 200) {
			t.Errorf("%s: %d %s, asked %d times, sent %d", what, w.Code, w.Body, asked, sent)
		}
	}
	for _, route := range Routes() {
		if route.Ends() != (route.Name == "shutdown") {
			t.Errorf("%v ends: %v", route, route.Ends())
		}
	}
	if (Route{"GET", "nothing"}).Ends() {
		t.Error("a route that there is not ends")
	}
}

func TestNoDashboard(t *testing.T) {
	for text, change := range map[string]func(*monitor.Instance){
		"has no dashboard": func(in *monitor.Instance) { in.Port, in.DashboardURL = 0, "" },
		"memory has no dashboard": func(in *monitor.Instance) {
			in.Kind, in.Port, in.DashboardURL = "memory", 0, ""
		},
		"is starting: its dashboard is not yet known": func(in *monitor.Instance) {
			in.State, in.Port, in.DashboardURL = monitor.StateStarting, 0, ""
		},
		"is parked": func(in *monitor.Instance) { in.State = monitor.StateParked },
		"has exited": func(in *monitor.Instance) {
			in.State, in.Cause, in.DashboardURL = monitor.StateZombie, monitor.CauseDefunct, ""
		},
	} {
		in := ours(t, 24284)
		change(&in)
		for _, route := range []string{"GET last_execution", "PUT shutdown"} {
			if w := forward(t, trusting(), in, route, ""); w.Code != 409 || !strings.Contains(w.Body.String(), text) {
				t.Errorf("%s: %d %s, want %q", route, w.Code, w.Body, text)
			}
		}
	}
}

// TestHungInstance: it delays nobody, and what waits for its tool does not take
// the places of what is answered at once.
func TestHungInstance(t *testing.T) {
	var waiting atomic.Int32
	hung := serveRaw(t, func(conn net.Conn, request string) {
		waiting.Add(1)
		hangs(conn, request)
	})
	other := serveRaw(t, says(ok(`{"other":1}`)))
	p := trusting()
	in := ours(t, hung.port)
	ctx, cancel := context.WithCancel(t.Context())
	var asking sync.WaitGroup
	defer asking.Wait()
	defer cancel()
	for i := range maxQueued {
		asking.Go(func() {
			req := httptest.NewRequestWithContext(ctx, "POST", "/", strings.NewReader(fmt.Sprintf(`{"memory_name":"%d"}`, i)))
			req.Header.Set("Content-Type", "application/json")
			p.Forward(httptest.NewRecorder(), req, &in, Route{"POST", "get_memory"}, nil)
		})
	}
	apptest.Eventually(t, "all places are taken", func() bool { return waiting.Load() == maxQueued })
	if w := forward(t, p, in, "POST get_memory", `{"memory_name":"one more"}`); w.Code != 503 {
		t.Errorf("one more: %d %s", w.Code, w.Body)
	}
	if w := forward(t, p, in, "POST save_memory", `{"memory_name":"one more","content":""}`); w.Code != 503 {
		t.Errorf("one more: %d %s", w.Code, w.Body)
	}

	second := ours(t, other.port)
	second.Identity, _ = child(t)
	if w := forward(t, p, second, "GET last_execution", ""); w.Code != 200 {
		t.Errorf("the other instance: %d %s", w.Code, w.Body)
	}
	p.quick = hurried().quick
	if w := forward(t, p, in, "GET last_execution", ""); w.Code != 504 {
		t.Errorf("the hung instance: %d %s", w.Code, w.Body)
	}
	cancel()
	asking.Wait()
	apptest.Eventually(t, "the places are free again", func() bool {
		p.peers.mu.Lock()
		defer p.peers.mu.Unlock()
		return p.peers.known[in.Identity].queued == 0
	})
}

// TestWhoGoesAway ends what only reads, and leaves what changes something.
func TestWhoGoesAway(t *testing.T) {
	for _, c := range []struct {
		route   Route
		changes bool
	}{
		{Route{"GET", "get_available_languages"}, false},
		{Route{"PUT", "shutdown"}, true},
	} {
		came, left, goOn := make(chan struct{}), make(chan struct{}), make(chan struct{})
		d := serveRaw(t, func(conn net.Conn, request string) {
			close(came)
			if !c.changes {
				hangs(conn, request)
				close(left)
				return
			}
			<-goOn
			says(ok(`{"done":true}`))(conn, request)
		})
		in := ours(t, d.port)
		ctx, goAway := context.WithCancel(t.Context())
		w := httptest.NewRecorder()
		p := trusting()
		var asking sync.WaitGroup
		asking.Go(func() { p.Forward(w, httptest.NewRequestWithContext(ctx, c.route.Method, "/", nil), &in, c.route, nil) })
		<-came
		goAway()
		if c.changes {
			close(goOn)
		} else {
			<-left
		}
		asking.Wait()
		if done := strings.Contains(w.Body.String(), "done"); done != c.changes {
			t.Errorf("%v: %d %s", c.route, w.Code, w.Body)
		}
	}
}

// TestPagesShareAnswers: many that ask at once cost the instance one request,
// until it is changed.
func TestPagesShareAnswers(t *testing.T) {
	goOn := make(chan struct{})
	d := serveRaw(t, func(conn net.Conn, request string) {
		<-goOn
		says(ok(`{}`))(conn, request)
	})
	p, in := trusting(), ours(t, d.port)
	var asking sync.WaitGroup
	for range 20 {
		asking.Go(func() {
			if w := forward(t, p, in, "GET get_tool_stats", ""); w.Code != 200 {
				t.Errorf("%d %s", w.Code, w.Body)
			}
		})
	}
	apptest.Eventually(t, "all wait for one", func() bool { return p.shelf.waiting() == 20 })
	close(goOn)
	asking.Wait()
	if n := len(d.requests()); n != 1 {
		t.Errorf("20 pages cost %d requests", n)
	}
	forward(t, p, in, "POST clear_tool_stats", "")
	forward(t, p, in, "GET get_tool_stats", "")
	if n := len(d.requests()); n != 3 {
		t.Errorf("%d requests, want one more for the change and one for what it changed", n)
	}
}

// TestOldOverviewIsAskedOnce: who gives up after a second and asks again gets
// the answer to the question that waits in the queue already.
func TestOldOverviewIsAskedOnce(t *testing.T) {
	goOn := make(chan struct{})
	d := serveRaw(t, func(conn net.Conn, request string) {
		<-goOn
		says(ok(`{"serena_version":"1.5.3"}`))(conn, request)
	})
	p, in := hurried(), ours(t, d.port)
	in.Version = "1.5.3"
	if w := forward(t, p, in, "GET get_config_overview", ""); w.Code != 504 || !strings.Contains(w.Body.String(), "within 1 s; this waits for the tool") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	p.quick = time.Minute
	var again sync.WaitGroup
	again.Go(func() {
		if w := forward(t, p, in, "GET get_config_overview", ""); w.Code != 200 {
			t.Errorf("again: %d %s", w.Code, w.Body)
		}
	})
	apptest.Eventually(t, "it is asked again", func() bool { return p.shelf.waiting() == 1 })
	close(goOn)
	again.Wait()
	if n := len(d.requests()); n != 1 {
		t.Errorf("asked %d times", n)
	}
}

// TestLargeLogs: they are passed on whole, two at a time.
func TestLargeLogs(t *testing.T) {
	long := `{"messages":["` + strings.Repeat("x", 5<<20) + `"]}`
	d := serveRaw(t, func(conn net.Conn, request string) {
		if strings.Contains(request, ":1}") {
			says(ok(long))(conn, request)
		} else {
			endlessly(ok(`{"messages":["`), strings.Repeat("x", 1<<20))(conn, request)
		}
	})
	p, in := trusting(), ours(t, d.port)
	ask := func(start string) *httptest.ResponseRecorder {
		return forward(t, p, in, "POST get_log_messages", `{"start_idx":`+start+`}`)
	}
	p.large <- struct{}{}
	if w := ask("1"); w.Code != 200 || w.Body.Len() != len(long) {
		t.Errorf("%d, %d bytes", w.Code, w.Body.Len())
	}
	apptest.Eventually(t, "the place is given back", func() bool { return len(p.large) == 1 })
	p.large <- struct{}{}
	if w := ask("1"); w.Code != 503 {
		t.Errorf("%d %.100s", w.Code, w.Body)
	}
	<-p.large
	if w := ask("2"); w.Code != 502 {
		t.Errorf("%d %.100s", w.Code, w.Body)
	}
	<-p.large
	apptest.Eventually(t, "the places are free again", func() bool { return len(p.large) == 0 })
}

//go:build contract && linux

package contract

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var braces = regexp.MustCompile(`\{\w+\}`)

// name is the route as docs/http.md would write it, without what stands for
// something and without its query.
func (r route) name() string {
	path, _, _ := strings.Cut(r.path, "?")
	return r.method + " " + braces.ReplaceAllString(path, "{}")
}

// fill puts what the test knows in the place of its names.
func fill(text string, known map[string]string) string {
	return braces.ReplaceAllStringFunc(text, func(name string) string {
		if value, found := known[name[1:len(name)-1]]; found {
			return value
		}
		return name
	})
}

func TestRoutes(t *testing.T) {
	known := facts(t)
	for _, r := range routes {
		r.checkRefusals(t, known) // first: what is refused has no effect
		path, body := fill(r.path, known), fill(r.body, known)
		doors := []door{page, socket}
		switch {
		case r.only == "socket":
			doors = []door{socket}
			checkFailure(t, ask(t, page, r.method, path, body, nil), http.StatusNotFound, r.name()+" on the page's port")
		case r.only == "8888":
			doors = append(doors, sessions)
		case r.method != http.MethodGet: // once is enough, and changes something
			doors = doors[:1]
		}
		for _, d := range doors {
			what := r.method + " " + path + " on " + d.String()
			a := ask(t, d, r.method, path, body, nil)
			if a.status != r.status {
				t.Errorf("%s: %d, want %d: %.500s", what, a.status, r.status, a.body)
				continue
			}
			checkHeaders(t, what, d, a.header, r.shape != "")
			if r.shape != "" {
				r.shape.check(t, what, a.body)
			}
			if r.method == http.MethodPost && path == "/workspaces" {
				var made struct{ ID string }
				a.into(t, &made)
				known["ws"] = made.ID
			}
		}
	}
}

// checkRefusals sends what the route must not take.
func (r route) checkRefusals(t *testing.T, known map[string]string) {
	t.Helper()
	path, body := fill(r.path, known), fill(r.body, known)
	plain, _, _ := strings.Cut(path, "?")
	for _, bad := range r.refused {
		to, with := path, fill(bad, known)
		if strings.HasPrefix(with, "?") {
			to, with = plain+with, ""
		}
		checkFailure(t, ask(t, page, r.method, to, with, nil), http.StatusBadRequest, r.method+" "+to+" with "+with)
	}
	if r.only == "socket" {
		return
	}
	a := ask(t, page, http.MethodPatch, path, "", nil)
	checkFailure(t, a, http.StatusMethodNotAllowed, "PATCH "+path)
	if !slices.Contains(strings.Split(a.header.Get("Allow"), ", "), r.method) {
		t.Errorf("PATCH %s: Allow is %q, without %s", path, a.header.Get("Allow"), r.method)
	}
	if nothing := strings.NewReplacer("{alpha}", "1", "{ws}", "nobody-made-this").Replace(r.path); nothing != r.path {
		checkFailure(t, ask(t, page, r.method, nothing, body, nil), http.StatusNotFound, r.name()+" of nothing")
	}
	if r.method == http.MethodGet || r.method == http.MethodDelete {
		return
	}
	for _, d := range []door{page, socket} {
		for _, kind := range []string{"text/plain", "application/x-www-form-urlencoded"} {
			checkFailure(t, ask(t, d, r.method, path, `{"x": 1}`, map[string]string{"Content-Type": kind}), http.StatusBadRequest, r.name()+" with "+kind)
		}
		checkFailure(t, ask(t, d, r.method, path, `{"x": "`+strings.Repeat("x", 1<<20)+`"}`, map[string]string{"Expect": "100-continue"}), http.StatusRequestEntityTooLarge, r.name()+" with more than 1 MiB")
	}
}

// checkFailure wants a status, and an error in the body.
func checkFailure(t testing.TB, a *answer, status int, what string) {
	t.Helper()
	var f struct{ Error string }
	if json.Unmarshal(a.body, &f) != nil || f.Error == "" || a.status != status {
		t.Errorf("%.200s: %d %.300q, want %d and an error", what, a.status, a.body, status)
	}
}

// checkHeaders wants what keeps other web pages out.
func checkHeaders(t testing.TB, what string, d door, h http.Header, isJSON bool) {
	t.Helper()
	for name := range h {
		if strings.HasPrefix(name, "Access-Control-") {
			t.Errorf("%s: it has %s", what, name)
		}
	}
	if kind := h.Get("Content-Type"); isJSON && kind != "application/json" {
		t.Errorf("%s: its Content-Type is %q", what, kind)
	}
	if isJSON && h.Get("Cache-Control") != "no-store" || h.Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("%s: %v", what, h)
	}
	if d != socket && !strings.Contains(h.Get("Content-Security-Policy"), "frame-ancestors 'none'") {
		t.Errorf("%s: its policy is %q", what, h.Get("Content-Security-Policy"))
	}
}

// facts makes what the routes are about, and returns their names.
func facts(t *testing.T) map[string]string {
	t.Helper()
	known := map[string]string{"alpha": strconv.Itoa(alpha.pid)}
	for _, name := range []string{"ended", "shut"} {
		known[name] = strconv.Itoa(startFound(t, name).pid)
	}
	known["source"] = home.project("routes-source")
	known["repository"] = repository(t, "routes-repository")
	known["worktree"] = filepath.Join(home.project("routes-trees"), "fix")
	home.start(nil, []string{"git", "-C", known["repository"], "worktree", "add", "-q", known["worktree"], "-b", "fix"}).ends(t, fine)
	return known
}

// startFound starts a Serena and waits until the daemon has found it. It ends with
// the test.
func startFound(t testing.TB, project string) *server {
	t.Helper()
	s, err := home.startServer(home.project(project))
	must(t, err)
	t.Cleanup(s.end)
	must(t, home.waitFor(s))
	return s
}

// What a Serena answers comes as it is.
func TestForwarded(t *testing.T) {
	known := map[string]string{"alpha": strconv.Itoa(alpha.pid)}
	for _, r := range forwarded {
		path := fill(r.path, known)
		got := ask(t, page, r.method, path, r.body, nil)
		req, err := http.NewRequest(r.method, "http://127.0.0.1:"+strconv.Itoa(alpha.port)+"/"+filepath.Base(path), strings.NewReader(r.body))
		must(t, err)
		resp, err := http.DefaultClient.Do(req)
		must(t, err)
		want, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || got.status != http.StatusOK || !bytes.Equal(bytes.TrimSpace(got.body), bytes.TrimSpace(want)) {
			t.Errorf("%s: %d %s, and Serena itself %v %s", r.name(), got.status, got.body, err, want)
		}
		checkHeaders(t, r.name(), page, got.header, true)
		r.checkRefusals(t, known)
	}
}

// The documentation names each route, and no others.
func TestRoutesAreDocumented(t *testing.T) {
	text, err := os.ReadFile("../../docs/http.md")
	must(t, err)
	var documented, tested []string
	for line := range strings.Lines(string(text)) {
		cell, _, _ := strings.Cut(strings.TrimPrefix(line, "| "), " |")
		cell, _, _ = strings.Cut(cell, ", refused")
		method := ""
		for _, quoted := range regexp.MustCompile("`[^`]+`").FindAllString(cell, -1) {
			path := strings.Trim(quoted, "`")
			if first, rest, found := strings.Cut(path, " "); found {
				method, path = first, rest
			}
			if strings.HasPrefix(path, "…/") {
				path = p + strings.TrimPrefix(path, "…/")
			} else if !strings.HasPrefix(path, "/") {
				path = one + path
			}
			if slices.Contains([]string{"GET", "POST", "PUT", "DELETE"}, method) && strings.HasPrefix(line, "| `") {
				documented = append(documented, route{method: method, path: path}.name())
			}
		}
	}
	for _, r := range slices.Concat(routes, forwarded, elsewhere) {
		tested = append(tested, r.name())
	}
	slices.Sort(documented)
	slices.Sort(tested)
	if documented, tested = slices.Compact(documented), slices.Compact(tested); !slices.Equal(documented, tested) {
		t.Errorf("docs/http.md has\n%q, and here are\n%q", documented, tested)
	}
}

// events reads a stream of server-sent events: each call is the next one.
func events(t *testing.T, path string) (next func() (name, data string)) {
	t.Helper()
	resp, err := home.open(page, "GET", path, "", nil)
	must(t, err)
	t.Cleanup(func() { resp.Body.Close() })
	if resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != "text/event-stream" || resp.Header.Get("Cache-Control") != "no-store" {
		t.Fatalf("%s: %d %v", path, resp.StatusCode, resp.Header)
	}
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 1<<20)
	return func() (name, data string) {
		for lines.Scan() {
			switch field, value, _ := strings.Cut(lines.Text(), ": "); {
			case field == "event":
				name = value
			case field == "data":
				data = value
			case field == "" && data != "":
				return name, data
			}
		}
		t.Fatalf("%s has ended: %v", path, lines.Err())
		return "", ""
	}
}

func TestStream(t *testing.T) {
	next := events(t, p+"stream")
	until := func(name string, pid int, listed bool) {
		t.Helper()
		for {
			is, data := next()
			if is == "" {
				instances.check(t, "a snapshot", []byte(data))
			} else {
				shape(status1).check(t, "the event status", []byte(data))
			}
			if is == name && strings.Contains(data, fmt.Sprintf(`"pid":%d,`, pid)) == listed {
				return
			}
		}
	}
	until("status", 0, false)
	until("", alpha.pid, true)
	s := startFound(t, "streamed")
	until("", s.pid, true)
	s.end()
	until("", s.pid, false)
	until("status", s.pid, true)
	_, first := events(t, "/workspaces/stream")()
	workspaces.check(t, "the first event of workspaces", []byte(first))
}

// Every GET answers HEAD without a body, the plain addresses lead to the page, and
// the metrics are in the text format of Prometheus.
func TestWaysToThePage(t *testing.T) {
	for _, path := range []string{"/", "/global-dashboard"} {
		if a := get(t, path); a.status != http.StatusFound || a.header.Get("Location") != p {
			t.Errorf("%s: %d to %q", path, a.status, a.header.Get("Location"))
		}
	}
	a := get(t, p)
	if !strings.HasPrefix(a.header.Get("Content-Type"), "text/html") || !bytes.Contains(bytes.ToLower(a.body), []byte("<!doctype html>")) {
		t.Errorf("the page is %v %.100q", a.header, a.body)
	}
	for _, asset := range regexp.MustCompile(`(?:src|href)="(assets/[^"]+)"`).FindAllSubmatch(a.body, -1) {
		if got := get(t, p+string(asset[1])); got.status != http.StatusOK {
			t.Errorf("%s: %d", asset[1], got.status)
		}
	}
	metrics := get(t, "/metrics")
	for _, name := range []string{"lamplighter_leases", "lamplighter_instances", "lamplighter_instance_state", "lamplighter_sessions"} {
		if !strings.HasPrefix(metrics.header.Get("Content-Type"), "text/plain; version=0.0.4") || !strings.Contains(string(metrics.body), "\n# TYPE "+name+" ") {
			t.Errorf("the metrics have no %s: %v", name, metrics.header)
		}
	}
	for _, path := range []string{p, p + "instances", "/health", "/sessions", p + "stream"} {
		if a := ask(t, page, http.MethodHead, path, "", nil); a.status != http.StatusOK || len(a.body) != 0 {
			t.Errorf("HEAD %s: %d %q", path, a.status, a.body)
		}
	}
	for _, path := range []string{"/none", p + "none", one + "none", "/workspaces/../health", "//health", "/health/", p + "assets/../index.html"} {
		checkFailure(t, get(t, fill(path, map[string]string{"alpha": strconv.Itoa(alpha.pid)})), http.StatusNotFound, path)
	}
}

// The route for clients that speak HTTP shares the same servers.
func TestMCP(t *testing.T) {
	project := home.project("http")
	// What /mcp would run as well.
	s := shimFor(t, project, serena, "start-mcp-server", "--agent-interface", "tools", "--context", "claude-code", "--project", project)
	s.call(t, "1", "echo", "{}")
	before := only(t, project)
	const both = "application/json, text/event-stream"
	to := "/mcp?project=" + project
	call := `{"jsonrpc":"2.0","id":"a b","method":"tools/call","params":{"name":"echo","arguments":{ "x":1.0}}}`
	echoed := `{"jsonrpc":"2.0","id":"a b","result":{"content":[],"isError":false,"echo":{ "x":1.0}}}`

	a := ask(t, page, "POST", to, greeting, header{"Accept": "application/json"})
	id := a.header.Get("Mcp-Session-Id")
	if a.status != http.StatusOK || id == "" || a.header.Get("Content-Type") != "application/json" || !bytes.Contains(a.body, []byte(`"id":0`)) {
		t.Fatalf("initialize: %d %v %s", a.status, a.header, a.body)
	}
	ours := header{"Mcp-Session-Id": id, "Accept": both}
	for _, row := range []struct {
		method, path, body string
		header             header
		status             int
		kind, contains     string
	}{
		{"POST", "/mcp", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, ours, 202, "", ""},
		{"POST", "/mcp", call, ours.with("Accept", "application/json"), 200, "application/json", echoed},
		{"POST", "/mcp", call, ours, 200, "text/event-stream", "data: " + echoed},
		{"POST", "/mcp", call, header{"Accept": both}, 400, "", ""},
		{"POST", "/mcp", greeting, header{"Accept": both}, 400, "", ""},
		{"POST", "/mcp?project=/none", greeting, header{"Accept": both}, 400, "", ""},
		{"POST", "/mcp", call, ours.with("Content-Type", "text/plain"), 400, "", ""},
		{"POST", "/mcp", `[` + call + `]`, ours, 400, "", ""},
		{"POST", "/mcp", call, ours.with("Mcp-Session-Id", "none"), 404, "", ""},
		{"GET", "/mcp", "", ours.with("Mcp-Session-Id", "none"), 404, "", ""},
		{"DELETE", "/mcp", "", ours.with("Mcp-Session-Id", "none"), 404, "", ""},
		{"POST", "/mcp", call, ours.with("Accept", "text/html"), 406, "", ""},
		{"GET", "/mcp", "", ours.with("Accept", "application/json"), 406, "", ""},
		{"PUT", "/mcp", "", ours, 405, "", ""},
	} {
		a := ask(t, page, row.method, row.path, row.body, row.header)
		if a.status != row.status || !strings.HasPrefix(a.header.Get("Content-Type"), row.kind) || !bytes.Contains(a.body, []byte(row.contains)) {
			t.Errorf("%s %s %.80s with %v: %d %v %s", row.method, row.path, row.body, row.header, a.status, a.header, a.body)
		}
		if row.status >= 400 && !bytes.Contains(a.body, []byte(`"error"`)) {
			t.Errorf("%d without an error: %s", a.status, a.body)
		}
	}
	stream, err := home.open(page, "GET", "/mcp", "", ours.with("Accept", "text/event-stream"))
	if err != nil || stream.StatusCode != http.StatusOK || stream.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("GET: %v %+v", err, stream)
	}
	defer stream.Body.Close()
	if now := only(t, project); now != before {
		t.Errorf("its server is %d, and was %d", now, before)
	}
	if a := ask(t, page, "DELETE", "/mcp", "", ours); a.status != http.StatusOK {
		t.Errorf("DELETE: %d %s", a.status, a.body)
	}
	if a := ask(t, page, "POST", "/mcp", call, ours); a.status != http.StatusNotFound {
		t.Errorf("a call after DELETE: %d %s", a.status, a.body)
	}
	if said := s.call(t, "2", "echo", "{}"); !strings.Contains(said, `"echo"`) {
		t.Errorf("the other client is answered %s", said)
	}
}

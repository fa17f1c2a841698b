//go:build contract && linux

package contract

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"lamplighter/app/apptest"
)

// Who is let in. Each guard stands once for each method that matters.
func TestGuards(t *testing.T) {
	victim := home.startFound(t, "victim")
	known := map[string]string{"victim": strconv.Itoa(victim.pid()), "alpha": strconv.Itoa(victim.pid()), "project": victim.project, "ws": "none"}
	for _, row := range table(t, "guards.txt") {
		with := header{}
		for _, text := range row[5:] {
			name, value, _ := strings.Cut(text, ":")
			with[name] = strings.TrimSpace(value)
			if name == "navigate" {
				maps.Copy(with, header{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"})
			}
		}
		a := home.ask(door(row[1]), row[2], fill(row[3], known), cell(row, 4), with)
		what := fmt.Sprintf("%q", row)
		same(t, what, strconv.Itoa(a.status), row[0])
		if a.status >= 400 {
			a.fails(t, a.status, what)
		}
		same(t, what+": who may read the answer", a.header.Get("Access-Control-Allow-Origin"), "")
	}
	for _, r := range routes(t) {
		if r.served != "sessions" {
			home.ask(sessions, r.method, fill(r.path, known), "", nil).fails(t, 404, r.name()+" on 8888")
		}
	}
	check(t, instance(victim.pid())["pinned"] == false && victim.running(), "what was refused has changed the server")
}

func onlyOneUser() bool {
	ids := strings.Fields(read("/proc/self/uid_map"))
	return len(ids) == 3 && ids[2] == "1"
}

// Nothing of the daemon listens anywhere but on the loopback interface. Nobody else
// does here.
func TestLoopbackOnly(t *testing.T) {
	found := 0
	for line := range strings.Lines(read("/proc/net/tcp") + read("/proc/net/tcp6")) {
		if f := strings.Fields(line); f[3] == "0A" { // it listens
			address, _, _ := strings.Cut(f[1], ":")
			check(t, address == "0100007F" || address == "00000000000000000000000001000000", "somebody listens on %s", address)
			found++
		}
	}
	check(t, found >= 4, "only %d were found", found) // the page and sessions, both on 127.0.0.1 and [::1]
}

const (
	p   = "/global-dashboard/"
	one = p + "instance/{alpha}/"
)

// route is a row of routes.txt.
type route struct {
	served, method, path string
	status               int
	shape, body          string
	not                  []string
}

func routes(t testing.TB) (all []route) {
	t.Helper()
	for _, row := range table(t, "routes.txt") {
		if last := len(all) - 1; row[0] == "not" {
			all[last].not = row[1:]
			continue
		}
		all = append(all, route{row[0], row[2], row[3], number(t, row[1]), cell(row, 4), cell(row, 5), nil})
	}
	return all
}

// name is the route as docs/http.md would write it, without what stands for
// something and without its query.
func (r route) name() string {
	path, _, _ := strings.Cut(r.path, "?")
	return r.method + " " + regexp.MustCompile(`\{\w+\}`).ReplaceAllString(path, "{}")
}

// facts makes what the routes are about, and returns their names.
func facts(t *testing.T) map[string]string {
	t.Helper()
	known := map[string]string{"alpha": strconv.Itoa(alpha.pid()), "source": home.project(t, "routes-source"), "repository": repository(t, "routes-repository")}
	for _, name := range []string{"ended", "shut"} {
		known[name] = strconv.Itoa(home.startFound(t, name).pid())
	}
	known["worktree"] = filepath.Join(home.project(t, "routes-trees"), "fix")
	git(t, known["repository"], "worktree add -q -b fix "+known["worktree"])
	return known
}

func TestRoutes(t *testing.T) {
	known := facts(t)
	for _, r := range routes(t) {
		path, body := fill(r.path, known), fill(r.body, known)
		if r.served == "test" {
			continue
		}
		r.checkRefusals(t, known) // first: what is refused has no effect
		doors := []door{page, control}
		switch {
		case r.served == "socket":
			doors = []door{control}
			home.ask(page, r.method, path, body, nil).fails(t, 404, r.name()+" on the page's port")
		case r.served == "sessions":
			doors = append(doors, sessions)
		case r.method != http.MethodGet: // once is enough, and changes something
			doors = []door{page}
		}
		for _, d := range doors {
			what := fmt.Sprintf("%s %s on %s", r.method, path, d)
			a := home.ask(d, r.method, path, body, nil)
			if a.status != r.status {
				t.Errorf("%s: %d, want %d: %.500s", what, a.status, r.status, a.body)
				continue
			}
			a.checkHeaders(t, what, d, r.shape != "" || r.served == "serena")
			if r.shape != "" {
				fits(t, what, r.shape, a.body)
			}
			if r.served == "serena" {
				own := (&world{page: alpha.port}).ask(page, r.method, "/"+filepath.Base(path), body, nil)
				same(t, what+", and what Serena answers itself", string(bytes.TrimSpace(a.body)), string(bytes.TrimSpace(own.body)))
			}
			if r.shape == "workspace" {
				known["ws"] = a.object()["id"].(string)
			}
		}
	}
}

// checkRefusals sends what the route must not take.
func (r route) checkRefusals(t *testing.T, known map[string]string) {
	t.Helper()
	path, body := fill(r.path, known), fill(r.body, known)
	refused := r.not
	if body != "" && r.served != "sessions" {
		refused = append([]string{`[]`, `{`, `{} {}`, `{"colour": "red"}`, `null`}, refused...)
	}
	for _, bad := range refused {
		to, with := path, fill(bad, known)
		if strings.HasPrefix(with, "?") {
			plain, _, _ := strings.Cut(path, "?")
			to, with = plain+with, ""
		}
		home.ask(page, r.method, to, with, nil).fails(t, 400, r.method+" "+to+" with "+with)
	}
	if r.served == "socket" {
		return
	}
	a := home.ask(page, http.MethodPatch, path, "", nil)
	a.fails(t, 405, "PATCH "+path)
	allowed := a.header.Get("Allow")
	check(t, slices.Contains(strings.Split(allowed, ", "), r.method), "PATCH %s: Allow is %q, without %s", path, allowed, r.method)
	if nothing := fill(r.path, map[string]string{"alpha": "1", "ws": "nobody-made-this"}); nothing != r.path {
		home.ask(page, r.method, nothing, body, nil).fails(t, 404, r.name()+" of nothing")
	}
	if r.method == http.MethodGet || r.method == http.MethodDelete {
		return
	}
	for _, d := range []door{page, control} {
		for _, kind := range []string{"text/plain", "application/x-www-form-urlencoded"} {
			home.ask(d, r.method, path, `{"x": 1}`, header{"Content-Type": kind}).fails(t, 400, r.name()+" with "+kind)
		}
		large := `{"x": "` + strings.Repeat("x", 1<<20) + `"}`
		home.ask(d, r.method, path, large, header{"Expect": "100-continue"}).fails(t, 413, r.name()+" with more than 1 MiB")
	}
}

// checkHeaders wants what keeps other web pages out.
func (a answer) checkHeaders(t testing.TB, what string, d door, isJSON bool) {
	t.Helper()
	for name := range a.header {
		check(t, !strings.HasPrefix(name, "Access-Control-"), "%s: it has %s", what, name)
	}
	wants := header{"X-Content-Type-Options": "nosniff"}
	if isJSON {
		maps.Copy(wants, header{"Content-Type": "application/json", "Cache-Control": "no-store"})
	}
	if d != control {
		wants["Content-Security-Policy"] = "frame-ancestors 'none'"
	}
	for name, value := range wants {
		check(t, strings.Contains(a.header.Get(name), value), "%s: %s is %q", what, name, a.header.Get(name))
	}
}

// The documentation names each route, and no others.
func TestRoutesAreDocumented(t *testing.T) {
	var documented, tested []string
	for _, row := range regexp.MustCompile("(?m)^\\| `(GET|POST|PUT|DELETE) ([^|]+?)(, refused.*)? \\|").FindAllStringSubmatch(read("../../docs/http.md"), -1) {
		for path := range strings.SplitSeq(row[2], ", ") {
			path = strings.Replace(strings.Trim(path, "`"), "…/", p, 1)
			if path[0] != '/' {
				path = one + path
			}
			documented = append(documented, route{method: row[1], path: path}.name())
		}
	}
	for _, r := range routes(t) {
		tested = append(tested, r.name())
	}
	slices.Sort(documented)
	slices.Sort(tested)
	same(t, "documented are", slices.Compact(documented), slices.Compact(tested))
}

// All that the page loads is there.
func TestAssets(t *testing.T) {
	assets := regexp.MustCompile(`(?:src|href)="(assets/[^"]+)"`).FindAllSubmatch(get(p).body, -1)
	check(t, len(assets) > 0, "the page loads nothing")
	for _, asset := range assets {
		same(t, string(asset[1]), get(p+string(asset[1])).status, 200)
	}
}

// events reads a stream of server-sent events: each call is the next one.
func events(t *testing.T, path string) (next func() (name, data string)) {
	t.Helper()
	resp, err := home.open(page, "GET", path, "", nil)
	must(t, err)
	t.Cleanup(func() { resp.Body.Close() })
	same(t, path, []string{resp.Status, resp.Header.Get("Content-Type"), resp.Header.Get("Cache-Control")}, []string{"200 OK", "text/event-stream", "no-store"})
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
	next, newest := events(t, p+"stream"), map[string]string{} // by name: no order is promised between them
	until := func(name string, pid int, listed bool) {
		t.Helper()
		for {
			if data := newest[name]; data != "" && strings.Contains(data, fmt.Sprintf(`"pid":%d,`, pid)) == listed {
				return
			}
			is, data := next()
			fits(t, "an event", cmp.Or(is, "instances"), []byte(data))
			newest[is] = data
		}
	}
	until("status", 0, false)
	until("", alpha.pid(), true)
	s := home.startFound(t, "streamed")
	until("", s.pid(), true)
	s.end()
	until("", s.pid(), false)
	until("status", s.pid(), true)
	_, first := events(t, "/workspaces/stream")()
	fits(t, "the first event of workspaces", "workspaces", []byte(first))
}

// The route for clients that speak HTTP shares the same servers.
func TestMCP(t *testing.T) {
	project := home.project(t, "http")
	// What /mcp would run as well.
	s := home.wrapper(t, serena, "start-mcp-server", "--agent-interface", "tools", "--context", "claude-code", "--project", project)
	s.call(t, "1", "echo", "{}")
	before := only(t, project)
	known := map[string]string{
		"greeting": greeting, "both": "application/json, text/event-stream",
		"call":   `{"jsonrpc":"2.0","id":"a b","method":"tools/call","params":{"name":"echo","arguments":{ "x":1.0}}}`,
		"echoed": `{"jsonrpc":"2.0","id":"a b","result":{"content":[],"isError":false,"echo":{ "x":1.0}}}`,
	}
	a := home.ask(page, "POST", "/mcp?project="+project, greeting, header{"Accept": "application/json"})
	same(t, "initialize", []any{a.status, a.header.Get("Content-Type"), a.object()["id"]}, []any{200, "application/json", float64(0)})
	known["id"] = a.header.Get("Mcp-Session-Id")
	for _, row := range table(t, "mcp.txt") {
		a := home.ask(page, row[1], "/mcp"+cell(row, 2), fill(cell(row, 5), known), header{"Mcp-Session-Id": fill(cell(row, 3), known), "Accept": fill(row[4], known)})
		same(t, fmt.Sprintf("%q", row), strconv.Itoa(a.status), row[0])
		apptest.Contains(t, a.header.Get("Content-Type"), cell(row, 6))
		apptest.Contains(t, string(a.body), fill(cell(row, 7), known))
	}
	ours := header{"Mcp-Session-Id": known["id"], "Accept": "text/event-stream"}
	stream, err := home.open(page, "GET", "/mcp", "", ours)
	must(t, err)
	defer stream.Body.Close()
	same(t, "the stream", []any{stream.StatusCode, stream.Header.Get("Content-Type")}, []any{200, "text/event-stream"})
	same(t, "its server", only(t, project), before)
	text := header{"Mcp-Session-Id": known["id"], "Accept": known["both"], "Content-Type": "text/plain"}
	same(t, "a message that is text", home.ask(page, "POST", "/mcp", known["call"], text).status, 400)
	same(t, "DELETE", home.ask(page, "DELETE", "/mcp", "", ours).status, 200)
	same(t, "a call after DELETE", home.ask(page, "POST", "/mcp", known["call"], ours).status, 404)
	apptest.Contains(t, s.call(t, "2", "echo", "{}"), `"echo"`) // the other client goes on
}

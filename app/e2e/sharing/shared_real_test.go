//go:build real && linux

package sharing

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"lamplighter/app/apptest"
	"lamplighter/app/e2e"
)

// shared is one lamplighter and two projects, for each of which it has at most
// one real Serena, with a language server.
type shared struct {
	*e2e.Manager
	harbour, quay string
}

// The parts go on where the one before has ended: servers stay, as they do for
// people.
func TestSharedSerena(t *testing.T) {
	t.Parallel()
	s := shared{e2e.SharingHome(t), e2e.NamedProject(t, "harbour"), e2e.NamedProject(t, "quay")}
	for _, part := range []struct {
		name string
		test func(*testing.T)
	}{
		{"three clients at once", s.threeClients},
		{"wrappers that come and go", s.ephemeralWrappers},
		{"the clients that people use", s.realClients},
		{"restarted", s.restarted},
		{"suspended under four clients", s.suspended},
		{"parked and woken", s.parked},
		{"its project is away for a moment", s.projectAway},
		{"the server is killed", s.serverKilled},
		{"lamplighter is killed", s.lamplighterKilled}, // the last: what it starts ends with it
	} {
		if !t.Run(part.name, part.test) {
			t.FailNow()
		}
	}
}

// joins is one more client in a folder, after its handshake.
func (s shared) joins(t *testing.T, dir string) *e2e.Shim {
	t.Helper()
	client := s.Wrap(t, dir, e2e.SerenaCommand...)
	client.Handshake(t)
	return client
}

// of is what the global dashboard says of the server of a project: its pid, 0
// when none runs, its state and how many share it.
func (s shared) of(t *testing.T, project string) (pid int, state string, clients int) {
	t.Helper()
	for _, in := range s.Shared(t) {
		if in.ProjectRoot == nil || *in.ProjectRoot != project {
			continue
		}
		if in.PID != nil {
			pid = *in.PID
		}
		return pid, in.State, *in.SharedBy
	}
	return 0, "", 0
}

// only waits until the global dashboard has the server of a project, checks that
// it is the only one that runs, and returns its pid.
func (s shared) only(t *testing.T, project string) (pid int) {
	t.Helper()
	apptest.Eventually(t, "the server of "+project+" is listed", func() bool {
		pid, _, _ = s.of(t, project)
		return pid != 0
	})
	if found := s.Serenas(); len(found) != 1 || found[0] != pid {
		t.Fatalf("servers: %v, listed is %d; all: %v", found, pid, s.Servers())
	}
	return pid
}

// Each has answers of its own, and all share one server; status tells it. A line of 2 MiB passes in both directions as it is.
func (s shared) threeClients(t *testing.T) {
	const clients = 3
	for i := range clients {
		text := fmt.Sprintf("package main\n\nfunc client%d() {}\n", i)
		if err := os.WriteFile(filepath.Join(s.harbour, fmt.Sprintf("client%d.go", i)), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	all := make([]*e2e.Shim, clients)
	for i := range all {
		all[i] = s.Wrap(t, s.harbour, e2e.SerenaCommand...)
	}
	for _, client := range all {
		client.Handshake(t)
	}
	const calls = 3
	for id := range calls { // all of them are under way at once
		for i, client := range all {
			client.Call(t, id+1, "get_symbols_overview", map[string]any{"relative_path": fmt.Sprintf("client%d.go", i)})
		}
	}
	for id := range calls {
		for i, client := range all {
			text := client.Await(t, fmt.Sprint(id+1)).Text(t)
			if !strings.Contains(text, fmt.Sprintf("client%d", i)) || strings.Count(text, "client") != 1 {
				t.Errorf("client %d was answered %s", i, text)
			}
		}
	}
	s.only(t, s.harbour)
	apptest.Eventually(t, "all of them are shown", func() bool { _, _, many := s.of(t, s.harbour); return many == clients })
	_, out, _ := s.Does(t, "status")
	apptest.Contains(t, out, "3 clients")

	long := strings.Repeat("lamp é \"\\ ", 2<<20/10)
	all[0].Calls(t, 10, "write_memory", map[string]any{"memory_name": "long", "content": long, "max_chars": 4 << 20})
	if got := all[1].Calls(t, 10, "read_memory", map[string]any{"memory_name": "long"}); !strings.Contains(got, long) {
		t.Errorf("got %d bytes", len(got))
	}
}

// R5's own: with the daemon up and warm, three ephemeral wrappers one after the
// other add no server process, and each ends at SIGTERM with its standard input
// open.
func (s shared) ephemeralWrappers(t *testing.T) {
	once := func() {
		wrapper := s.joins(t, s.harbour)
		apptest.Contains(t, wrapper.Overview(t, 1), "greet")
		wrapper.Terminated(t)
	}
	once() // to warm up
	before := s.only(t, s.harbour)
	for range 3 {
		once()
		if now := s.Serenas(); len(now) != 1 || now[0] != before {
			t.Errorf("servers: %v, before %v", now, before)
		}
	}
	if !s.Run.Running() {
		t.Error("lamplighter has ended")
	}
}

// A server is started again under its clients: a call that is at work is answered
// before, and none notices anything but the time that it takes.
func (s shared) restarted(t *testing.T) {
	client, other := s.joins(t, s.harbour), s.joins(t, s.harbour)
	apptest.Contains(t, client.Overview(t, 1), "greet")
	apptest.Contains(t, other.Overview(t, 1), "greet")
	before := s.only(t, s.harbour)
	client.Call(t, 2, "find_symbol", map[string]any{"name_path_pattern": "greet"})
	status, out, errText := s.Does(t, "restart", strconv.Itoa(before))
	if answer := client.Await(t, "2"); !strings.Contains(string(answer.Result), "greet") {
		t.Errorf("the call that was at work: %+v", answer)
	}
	if after := s.only(t, s.harbour); status != 0 || after == before {
		t.Errorf("status %d, %s%s; server %d, before %d", status, out, errText, after, before)
	}
	apptest.Contains(t, out, "Restarted: ")
	apptest.Contains(t, other.Overview(t, 2), "greet")
	apptest.Contains(t, client.Overview(t, 3), "greet")
	for _, c := range []*e2e.Shim{client, other} {
		c.Terminated(t)
	}
}

// A server that hangs holds up nobody for long: who comes is answered from memory, who
// waits is told so, and the next one takes its place. No edit is made twice.
func (s shared) suspended(t *testing.T) {
	usual := e2e.PatientStart + "log_level: debug\n"
	s.Set(t, usual+"hang_limit_minutes: 0.25\n")
	defer s.Set(t, usual)
	file := filepath.Join(s.harbour, "edits.go")
	if err := os.WriteFile(file, []byte("package main\n\nfunc edited() {}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var clients []*e2e.Shim
	for range 4 {
		client := s.joins(t, s.harbour)
		client.Send(t, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
		client.Await(t, "1")
		apptest.Contains(t, client.Overview(t, 2), "greet")
		clients = append(clients, client)
	}
	server := s.only(t, s.harbour)
	suspend(t, server)
	for i, client := range clients {
		client.Send(t, fmt.Sprintf(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"insert_after_symbol","arguments":`+
			`{"name_path":"edited","relative_path":"edits.go","body":"func edit%d() {}\n"},"_meta":{"progressToken":"p%d"}}}`, i, i))
	}
	newcomer := s.joins(t, s.harbour)
	newcomer.Send(t, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	if list := newcomer.Await(t, "1"); !strings.Contains(string(list.Result), "insert_after_symbol") || !slices.Equal(s.Serenas(), []int{server}) {
		t.Errorf("servers: %v; %.300s", s.Serenas(), list.Line)
	}
	apptest.Contains(t, newcomer.Overview(t, 2), "greet")
	for i, client := range clients {
		answer := client.Await(t, "3")
		apptest.Contains(t, client.Overview(t, 4), "greet")
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		switch made := strings.Count(string(text), fmt.Sprintf("func edit%d()", i)); {
		case answer.Error != nil && (made > 1 || !strings.Contains(answer.Error.Message, "it did not answer for") || !strings.Contains(answer.Error.Message, "it may have been carried out")),
			answer.Error == nil && made != 1:
			t.Errorf("edit %d was made %d times: %s", i, made, answer.Line)
		}
		if !strings.Contains(strings.Join(client.Told, "\n"), fmt.Sprintf(`"progressToken":"p%d","progress":0.001,"message":"the server does not answer`, i)) {
			t.Errorf("client %d was told %q", i, client.Told)
		}
		client.Terminated(t)
	}
	newcomer.Terminated(t)
	apptest.Eventually(t, "it was ended", func() bool { return !e2e.Alive(server) })
	s.only(t, s.harbour)
}

// A server that nobody asks is parked under its client, which notices nothing;
// the variables of a REPL are not lost to save memory.
func (s shared) parked(t *testing.T) {
	client := s.joins(t, s.harbour)
	client.Calls(t, 1, "write_memory", map[string]any{"memory_name": "kept", "content": "the light is green"})
	apptest.Contains(t, client.Overview(t, 2), "greet")
	s.only(t, s.harbour)
	usual := e2e.PatientStart + "log_level: debug\n"
	s.Set(t, usual+"park_after_minutes: 0.05\n")
	if in := s.Becomes(t, "parked"); in.PID != nil || *in.SharedBy != 1 || in.Label != "parked - harbour" {
		t.Errorf("parked: %+v", in)
	}
	apptest.Eventually(t, "no server is left", func() bool { return len(s.Serenas()) == 0 && len(s.Running("gopls")) == 0 })
	_, out, _ := s.Does(t, "status")
	apptest.Contains(t, out, "parked", "harbour")

	repl := s.Wrap(t, s.quay, "serena", "start-mcp-server", "--project", ".", "--context=ide", "--agent-interface", "REPL")
	repl.Handshake(t)
	repl.Calls(t, 2, "serena_repl", map[string]any{"session": "one", "code": `__import__("os").system("sleep 600 </dev/null >/dev/null 2>&1 &")`})
	before := s.only(t, s.quay)
	apptest.Eventually(t, "what was left to go on keeps it", func() bool { return strings.Contains(s.Log(t), "something works below it") })
	repl.Calls(t, 3, "serena_repl", map[string]any{"session": "one", "code": "x = 41"})
	for _, pid := range s.Running("sleep") {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Error(err)
		}
	}
	apptest.Eventually(t, "it is told why it is not parked", func() bool { return strings.Contains(s.Log(t), "it holds variables") })
	apptest.Contains(t, repl.Calls(t, 4, "serena_repl", map[string]any{"session": "one", "code": "x + 1"}), "42")

	client.Send(t, `{"jsonrpc":"2.0","id":3,"method":"ping"}`)
	client.Await(t, "3")
	if after := s.only(t, s.quay); after != before {
		t.Errorf("the REPL's server is %d, and was %d", after, before)
	}
	s.Set(t, usual)
	apptest.Contains(t, client.Calls(t, 4, "read_memory", map[string]any{"memory_name": "kept"}), "the light is green")
	apptest.Contains(t, client.Overview(t, 5), "greet")
	apptest.Eventually(t, "the events tell it", func() bool {
		events := s.events(t)
		return strings.Contains(events, "parked") && strings.Contains(events, "woke")
	})
	if err := syscall.Kill(before, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	repl.Terminated(t)
	apptest.Eventually(t, "the REPL's server has gone", func() bool { return !e2e.Alive(before) })
}

// events are those that the global dashboard tells.
func (s shared) events(t *testing.T) string {
	t.Helper()
	_, _, body := e2e.Fetch(t, e2e.PageAt(s.Page)+"events")
	return body
}

// A worktree is made again, a disk is mounted late: who calls in that moment is
// told, and nobody gets a server without a project afterwards, neither the
// client that has waited nor a new one.
func (s shared) projectAway(t *testing.T) {
	client := s.joins(t, s.harbour)
	apptest.Contains(t, client.Overview(t, 1), "greet")
	server := s.only(t, s.harbour)
	if code, _, said := s.Does(t, "stop", "harbour", "--force"); code != 0 { // which parks it
		t.Fatal(said)
	}
	apptest.Eventually(t, "it is parked", func() bool { _, state, _ := s.of(t, s.harbour); return state == "parked" && !e2e.Alive(server) })
	aside := filepath.Join(s.Dir, "aside")
	if err := os.Rename(s.harbour, aside); err != nil {
		t.Fatal(err)
	}
	client.Call(t, 2, "get_symbols_overview", map[string]any{"relative_path": "main.go"})
	if r := client.Await(t, "2"); r.Error == nil {
		t.Errorf("without its project it answers %s", r.Line)
	}
	if err := os.Rename(aside, s.harbour); err != nil {
		t.Fatal(err)
	}
	id := 2
	apptest.Eventually(t, "the old client is served", func() bool { // after a pause, as with each failure
		id++
		client.Call(t, id, "get_symbols_overview", map[string]any{"relative_path": "main.go"})
		r := client.Await(t, fmt.Sprint(id))
		return r.Error == nil && strings.Contains(r.Text(t), "greet")
	})
	apptest.Contains(t, s.joins(t, s.harbour).Overview(t, 1), "greet")
	s.only(t, s.harbour)
}

// A server that is killed in the middle of calls comes back with the next one,
// for all; what has become of each call is told.
func (s shared) serverKilled(t *testing.T) {
	one, other := s.joins(t, s.harbour), s.joins(t, s.harbour)
	apptest.Contains(t, one.Overview(t, 1), "greet")
	server, languageServers := s.only(t, s.harbour), s.Running("gopls")
	if len(languageServers) == 0 {
		t.Fatalf("no language server in %v", s.Servers())
	}
	suspend(t, server)
	const calls = 20
	for i := range calls {
		one.Call(t, 100+i, "find_symbol", map[string]any{"name_path_pattern": "greet"})
	}
	one.Send(t, `{"jsonrpc":"2.0","id":99,"method":"ping"}`) // comes after them, and is answered here
	one.Await(t, "99")
	if err := syscall.Kill(server, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	for i := range calls {
		if r := one.Await(t, fmt.Sprint(100+i)); r.Error != nil && !strings.Contains(r.Error.Message, "carried out") {
			t.Errorf("its fate is not told: %s", r.Line)
		}
	}
	apptest.Contains(t, one.Overview(t, 200), "greet")
	apptest.Contains(t, other.Overview(t, 1), "greet")
	if now := s.only(t, s.harbour); now == server {
		t.Errorf("the server is %d as before", now)
	}
	apptest.Eventually(t, "its language servers have gone", func() bool { return !slices.ContainsFunc(languageServers, e2e.Alive) })
}

// Sessions outlive lamplighter: killed or ended and started again, it takes the
// server and the clients over.
func (s shared) lamplighterKilled(t *testing.T) {
	client := s.joins(t, s.harbour)
	apptest.Contains(t, client.Overview(t, 1), "greet")
	server := s.only(t, s.harbour)
	s.Ends(t, syscall.SIGKILL)
	client.Call(t, 2, "get_symbols_overview", map[string]any{"relative_path": "main.go"})
	s.Begin(t)
	apptest.Contains(t, client.Await(t, "2").Text(t), "greet")
	if now := s.only(t, s.harbour); now != server {
		t.Errorf("the server is %d, and was %d", now, server)
	}
	before := s.Run
	s.Ends(t, syscall.SIGTERM)
	before.Says(t, "lamplighter: ending; 1 client stays attached; 1 shared server goes on for two minutes, for a lamplighter that starts by then\n")
	s.Begin(t)
	apptest.Contains(t, client.Overview(t, 4), "greet")
	if now := s.only(t, s.harbour); now != server {
		t.Errorf("the server is %d, and was %d", now, server)
	}
}

// suspend stops a process, and waits until it stands still: it goes on for a moment
// after the signal.
func suspend(t *testing.T, pid int) {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	apptest.Eventually(t, fmt.Sprintf("pid %d is suspended", pid), func() bool {
		fields := e2e.StatOf(pid)
		return fields != nil && fields[0] == "T"
	})
}

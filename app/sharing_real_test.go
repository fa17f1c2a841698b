//go:build real && linux

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"lamplighter/app/apptest"
	"lamplighter/monitor/serena/serenatest"
)

// sharingHome is a home in which Serena has run before and lamplighter runs.
// What is in env is for lamplighter.
func sharingHome(t *testing.T, env ...string) *manager {
	t.Helper()
	m := serenaHome(t)
	m.initialised(t)
	m.set(t, patientStart+"log_level: debug\n")
	clients := m.env
	m.env = append(clients[:len(clients):len(clients)], env...)
	m.begin(t)
	m.takesClients(t)
	m.env = clients
	return m
}

// namedProject is a Go project with a function of its own name.
func namedProject(t *testing.T, name string) string {
	t.Helper()
	dir := serenatest.GoProject(t, name)
	text := "package main\n\nfunc of_" + name + "() string { return \"" + name + "\" }\n"
	if err := os.WriteFile(filepath.Join(dir, "own.go"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("git", "-C", dir, "init", "-q").CombinedOutput(); err != nil {
		t.Fatalf("git: %v %s", err, out)
	}
	return dir
}

// TestSharingAcceptance is R5's own: with the daemon up and warm, three ephemeral
// wrappers one after the other add no server process, and each ends at SIGTERM
// with its standard input open.
func TestSharingAcceptance(t *testing.T) {
	t.Parallel()
	m := sharingHome(t)
	project := namedProject(t, "alpha")
	warm := m.wrap(t, project, serenaCommand...)
	warm.handshake(t)
	apptest.Contains(t, warm.overview(t, 1), "greet")
	warm.terminated(t)

	before := m.serenas()
	if len(before) != 1 {
		t.Fatalf("servers after the warm-up: %v of %v", before, m.servers())
	}
	for range 3 {
		s := m.wrap(t, project, serenaCommand...)
		s.handshake(t)
		apptest.Contains(t, s.overview(t, 1), "greet")
		if now := m.serenas(); len(now) != 1 || now[0] != before[0] {
			t.Errorf("servers: %v, before %v", now, before)
		}
		s.terminated(t)
	}
	if now := m.serenas(); len(now) != 1 || now[0] != before[0] {
		t.Errorf("servers at the end: %v, before %v", now, before)
	}
	if !m.run.running() || len(marked(m.mark)) == 0 {
		t.Error("lamplighter has ended")
	}
}

// Ten clients at once, each with answers of its own, share one server; status
// tells it.
func TestSharingTenClients(t *testing.T) {
	t.Parallel()
	m := sharingHome(t)
	project := namedProject(t, "alpha")
	const clients = 10
	for i := range clients {
		text := fmt.Sprintf("package main\n\nfunc client%d() {}\n", i)
		if err := os.WriteFile(filepath.Join(project, fmt.Sprintf("client%d.go", i)), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	sessions := make([]*mcp.ClientSession, clients)
	together(clients, func(i int) {
		cmd := exec.Command(connectProgram(), append([]string{"connect", "--"}, serenaCommand...)...)
		cmd.Env, cmd.Dir = m.env, project
		session, err := mcp.NewClient(&mcp.Implementation{Name: fmt.Sprintf("client-%d", i), Version: "1"}, nil).
			Connect(t.Context(), &mcp.CommandTransport{Command: cmd}, nil)
		if err != nil {
			t.Error(err)
			return
		}
		t.Cleanup(func() { _ = session.Close() })
		sessions[i] = session
	})
	if t.Failed() {
		t.FailNow()
	}
	together(clients, func(i int) {
		for range 3 {
			result, err := sessions[i].CallTool(t.Context(), &mcp.CallToolParams{
				Name: "get_symbols_overview", Arguments: map[string]any{"relative_path": fmt.Sprintf("client%d.go", i)},
			})
			if err != nil || len(result.Content) != 1 {
				t.Errorf("client %d: %v, %+v", i, err, result)
				return
			}
			text := result.Content[0].(*mcp.TextContent).Text
			if want := fmt.Sprintf("client%d", i); !strings.Contains(text, want) || strings.Count(text, "client") != 1 {
				t.Errorf("client %d was answered %s", i, text)
			}
		}
	})
	if found := m.serenas(); len(found) != 1 {
		t.Errorf("servers: %v of %v", found, m.servers())
	}
	apptest.Eventually(t, "all ten are shown", func() bool {
		all := m.shared(t)
		return len(all) == 1 && *all[0].SharedBy == clients && len(all[0].Clients) == clients
	})
	_, out, _ := m.does(t, "status")
	t.Log(out)
	apptest.Contains(t, out, "10 clients")
}

// Two repositories never share, although the command is the same; nor does a
// worktree with its repository.
func TestSharingEachRepositoryByItself(t *testing.T) {
	t.Parallel()
	m := sharingHome(t)
	alpha, beta := namedProject(t, "alpha"), namedProject(t, "beta")
	for _, line := range [][]string{
		{"-C", alpha, "-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-q", "--allow-empty", "-m", "x"},
		{"-C", alpha, "worktree", "add", "-q", filepath.Join(m.dir, "gamma")},
	} {
		if out, err := exec.Command("git", line...).CombinedOutput(); err != nil {
			t.Fatalf("git: %v %s", err, out)
		}
	}
	gamma := filepath.Join(m.dir, "gamma")
	a, b, c := m.wrap(t, alpha, serenaCommand...), m.wrap(t, beta, serenaCommand...), m.wrap(t, gamma, serenaCommand...)
	for _, s := range []*shim{a, b, c} {
		s.handshake(t)
	}
	// An edit asked for in one changes that one.
	for dir, s := range map[string]*shim{alpha: a, beta: b, gamma: c} {
		s.calls(t, 1, "write_memory", map[string]any{"memory_name": "own", "content": "in " + filepath.Base(dir)})
	}
	for _, dir := range []string{alpha, beta, gamma} {
		text, err := os.ReadFile(filepath.Join(dir, ".serena", "memories", "own.md"))
		if err != nil || !strings.Contains(string(text), "in "+filepath.Base(dir)) {
			t.Errorf("%s: %q, %v", dir, text, err)
		}
	}
	if found := m.serenas(); len(found) != 3 {
		t.Errorf("servers: %v", found)
	}
	// One below the root is in the same project.
	below := filepath.Join(alpha, "below")
	if err := os.Mkdir(below, 0o700); err != nil {
		t.Fatal(err)
	}
	d := m.wrap(t, below, serenaCommand...)
	d.handshake(t)
	apptest.Contains(t, d.calls(t, 1, "read_memory", map[string]any{"memory_name": "own"}), "in alpha")
	if found := m.serenas(); len(found) != 3 {
		t.Errorf("servers: %v", found)
	}
}

// A server that nobody asks is parked under its client, which notices nothing.
func TestSharingParksAndWakes(t *testing.T) {
	t.Parallel()
	m := sharingHome(t, "LAMPLIGHTER_IDLE_SHUTDOWN_SECS=3")
	s := m.wrap(t, namedProject(t, "alpha"), serenaCommand...)
	s.handshake(t)
	apptest.Contains(t, s.overview(t, 1), "greet")
	in := m.becomes(t, "parked")
	if in.PID != nil || *in.SharedBy != 1 || in.Label != "parked - alpha" {
		t.Errorf("parked: %+v", in)
	}
	apptest.Eventually(t, "no server is left", func() bool { return len(m.serenas()) == 0 && len(m.running("gopls")) == 0 })
	_, out, _ := m.does(t, "status")
	t.Log(out)
	apptest.Contains(t, out, "parked", "alpha")
	s.send(t, `{"jsonrpc":"2.0","id":2,"method":"ping"}`)
	s.await(t, "2")
	if found := m.serenas(); len(found) != 0 {
		t.Errorf("a ping has started %v", found)
	}
	apptest.Contains(t, s.overview(t, 3), "greet")
	if found := m.serenas(); len(found) > 1 { // one has answered, and may be parked again by now
		t.Errorf("servers: %v", found)
	}
	apptest.Eventually(t, "the events tell it", func() bool {
		_, out, _ := m.does(t, "events")
		return strings.Contains(out, "parked") && strings.Contains(out, "woke")
	})
	s.terminated(t)
	m.nothingLeft(t) // it lingers for the idle time only
}

// The variables of a REPL are not lost to save memory.
func TestSharingKeepsVariables(t *testing.T) {
	t.Parallel()
	m := sharingHome(t, "LAMPLIGHTER_IDLE_SHUTDOWN_SECS=2")
	project := namedProject(t, "alpha")
	s := m.wrap(t, project, "serena", "start-mcp-server", "--project", ".", "--context=ide", "--agent-interface", "REPL")
	s.handshake(t)
	s.send(t, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	apptest.Contains(t, s.await(t, "1").line, "serena_repl")
	s.calls(t, 2, "serena_repl", map[string]any{"session": "one", "code": "x = 41"})
	before := m.serenas()
	apptest.Eventually(t, "it is told why it is not parked", func() bool { return strings.Contains(m.log(t), "it holds variables") })
	apptest.Contains(t, s.calls(t, 3, "serena_repl", map[string]any{"session": "one", "code": "x + 1"}), "42")
	if found := m.serenas(); len(before) != 1 || len(found) != 1 || found[0] != before[0] {
		t.Errorf("servers: %v, before %v", found, before)
	}
}

// A server that is killed in the middle of a call comes back with the next one.
func TestSharingServerIsKilled(t *testing.T) {
	t.Parallel()
	m := sharingHome(t)
	project := namedProject(t, "alpha")
	s, other := m.wrap(t, project, serenaCommand...), m.wrap(t, project, serenaCommand...)
	s.handshake(t)
	other.handshake(t)
	apptest.Contains(t, s.overview(t, 1), "greet")
	server := m.serenas()
	if len(server) != 1 {
		t.Fatalf("servers: %v", server)
	}
	suspend(t, server[0])
	const calls = 20
	for i := range calls {
		s.call(t, 100+i, "find_symbol", map[string]any{"name_path_pattern": "greet"})
	}
	s.send(t, `{"jsonrpc":"2.0","id":99,"method":"ping"}`) // comes after them, and is answered here
	s.await(t, "99")
	if err := syscall.Kill(server[0], syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	for i := range calls {
		r := s.await(t, fmt.Sprint(100+i))
		if r.Error != nil && !strings.Contains(r.Error.Message, "carried out") {
			t.Errorf("its fate is not told: %s", r.line)
		}
	}
	apptest.Contains(t, s.overview(t, 200), "greet")
	apptest.Contains(t, other.overview(t, 1), "greet")
	if found := m.serenas(); len(found) != 1 || found[0] == server[0] {
		t.Errorf("servers: %v, before %v", found, server)
	}
}

// Sessions outlive lamplighter: killed and started again, it takes the server and
// the clients over.
func TestSharingOutlivesLamplighter(t *testing.T) {
	t.Parallel()
	m := sharingHome(t)
	project := namedProject(t, "alpha")
	s := m.wrap(t, project, serenaCommand...)
	s.handshake(t)
	apptest.Contains(t, s.overview(t, 1), "greet")
	server := m.serenas()
	m.ends(t, syscall.SIGKILL)
	s.call(t, 2, "get_symbols_overview", map[string]any{"relative_path": "main.go"})
	m.begin(t)
	apptest.Contains(t, s.await(t, "2").text(t), "greet")
	apptest.Contains(t, s.overview(t, 3), "greet")
	if found := m.serenas(); len(found) != 1 || len(server) != 1 || found[0] != server[0] {
		t.Errorf("servers: %v, before %v", found, server)
	}
	// So does an ordinary end, which says so.
	before := m.run
	m.ends(t, syscall.SIGTERM)
	before.says(t, "lamplighter: ending; 1 client stays attached; 1 shared server goes on for two minutes, for a lamplighter that starts by then\n")
	m.begin(t)
	apptest.Contains(t, s.overview(t, 4), "greet")
	if found := m.serenas(); len(found) != 1 || found[0] != server[0] {
		t.Errorf("servers: %v, before %v", found, server)
	}
}

// What cannot be shared runs for its client alone, below the shim, and ends with
// it.
func TestSharingAlone(t *testing.T) {
	t.Parallel()
	m := sharingHome(t)
	project := namedProject(t, "alpha")
	command := []string{"serena", "start-mcp-server", "--project", project, "--context", "codex", "--agent-interface", "tools"}
	// One after the other: Serenas that make the settings of a project at once
	// may have no language server.
	a := m.wrap(t, project, command...)
	a.handshake(t)
	apptest.Contains(t, a.overview(t, 1), "greet")
	b := m.wrap(t, project, command...)
	b.handshake(t)
	if found := m.serenas(); len(found) != 2 {
		t.Errorf("servers: %v", found)
	}
	apptest.Eventually(t, "status says why", func() bool {
		_, out, _ := m.does(t, "status", "--json")
		return strings.Count(out, "codex can change the project") == 2
	})
	a.terminated(t)
	apptest.Eventually(t, "its server has gone", func() bool { return len(m.serenas()) == 1 })
	apptest.Contains(t, b.overview(t, 2), "greet")
	b.in.Close()
	if status := b.status(t); status != 0 {
		t.Errorf("exit status %d: %s", status, b.err.String())
	}
	m.nothingLeft(t)
}

// Nobody starts a daemon behind the user's back.
func TestSharingWithoutLamplighter(t *testing.T) {
	t.Parallel()
	m := serenaHome(t)
	m.initialised(t)
	project := namedProject(t, "alpha")
	for _, line := range [][]string{{connectProgram(), "connect", "--"}, {binary, "connect", "--"}} {
		s := m.wrapAs(t, project, append(line, serenaCommand...))
		s.send(t, `{"jsonrpc":"2.0","id":"first","method":"initialize","params":{}}`)
		r := s.await(t, `"first"`)
		if r.Error == nil {
			t.Fatalf("it was answered %s", r.line)
		}
		if got := s.status(t); got != 69 {
			t.Errorf("exit status %d", got)
		}
		apptest.Contains(t, r.Error.Message+s.err.String(), "share.sock", "lamplighter")
	}
	m.nothingLeft(t)
	direct := m.wrapAs(t, project, append([]string{binary, "connect", "--or-direct", "--"}, serenaCommand...))
	direct.handshake(t)
	apptest.Contains(t, direct.overview(t, 1), "greet")
	apptest.Contains(t, direct.err.String(), "lamplighter")
	direct.in.Close()
	<-direct.ended
	m.nothingLeft(t)
}

// Clients that speak HTTP share the same server.
func TestSharingOverHTTP(t *testing.T) {
	t.Parallel()
	m := sharingHome(t)
	project := namedProject(t, "alpha")
	address := pageAt(m.page)[:strings.Index(pageAt(m.page), "/global")] + "/mcp?project=" + project
	var all []*mcp.ClientSession
	for range 3 {
		all = append(all, connectBy(t, &mcp.StreamableClientTransport{Endpoint: address, MaxRetries: -1}, func() {}))
	}
	for _, session := range all {
		apptest.Contains(t, calls(t, session, "get_symbols_overview", map[string]any{"relative_path": "main.go"}), "greet")
	}
	if found := m.serenas(); len(found) != 1 {
		t.Errorf("servers: %v", found)
	}
	apptest.Eventually(t, "three clients", func() bool { all := m.shared(t); return len(all) == 1 && *all[0].SharedBy == 3 })
}

// Lines that a peer of ours chokes on pass in both directions, and what Serena
// does not take is said; the server and the others go on.
func TestSharingLongLines(t *testing.T) {
	t.Parallel()
	m := sharingHome(t)
	project := namedProject(t, "alpha")
	s, other := m.wrap(t, project, serenaCommand...), m.wrap(t, project, serenaCommand...)
	s.handshake(t)
	other.handshake(t)
	long := strings.Repeat("lamp ", 2<<20/5)
	s.calls(t, 1, "write_memory", map[string]any{"memory_name": "long", "content": long, "max_chars": 4 << 20})
	if got := s.calls(t, 2, "read_memory", map[string]any{"memory_name": "long"}); !strings.Contains(got, long) {
		t.Errorf("got %d bytes", len(got))
	}
	s.call(t, 3, "write_memory", map[string]any{"memory_name": "longer", "content": strings.Repeat(long, 32)})
	if r := s.await(t, "3"); r.Error == nil || !strings.Contains(r.Error.Message, "is too long") {
		t.Errorf("64 MiB: %s", excerptOf(r.line))
	}
	s.send(t, "no JSON")
	s.await(t, "null")
	for _, each := range []*shim{s, other} {
		apptest.Contains(t, each.overview(t, 4), "greet")
	}
	if found := m.serenas(); len(found) != 1 {
		t.Errorf("servers: %v", found)
	}
}

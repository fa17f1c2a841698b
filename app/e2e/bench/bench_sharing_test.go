//go:build real && bench && linux

package bench

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lamplighter/app/apptest"
	"lamplighter/app/e2e"
	"lamplighter/monitor/serena/serenatest"
)

// How much is measured of a shared server.
const (
	sharers     = 10  // clients at once
	sharedCalls = 400 // of each way
	firstStarts = 7   // of a server, each way
)

// uncached is a call that Serena answers at once and nobody can answer for it.
const uncached = `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"no_such_tool","arguments":{}}}`

// sharing measures what it costs to share one server, beside a server for each
// client, a client that speaks HTTP itself, and mcp-proxy.
func (b *bench) sharing(t *testing.T) {
	m := e2e.SerenaHome(t)
	m.Initialised(t)
	m.Set(t, e2e.PatientStart)
	m.Run = m.StartAs(t, b.ours, "run")
	m.Ready(t)
	project := e2e.NamedProject(t, "alpha")
	floor := b.startFloor(t)
	ours := append([]string{b.ours + "-connect", "connect", "--"}, e2e.SerenaCommand...)
	direct := append([]string{m.Path("bin", "serena")}, e2e.SerenaCommand[1:]...)
	start := func(line []string) (*e2e.Shim, float64) {
		began := time.Now()
		s := m.WrapAs(t, project, line)
		s.Handshake(t)
		return s, inMilliseconds(time.Since(began))
	}

	var byHand, ready, first []float64
	for range firstStarts {
		// What can be said without a server may come before it is there, so that
		// it has to do something as well.
		began := time.Now()
		s, after := start(direct)
		ready = append(ready, after)
		s.Send(t, fmt.Sprintf(uncached, 1))
		s.Await(t, "1")
		byHand = append(byHand, inMilliseconds(time.Since(began)))
		s.In.Close()
		<-s.Ended
		began = time.Now()
		s, _ = start(ours)
		s.Send(t, fmt.Sprintf(uncached, 1))
		s.Await(t, "1")
		first = append(first, inMilliseconds(time.Since(began)))
		s.Terminated(t)
		m.Does(t, "stop", "--all", "--force")
		noServerLeft(t, m)
	}
	t.Logf("in turns, ms: by stdio %.0f, ours %.0f", byHand, first)
	b.add(row{what: "first start of a server until a call is answered (today: stdio)", theirs: percentile(byHand, 50), ours: percentile(first, 50), unit: "ms", target: 1.05 * percentile(byHand, 50)})
	b.moves(t, m)

	var alone, shared []*e2e.Shim
	for range sharers {
		s, _ := start(direct)
		s.Overview(t, 1)
		alone = append(alone, s)
	}
	memory := proportional(t, m, m.Run.Cmd.Process.Pid)
	for _, s := range alone {
		s.In.Close()
		<-s.Ended
	}
	noServerLeft(t, m)
	var next, bare []float64
	for i := range sharers {
		if i > 0 {
			began := time.Now()
			s := m.WrapAs(t, project, floor.line)
			s.Send(t, `{"id":0}`)
			s.Await(t, "0")
			bare = append(bare, inMilliseconds(time.Since(began)))
			s.In.Close()
			<-s.Ended
		}
		s, after := start(ours)
		if i == 0 {
			s.Overview(t, 1)
		} else {
			next = append(next, after)
		}
		shared = append(shared, s)
	}
	for _, s := range shared {
		s.Overview(t, 2)
	}
	own := megabytes(t, m.Run.Cmd.Process.Pid, "smaps_rollup", "Pss")
	b.add(
		row{what: fmt.Sprintf("Pss of %d clients' servers (today: a server each) with shims, keeper and lamplighter", sharers), theirs: memory, ours: proportional(t, m, 0) + own, unit: "MB", target: 175 * 1.048576},
		row{what: "a further client ready, from the start of its shim, p50 (today: stdio, a server of its own)", theirs: percentile(ready, 50), ours: percentile(next, 50), unit: "ms", target: 10},
		row{what: "… (today: the floor, a relay from its start to its first echo)", theirs: percentile(bare, 50), ours: percentile(next, 50), unit: "ms", target: unknown},
	)
	pid := shared[0].Cmd.Process.Pid
	b.add(
		row{what: "shim of a client, of ten, VmRSS", theirs: unknown, ours: megabytes(t, pid, "status", "VmRSS"), unit: "MB", target: unknown},
		row{what: "shim of a client, of ten, Pss", theirs: unknown, ours: megabytes(t, pid, "smaps_rollup", "Pss"), unit: "MB", target: 2.5 * 1.048576},
	)
	b.add(b.sharedLatency(t, m, project, direct, shared[0], floor)...)
	m.Ends(t, os.Interrupt)
}

// moves measures activate_project of a client to a project whose server does not run,
// beside starting that server for itself.
func (b *bench) moves(t *testing.T, m *e2e.Manager) {
	projects := []string{e2e.NamedProject(t, "north"), e2e.NamedProject(t, "south")}
	command := []string{"serena", "start-mcp-server", "--agent-interface", "tools"}
	client := m.WrapAs(t, t.TempDir(), append([]string{b.ours + "-connect", "connect", "--"}, command...))
	client.Handshake(t)
	var direct, moved []float64
	for i := range 2 * firstStarts {
		project := projects[i%2]
		began := time.Now()
		s := m.WrapAs(t, project, append([]string{m.Path("bin", "serena")}, append(command[1:], "--project", project)...))
		s.Handshake(t)
		s.Calls(t, 1, "activate_project", map[string]any{"project": project, "session": "x"})
		direct = append(direct, inMilliseconds(time.Since(began)))
		s.In.Close()
		<-s.Ended
		began = time.Now()
		client.Calls(t, i+1, "activate_project", map[string]any{"project": project, "session": "x"})
		moved = append(moved, inMilliseconds(time.Since(began)))
		m.Does(t, "stop", "--all", "--force")
		apptest.Eventually(t, "no Serena is left", func() bool { return len(m.Serenas()) == 0 })
	}
	client.Terminated(t)
	noServerLeft(t, m)
	t.Logf("in turns, ms: by stdio %.0f, moves %.0f", direct, moved)
	b.add(row{what: "a move to a project whose server does not run (today: starting it by stdio)", theirs: percentile(direct, 50), ours: percentile(moved, 50), unit: "ms", target: 1.05 * percentile(direct, 50)})
}

// noServerLeft waits until nothing runs but lamplighter, which is not the binary of
// the other tests here.
func noServerLeft(t *testing.T, m *e2e.Manager) {
	t.Helper()
	apptest.Eventually(t, "no server is left", func() bool { return len(m.Servers()) == 1 })
}

// settled waits until no language server runs the go command, whose memory is that
// of a moment, or has just done so.
func settled(t *testing.T, m *e2e.Manager) {
	t.Helper()
	quiet := 0
	apptest.Eventually(t, "the language servers have loaded their projects", func() bool {
		quiet++
		for _, line := range m.Servers() {
			if name := filepath.Base(strings.Fields(line)[0]); name == "go" || name == "compile" || name == "cgo" {
				quiet = 0
			}
		}
		return quiet > 100
	})
}

// proportional is the memory of all that runs in a home besides lamplighter
// itself, in MB.
func proportional(t *testing.T, m *e2e.Manager, but int) float64 {
	t.Helper()
	settled(t, m)
	var sum float64
	by := map[string]float64{}
	for pid, line := range m.Servers() {
		if pid == but || pid == m.Run.Cmd.Process.Pid {
			continue
		}
		// What a language server runs for a moment may be gone.
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
		if err != nil {
			continue
		}
		_, rest, _ := strings.Cut(string(text), "\nPss:")
		var kilobytes float64
		if _, err := fmt.Sscan(rest, &kilobytes); err != nil {
			t.Fatal(err)
		}
		sum += kilobytes * 1024 / 1e6
		by[filepath.Base(strings.Fields(line)[0])] += kilobytes * 1024 / 1e6
	}
	t.Logf("Pss by program, MB: %v", by)
	return sum
}

// sharedLatency measures a call each way, in turns.
func (b *bench) sharedLatency(t *testing.T, m *e2e.Manager, project string, direct []string, s *e2e.Shim, f floor) []row {
	t.Helper()
	stdio := m.WrapAs(t, project, direct)
	stdio.Handshake(t)
	url := ""
	apptest.Eventually(t, "its address is known", func() bool {
		in := m.Becomes(t, "live_with_project")
		if full := m.Instance(t, *in.PID); full != nil && full.MCPURL != nil {
			url = *full.MCPURL
		}
		return url != ""
	})
	proxied := m.WrapAs(t, project, []string{filepath.Join(serenatest.Tools(t), "venv-mcp-proxy", "bin", "mcp-proxy"), "--transport", "streamablehttp", url})
	proxied.Handshake(t)
	byHTTP := rawHTTP(t, url)
	relay := m.WrapAs(t, project, f.line)

	by := map[string][]float64{}
	measure := func(name string, call func()) {
		began := time.Now()
		call()
		by[name] = append(by[name], inMilliseconds(time.Since(began)))
	}
	ask := func(s *e2e.Shim, line string, id int) {
		s.Send(t, fmt.Sprintf(line, id))
		s.Await(t, fmt.Sprint(id))
	}
	const ping = `{"jsonrpc":"2.0","id":%d,"method":"ping"}`
	for i := range sharedCalls {
		id := 1000 + i
		measure("stdio", func() { ask(stdio, uncached, id) })
		measure("HTTP", func() { byHTTP(fmt.Sprintf(uncached, id)) })
		measure("ours", func() { ask(s, uncached, id) })
		// What comes before leaves work behind, so that both have each place as often.
		both := []func(){
			func() { measure("ping", func() { ask(s, ping, 10_000+i) }) },
			func() { measure("echo", func() { ask(relay, ping, 10_000+i) }) },
		}
		measure("mcp-proxy", func() { ask(proxied, uncached, id) })
		both[i%2]()
		both[1-i%2]()
		measure("stdio ping", func() { ask(stdio, ping, 10_000+i) })
	}
	proxy := proxied.Cmd.Process.Pid
	median := func(name string) float64 { return percentile(by[name], 50) }
	return []row{
		{what: "shim that carries calls, VmRSS (today: mcp-proxy)", theirs: megabytes(t, proxy, "status", "VmRSS"), ours: megabytes(t, s.Cmd.Process.Pid, "status", "VmRSS"), unit: "MB", target: unknown},
		{what: "shim that carries calls, Pss (today: mcp-proxy)", theirs: megabytes(t, proxy, "smaps_rollup", "Pss"), ours: megabytes(t, s.Cmd.Process.Pid, "smaps_rollup", "Pss"), unit: "MB", target: 2.5 * 1.048576},
		// mcp-mux, which is not to be had here, is a target, too: it was 1.02 times HTTP.
		{what: "an uncached call, p50 (today: HTTP by itself)", theirs: median("HTTP"), ours: median("ours"), unit: "ms", target: 1.15 * median("HTTP")},
		{what: "an uncached call, p50 (today: stdio by itself)", theirs: median("stdio"), ours: median("ours"), unit: "ms", target: unknown},
		{what: "an uncached call, p50 (today: mcp-proxy)", theirs: median("mcp-proxy"), ours: median("ours"), unit: "ms", target: unknown},
		{what: "a ping, p50 (today: stdio by itself)", theirs: median("stdio ping"), ours: median("ping"), unit: "ms", target: 0.25},
		{what: "… (today: the floor, an echo through a relay and a socket)", theirs: median("echo"), ours: median("ping"), unit: "ms", target: unknown},
	}
}

// rawHTTP is an MCP session of net/http and nothing else. It returns what sends
// one request and reads the answer.
func rawHTTP(t *testing.T, url string) func(line string) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{IdleConnTimeout: 4 * time.Second}}
	t.Cleanup(client.CloseIdleConnections)
	session := ""
	post := func(line string) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(line))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		if session != "" {
			req.Header.Set("Mcp-Session-Id", session)
			req.Header.Set("MCP-Protocol-Version", "2025-03-26")
		}
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode >= http.StatusBadRequest {
			t.Fatalf("%s: %v %s", resp.Status, err, e2e.ExcerptOf(string(text)))
		}
		if session == "" {
			session = resp.Header.Get("Mcp-Session-Id")
		}
	}
	post(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}`)
	post(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return post
}

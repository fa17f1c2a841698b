//go:build real && bench && linux

package bench

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"lamplighter/app/e2e"
	facts "lamplighter/monitor/process"
	"lamplighter/monitor/serena/serenatest"
)

// How often a server is started by hand and by request, in turns.
const (
	serenaPairs = 9
	quickPairs  = 30
	keepers     = 10
)

// launch measures what it costs to be given a server, beside starting the same
// command by hand.
func (b *bench) launch(t *testing.T) {
	m := b.sessions(t)
	t.Run("Serena", func(t *testing.T) { b.launchSerena(t, m) })
	t.Run("quick", func(t *testing.T) { b.launchQuick(t, m) })
	t.Run("keepers", func(t *testing.T) { b.launchKeepers(t, m) })
	m.Ends(t, os.Interrupt)
}

// sessions is our program as it is shipped, which gives real Serena servers and
// stand-ins that are ready at once.
func (b *bench) sessions(t *testing.T) *e2e.Manager {
	t.Helper()
	tools := serenatest.Tools(t)
	m := e2e.ManagerHome(t)
	// Serena has run here before, and finds the language server of Go.
	m.Write(t, "language_backend: LSP\ngui_log_window: false\nweb_dashboard: true\nprojects: []\n", ".serena", "serena_config.yml")
	m.Env = append(m.Env,
		"PATH="+filepath.Join(tools, "bin")+":"+os.Getenv("PATH"), "GOFLAGS=-modcacherw", "GOPROXY=off", "GOCACHE="+os.Getenv("GOCACHE"),
		"SERENA_USAGE_REPORTING=false", "CI=true",
	)
	m.Set(t, fmt.Sprintf("session_start_seconds: 60\nsession_command: [%q]\ntemplates:\n%s",
		filepath.Join(tools, "venv", "bin", "serena"), e2e.Template(t, "acme", e2e.AcmeServer(t))))
	m.Run = m.StartAs(t, b.ours, "run")
	m.Ready(t)
	return m
}

// launchSerena measures the start and the end of real servers on a Go project.
func (b *bench) launchSerena(t *testing.T, m *e2e.Manager) {
	project := serenatest.GoProject(t, "alpha")
	command := learn(t, m, e2e.RequestBody(project))
	var theirs, ours, theirEnds, ourEnds []float64
	for i := range serenaPairs {
		t.Run(fmt.Sprintf("by hand %d", i), func(t *testing.T) {
			h, after := byHand(t, m, command)
			theirs = append(theirs, inMilliseconds(after))
			use(t, h.Asked)
			theirEnds = append(theirEnds, inMilliseconds(shutDown(t, m, h)))
		})
		t.Run(fmt.Sprintf("by request %d", i), func(t *testing.T) {
			s, after := timed(t, m, e2e.RequestBody(project))
			ours = append(ours, inMilliseconds(after))
			use(t, s)
			ourEnds = append(ourEnds, inMilliseconds(released(t, m, s)))
		})
	}
	t.Logf("in turns, ms: by hand %.0f, by request %.0f", theirs, ours)
	hand, request := percentile(theirs, 50), percentile(ours, 50)
	b.add(
		row{
			what:   fmt.Sprintf("session of Serena, request to answer, p50 of %d (today: by hand)", serenaPairs),
			theirs: hand, ours: request, unit: "ms", target: 1.1 * hand,
		},
		row{what: "… the quickest of each", theirs: slices.Min(theirs), ours: slices.Min(ours), unit: "ms", target: unknown},
		row{what: "… of the time by hand, p50", theirs: unknown, ours: 100 * request / hand, unit: "%", target: 110},
	)
	b.add(spread("release to tree gone (today: asked to shut down)", theirEnds, ourEnds, 2000)...)
}

// launchQuick measures what we add ourselves, with a server that takes no time.
func (b *bench) launchQuick(t *testing.T, m *e2e.Manager) {
	body := e2e.RequestOf(e2e.ProjectDir(t, "beta"), "acme")
	command := learn(t, m, body)
	var theirs, ours, ends []float64
	for i := range quickPairs {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			h, after := byHand(t, m, command)
			theirs = append(theirs, inMilliseconds(after))
			h.end()
			s, after := timed(t, m, body)
			ours = append(ours, inMilliseconds(after))
			ends = append(ends, inMilliseconds(released(t, m, s)))
		})
	}
	t.Logf("in turns, ms: by hand %.0f, by request %.0f", theirs, ours)
	hand, request := percentile(theirs, 50), percentile(ours, 50)
	b.add(
		row{
			what:   fmt.Sprintf("session of a server that is ready at once, p50 of %d (today: by hand)", quickPairs),
			theirs: hand, ours: request, unit: "ms", target: unknown,
		},
		row{what: "… what the manager adds", theirs: unknown, ours: request - hand, unit: "ms", target: 20},
		row{what: "… release to tree gone", theirs: unknown, ours: percentile(ends, 50), unit: "ms", target: unknown},
	)
}

// launchKeepers measures the process above each server while nothing happens.
func (b *bench) launchKeepers(t *testing.T, m *e2e.Manager) {
	s, _ := timed(t, m, e2e.RequestBody(serenatest.GoProject(t, "gamma")))
	use(t, s)
	keeper := keeperOf(t, s.ID)
	<-time.After(settling)
	idle := idleFor(t, window(t), keeper)
	b.add(
		row{what: "keeper above a server, VmRSS", theirs: unknown, ours: megabytes(t, keeper, "status", "VmRSS"), unit: "MB", target: 2.5},
		row{what: "… RssAnon", theirs: unknown, ours: megabytes(t, keeper, "status", "RssAnon"), unit: "MB", target: unknown},
		row{what: "… Pss", theirs: unknown, ours: megabytes(t, keeper, "smaps_rollup", "Pss"), unit: "MB", target: 2.5},
		row{what: "… CPU when idle", theirs: unknown, ours: idle[0].percent, unit: "%", target: unknown},
		row{what: "… moments awake when idle", theirs: unknown, ours: idle[0].awake, unit: "/s", target: unknown},
	)
	released(t, m, s)

	var all []e2e.Asked
	sum := 0.0
	body := e2e.RequestOf(e2e.ProjectDir(t, "delta"), "acme")
	for range keepers {
		s, _ := timed(t, m, body)
		all = append(all, s)
	}
	for _, s := range all {
		sum += megabytes(t, keeperOf(t, s.ID), "smaps_rollup", "Pss")
	}
	b.add(row{what: fmt.Sprintf("… Pss each, of %d", keepers), theirs: unknown, ours: sum / keepers, unit: "MB", target: unknown})
	for _, s := range all {
		released(t, m, s)
	}
}

// keeperOf is the keeper above a server.
func keeperOf(t *testing.T, pid int) int {
	t.Helper()
	for pid > 1 {
		if program, _, _ := strings.Cut(e2e.CommandLine(pid), " "); filepath.Base(program) == "lamplighter-connect" {
			return pid
		}
		pid = statusField(t, fmt.Sprintf("/proc/%d/status", pid), "PPid")
	}
	t.Fatal("the server has no keeper above it")
	return 0
}

// timed asks for a session, and tells how long the answer took.
func timed(t *testing.T, m *e2e.Manager, body string) (e2e.Asked, time.Duration) {
	t.Helper()
	began := time.Now()
	status, answer, err := e2e.Post(t.Context(), m.At("/request-session"), body)
	after := time.Since(began)
	if err != nil {
		t.Fatal(err)
	}
	s, err := e2e.Given(status, answer)
	if err != nil {
		t.Fatal(err)
	}
	if !initialised(t.Context(), address(s)) {
		t.Fatal("a server that was given does not take MCP")
	}
	return s, after
}

// released gives a session back, and tells how long it took until the answer.
// By then all of it must be gone.
func released(t *testing.T, m *e2e.Manager, s e2e.Asked) time.Duration {
	t.Helper()
	mark := variable(t, s.ID, launchMark)
	began := time.Now()
	m.Expect(t, "/release-session", e2e.ReleaseBody(s.ID), http.StatusOK, e2e.Released("terminated", s.ID))
	after := time.Since(began)
	left, err := facts.Marked(launchMark, mark)
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range left {
		t.Errorf("%v is left: %s", id, e2e.CommandLine(id.PID))
	}
	return after
}

// use is what a client does: it calls a tool that needs the language server.
func use(t *testing.T, s e2e.Asked) {
	t.Helper()
	e2e.Calls(t, s.Connect(t), "get_symbols_overview", map[string]any{"relative_path": "main.go"})
}

func address(s e2e.Asked) string { return "http://127.0.0.1:" + strconv.Itoa(s.Port) + "/mcp" }

// initialised reports whether a server answers the first request of MCP.
func initialised(ctx context.Context, address string) bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, strings.NewReader(
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}`))
	if err != nil {
		return false
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	client := http.Client{Timeout: e2e.Patience, Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	first := make([]byte, 1) // the answer may come as a stream that stays open
	n, _ := resp.Body.Read(first)
	return n == 1 && resp.StatusCode == http.StatusOK
}

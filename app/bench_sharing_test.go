//go:build real && bench && linux

package main

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
	m := serenaHome(t)
	m.initialised(t)
	m.set(t, patientStart)
	m.run = m.startAs(t, b.ours, "run")
	m.ready(t)
	project := namedProject(t, "alpha")
	ours := append([]string{b.ours + "-connect", "connect", "--"}, serenaCommand...)
	direct := append([]string{m.path("bin", "serena")}, serenaCommand[1:]...)
	start := func(line []string) (*shim, float64) {
		began := time.Now()
		s := m.wrapAs(t, project, line)
		s.handshake(t)
		return s, inMilliseconds(time.Since(began))
	}

	var byHand, ready, first []float64
	for range firstStarts {
		// What can be said without a server may come before it is there, so that
		// it has to do something as well.
		began := time.Now()
		s, after := start(direct)
		ready = append(ready, after)
		s.send(t, fmt.Sprintf(uncached, 1))
		s.await(t, "1")
		byHand = append(byHand, inMilliseconds(time.Since(began)))
		s.in.Close()
		<-s.ended
		began = time.Now()
		s, _ = start(ours)
		s.send(t, fmt.Sprintf(uncached, 1))
		s.await(t, "1")
		first = append(first, inMilliseconds(time.Since(began)))
		s.terminated(t)
		m.does(t, "stop", "--all", "--force")
		m.noServerLeft(t)
	}
	b.add(row{what: "first start of a server until a call is answered (today: stdio)", theirs: percentile(byHand, 50), ours: percentile(first, 50), unit: "ms", target: 1.05 * percentile(byHand, 50)})

	var alone, shared []*shim
	for range sharers {
		s, _ := start(direct)
		s.overview(t, 1)
		alone = append(alone, s)
	}
	memory := proportional(t, m, m.run.cmd.Process.Pid)
	for _, s := range alone {
		s.in.Close()
		<-s.ended
	}
	m.noServerLeft(t)
	var next []float64
	for i := range sharers {
		s, after := start(ours)
		if i == 0 {
			s.overview(t, 1)
		} else {
			next = append(next, after)
		}
		shared = append(shared, s)
	}
	for _, s := range shared {
		s.overview(t, 2)
	}
	own := megabytes(t, m.run.cmd.Process.Pid, "smaps_rollup", "Pss")
	b.add(
		row{what: fmt.Sprintf("Pss of %d clients' servers (ours: with shims, keeper and lamplighter)", sharers), theirs: memory, ours: proportional(t, m, 0) + own, unit: "MB", target: 175 * 1.048576},
		row{what: "a further client ready, p50", theirs: percentile(ready, 50), ours: percentile(next, 50), unit: "ms", target: 10},
	)
	pid := shared[0].cmd.Process.Pid
	b.add(
		row{what: "shim, VmRSS", theirs: unknown, ours: megabytes(t, pid, "status", "VmRSS"), unit: "MB", target: unknown},
		row{what: "shim, Pss", theirs: unknown, ours: megabytes(t, pid, "smaps_rollup", "Pss"), unit: "MB", target: 2.5 * 1.048576},
	)
	b.add(b.sharedLatency(t, m, project, direct, shared[0])...)
	m.ends(t, os.Interrupt)
}

// noServerLeft waits until nothing runs but lamplighter, which is not the binary of
// the other tests here.
func (m *manager) noServerLeft(t *testing.T) {
	t.Helper()
	apptest.Eventually(t, "no server is left", func() bool { return len(m.servers()) == 1 })
}

// proportional is the memory of all that runs in a home besides lamplighter
// itself.
func proportional(t *testing.T, m *manager, but int) float64 {
	t.Helper()
	var sum float64
	for pid := range m.servers() {
		if pid != but && pid != m.run.cmd.Process.Pid {
			// What a language server runs for a moment may be gone.
			if text, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid)); err == nil {
				_, rest, _ := strings.Cut(string(text), "\nPss:")
				var kilobytes float64
				if _, err := fmt.Sscan(rest, &kilobytes); err != nil {
					t.Fatal(err)
				}
				sum += kilobytes * 1024 / 1e6
			}
		}
	}
	return sum
}

// sharedLatency measures a call each way, in turns.
func (b *bench) sharedLatency(t *testing.T, m *manager, project string, direct []string, s *shim) []row {
	t.Helper()
	stdio := m.wrapAs(t, project, direct)
	stdio.handshake(t)
	url := ""
	apptest.Eventually(t, "its address is known", func() bool {
		in := m.becomes(t, "live_with_project")
		if full := m.instance(t, *in.PID); full != nil && full.MCPURL != nil {
			url = *full.MCPURL
		}
		return url != ""
	})
	proxied := m.wrapAs(t, project, []string{filepath.Join(serenatest.Tools(t), "venv-mcp-proxy", "bin", "mcp-proxy"), "--transport", "streamablehttp", url})
	proxied.handshake(t)
	byHTTP := rawHTTP(t, url)

	by := map[string][]float64{}
	measure := func(name string, call func()) {
		began := time.Now()
		call()
		by[name] = append(by[name], inMilliseconds(time.Since(began)))
	}
	ask := func(s *shim, line string, id int) {
		s.send(t, fmt.Sprintf(line, id))
		s.await(t, fmt.Sprint(id))
	}
	const ping = `{"jsonrpc":"2.0","id":%d,"method":"ping"}`
	for i := range sharedCalls {
		id := 1000 + i
		measure("stdio", func() { ask(stdio, uncached, id) })
		measure("HTTP", func() { byHTTP(fmt.Sprintf(uncached, id)) })
		measure("ours", func() { ask(s, uncached, id) })
		measure("mcp-proxy", func() { ask(proxied, uncached, id) })
		measure("ping", func() { ask(s, ping, 10_000+i) })
		measure("stdio ping", func() { ask(stdio, ping, 10_000+i) })
	}
	median := func(name string) float64 { return percentile(by[name], 50) }
	return []row{
		{what: "an uncached call, p50 (today: HTTP by itself)", theirs: median("HTTP"), ours: median("ours"), unit: "ms", target: 1.15 * median("HTTP")},
		{what: "an uncached call, p50 (today: stdio by itself)", theirs: median("stdio"), ours: median("ours"), unit: "ms", target: 0.88},
		{what: "an uncached call, p50 (today: mcp-proxy)", theirs: median("mcp-proxy"), ours: median("ours"), unit: "ms", target: unknown},
		{what: "a ping, p50 (today: stdio by itself)", theirs: median("stdio ping"), ours: median("ping"), unit: "ms", target: 0.25},
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
			t.Fatalf("%s: %v %s", resp.Status, err, excerptOf(string(text)))
		}
		if session == "" {
			session = resp.Header.Get("Mcp-Session-Id")
		}
	}
	post(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}`)
	post(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return post
}

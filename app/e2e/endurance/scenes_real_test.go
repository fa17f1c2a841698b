//go:build real && full && linux

package endurance

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"lamplighter/app/e2e"
	"lamplighter/monitor/policy"
	"lamplighter/monitor/serena/serenatest"
	"lamplighter/monitor/situation"
)

// The clients of the scenes: programs that start a server and hold its pipes, in
// the two ways in which assistants do.
func clients(t *testing.T) (python, node []string) {
	t.Helper()
	bin, err := filepath.Abs("../../../monitor/watch/testdata/bin")
	if err != nil {
		t.Fatal(err)
	}
	return []string{"python3", filepath.Join(bin, "client.py")},
		[]string{filepath.Join(serenatest.Tools(t), "node", "bin", "node"), filepath.Join(bin, "client.js")}
}

func scenes(t *testing.T) []scene {
	python, node := clients(t)
	const idle, tools = "idle_shutdown_minutes: 30\n", "--agent-interface"
	stdio := func(t *testing.T, s *stage, o serenatest.Options) *serenatest.Server {
		server := serenatest.Start(t, o)
		server.WaitReady(t)
		s.idle(t, "server", server)
		s.roles["client"] = server.PID
		return server
	}
	overHTTP := func(t *testing.T, s *stage, args ...string) *serenatest.Server {
		server := serenatest.Start(t, serenatest.Options{HTTP: true, Project: serenatest.GoProject(t, "alpha"), Context: "desktop-app", Args: args})
		server.WaitReady(t)
		s.idle(t, "server", server)
		return server
	}
	orphan := func(o func(t *testing.T) serenatest.Options) func(*testing.T, *stage) {
		return func(t *testing.T, s *stage) {
			server := stdio(t, s, o(t))
			if o(t).Project != "" {
				s.below(t, "language server", server.ServerPID, "gopls")
			}
			s.orphan(t, "server", server.PID)
		}
	}
	other := func(command func(testing.TB) []string, end bool) func(*testing.T, *stage) {
		return func(t *testing.T, s *stage) {
			server := serenatest.Start(t, serenatest.Options{Client: python, Command: command(t)})
			s.roles["client"] = server.PID
			s.await(t, "server", "seen", func(in seen) bool { return in.Client != nil && in.Client.PID == server.PID })
			if end {
				s.orphan(t, "server", server.PID)
			}
		}
	}
	project := func(o serenatest.Options) func(t *testing.T) serenatest.Options {
		dir := ""
		return func(t *testing.T) serenatest.Options {
			if dir == "" {
				dir = serenatest.GoProject(t, "alpha")
			}
			p := o
			p.Project = dir
			return p
		}
	}
	plain := func(o serenatest.Options) func(t *testing.T) serenatest.Options {
		return func(*testing.T) serenatest.Options { return o }
	}
	ended := []part{{"server", policy.End, policy.Orphans, "has ended"}}
	return []scene{
		{
			name: "idle-client-connected", story: "A client in Python has an idle Serena 2.1.0 over stdio. It would break if that ended.",
			settings: idle, later: 45 * time.Minute,
			play: func(t *testing.T, s *stage) {
				stdio(t, s, serenatest.Options{Client: python, Args: []string{tools, "tools"}})
			},
			expect: []part{{"server", policy.Notify, policy.Idle, "is connected"}, {"client", situation.Leave, "", ""}},
		},
		{
			name: "idle-client-connected-stop", story: "The same as idle-client-connected, but the user has set idle_shutdown_attached: stop. The client goes on.",
			settings: idle + "idle_shutdown_attached: stop\n", later: 45 * time.Minute,
			play: func(t *testing.T, s *stage) {
				stdio(t, s, serenatest.Options{Client: python, Args: []string{tools, "tools"}})
			},
			expect: []part{{"server", policy.End, policy.Idle, "no call for"}, {"client", situation.Leave, "", ""}},
		},
		{
			name: "fresh-install-idle", story: "Nothing is set. An idle server with a client is not even worth a notice.", later: 9 * time.Hour,
			play:   func(t *testing.T, s *stage) { stdio(t, s, serenatest.Options{Client: node, Context: "desktop-app"}) },
			expect: []part{{"server", situation.Leave, "", ""}, {"client", situation.Leave, "", ""}},
		},
		{
			name: "orphan-python", story: "A client in Python was killed while its server hung. Server and language server are left; nobody can reach them any more.",
			later: 15 * time.Minute, play: orphan(project(serenatest.Options{Client: python})),
			expect: append([]part{{"language server", policy.End, "", ""}}, ended...),
		},
		{
			name: "orphan-in-its-grace", story: "As orphan-python, four minutes after the client was killed: there is still time to keep it.",
			later: 4 * time.Minute, play: orphan(plain(serenatest.Options{Client: python})),
			expect: []part{{"server", policy.Wait, policy.Orphans, "has ended"}},
		},
		{
			name: "orphan-node-uvx", story: "A client in node, which makes socket pairs, was killed. Its server was started through uvx, which goes with it.",
			later: 15 * time.Minute,
			play: func(t *testing.T, s *stage) {
				server := stdio(t, s, serenatest.Options{Client: node, UVX: true})
				s.below(t, "wrapper", server.PID, "uv")
				s.orphan(t, "server", server.PID)
			},
			expect: append([]part{{"wrapper", policy.End, "", ""}}, ended...),
		},
		{
			name: "orphan-1.7.0", story: "Serena 1.7.0 keeps its pipes where they were; its client in node was killed.",
			later: 15 * time.Minute, play: orphan(plain(serenatest.Options{Client: node, Version: serenatest.Version17})), expect: ended,
		},
		{
			name: "orphan-1.5.3", story: "Serena 1.5.3; its client in Python was killed.",
			later: 15 * time.Minute, play: orphan(plain(serenatest.Options{Client: python, Version: serenatest.Version15})), expect: ended,
		},
		{
			name: "dead-language-server", story: "The language server of a Serena has died, which leaves pipes that nobody holds the other end of, as a dead client does. The client lives.",
			later: 15 * time.Minute,
			play: func(t *testing.T, s *stage) {
				server := stdio(t, s, serenatest.Options{Client: python, Project: serenatest.GoProject(t, "alpha")})
				gopls := s.below(t, "language server", server.ServerPID, "gopls")
				send(t, server.ServerPID, syscall.SIGSTOP) // or it would start another one
				send(t, gopls, syscall.SIGKILL)
				delete(s.roles, "language server")
				s.await(t, "server", "suspended", func(in seen) bool { return in.PID == server.ServerPID && in.Cause != nil && *in.Cause == "suspended" })
			},
			expect: []part{{"server", situation.Leave, "", ""}, {"client", situation.Leave, "", ""}},
		},
		{
			name: "client-gone-before", story: "The client had gone before anybody looked, so that its link was never recorded. That is a suspicion, and no evidence.",
			scan: true, later: 15 * time.Minute,
			play: func(t *testing.T, s *stage) {
				server := serenatest.Start(t, serenatest.Options{Client: python})
				server.WaitReady(t)
				e2e.Settled(t, server)
				send(t, server.ServerPID, syscall.SIGSTOP)
				send(t, server.PID, syscall.SIGKILL)
				s.await(t, "server", "alone", func(in seen) bool { return in.PID == server.ServerPID && in.Client == nil })
			},
			expect: []part{{"server", policy.Notify, policy.Orphans, "never seen"}},
		},
		{
			name: "http-idle", story: "Nobody has called anything over HTTP for 45 min, and no client keeps a connection.", settings: idle, later: 45 * time.Minute,
			play:   func(t *testing.T, s *stage) { overHTTP(t, s, tools, "tools") },
			expect: []part{{"server", policy.End, policy.Idle, "no call for"}},
		},
		{
			name: "http-in-use", story: "Nobody has called anything for 45 min, but a client keeps its connection to the MCP port.", settings: idle, later: 45 * time.Minute,
			play: func(t *testing.T, s *stage) {
				holdsOpen(t, overHTTP(t, s, tools, "tools"))
			},
			expect: []part{{"server", policy.Refuse, policy.Idle, "in use by"}},
		},
		{
			name: "http-busy", story: "A call has been running over HTTP for as long as anybody looked.", settings: idle, later: 45 * time.Minute,
			play: func(t *testing.T, s *stage) {
				server := overHTTP(t, s, tools, "tools")
				server.Initialize(t)
				answer := server.Begin(t, "execute_shell_command", map[string]any{"command": "sleep 8"})
				s.after = func() { answer(t) }
				s.await(t, "server", "busy", func(in seen) bool { return in.Busy != nil && *in.Busy })
			},
			expect: []part{{"server", situation.Leave, "", ""}},
		},
		{
			name: "http-repl", story: "An idle server with the interface REPL, in whose memory its clients may have left variables.", settings: idle, later: 45 * time.Minute,
			play:   func(t *testing.T, s *stage) { overHTTP(t, s, tools, "REPL") },
			expect: []part{{"server", policy.Notify, policy.Idle, "variables"}},
		},
		{
			name: "pinned-orphan", story: "An orphan that the user has pinned.", later: 15 * time.Minute,
			play: func(t *testing.T, s *stage) {
				server := stdio(t, s, serenatest.Options{Client: python})
				if code, _, said := s.Does(t, "pin", strconv.Itoa(server.ServerPID)); code != 0 {
					t.Fatalf("pin: exit status %d, %s", code, said)
				}
				s.orphan(t, "server", server.PID)
			},
			expect: []part{{"server", policy.Refuse, policy.Orphans, "pinned"}},
		},
		{
			name: "memory-npx", story: "The reference memory server through npx, with its client.", settings: idle, later: 9 * time.Hour,
			play:   other(serenatest.Memory, false),
			expect: []part{{"server", situation.Leave, "", ""}, {"client", situation.Leave, "", ""}},
		},
		{
			name: "memory-npx-orphan", story: "The reference memory server through npx; its client was killed while it hung.", later: 15 * time.Minute,
			play: other(serenatest.Memory, true), expect: ended,
		},
		{
			name: "time-uvx-orphan", story: "The reference time server through uvx; its client was killed while it hung.", later: 15 * time.Minute,
			play: other(serenatest.Time, true), expect: ended,
		},
		{
			name: "same-words", story: "A script of the user and a test run whose arguments hold every word of a server's command line.", settings: idle, later: 9 * time.Hour,
			play: func(t *testing.T, s *stage) {
				script := filepath.Join(t.TempDir(), "test_serena.py")
				if err := os.WriteFile(script, []byte("import threading; threading.Event().wait()\n"), 0o600); err != nil {
					t.Fatal(err)
				}
				for role, args := range map[string][]string{
					"script":   {script, "serena", "start-mcp-server", "--project", "alpha"},
					"one line": {"-c", "import threading; threading.Event().wait()", "serena", "start-mcp-server"},
				} {
					cmd := exec.Command("python3", args...)
					if err := cmd.Start(); err != nil {
						t.Fatal(err)
					}
					s.roles[role] = cmd.Process.Pid
					t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
				}
				stdio(t, s, serenatest.Options{Client: python, Args: []string{tools, "tools"}})
			},
			expect: []part{{"server", policy.Notify, policy.Idle, "is connected"}},
		},
	}
}

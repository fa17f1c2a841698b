//go:build real

package upstream

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/shirou/gopsutil/v3/process"

	"lamplighter/app/apptest"
	"lamplighter/monitor/serena/serenatest"
)

// sleeps tells whether a process is the command of the test.
func sleeps(pid int) bool {
	p, err := process.NewProcess(int32(pid))
	if err != nil {
		return false // it has ended
	}
	name, err := p.Name()
	return err == nil && name == "sleep"
}

// TestRealSerena: what is said of Serena here is so in each of its versions.
func TestRealSerena(t *testing.T) {
	for _, version := range []string{serenatest.Version15, serenatest.Version17, serenatest.Version} {
		t.Run(version, func(t *testing.T) {
			server := serenatest.Start(t, serenatest.Options{Version: version, HTTP: true, Context: "desktop-app", Project: serenatest.GoProject(t, "alpha")})
			server.WaitReady(t)
			o := Options{URL: server.MCPURL, Transport: transport(t)}
			var sessions []*Session
			for range 2 {
				s, answer, err := Open(t.Context(), o, []byte(hello))
				if err != nil || s == nil || s.Version() != "2025-06-18" || s.ID() == "" {
					t.Fatalf("opening: %+v, %s, %v", s, answer, err)
				}
				defer s.Close(context.Background())
				if err := s.Send(t.Context(), []byte(initialized), nil); err != nil {
					t.Fatalf("initialized: %v", err)
				}
				s.Listen()
				sessions = append(sessions, s)
			}
			first, second := sessions[0], sessions[1]
			if first.ID() == second.ID() {
				t.Error("two sessions are one")
			}
			answer := func(s *Session, line string) string {
				t.Helper()
				var b inbox
				if err := s.Send(t.Context(), []byte(line), b.take); err != nil {
					t.Fatalf("%s: %v", line, err)
				}
				got := b.all()
				if len(got) == 0 {
					t.Fatalf("%s is not answered", line)
				}
				return got[len(got)-1]
			}
			for _, s := range sessions {
				if got := answer(s, `{"jsonrpc":"2.0","id":"p","method":"ping"}`); !strings.Contains(got, `"id":"p"`) {
					t.Errorf("ping: %s", got)
				}
				if got := answer(s, `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`); !strings.Contains(got, "find_symbol") {
					t.Errorf("tools/list: %s", got)
				}
			}
			if got := answer(first, `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"list_dir","arguments":{"relative_path":".","recursive":false}}}`); !strings.Contains(got, "main.go") {
				t.Errorf("list_dir: %s", got)
			}

			// Long messages. Only 2.1.0 has a limit.
			for _, size := range []int{3 << 20, 5 << 20, 64 << 20} {
				line := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"no_such_tool","arguments":{"text":"%s"}}}`,
					bytes.Repeat([]byte("x"), size))
				want := "[fine]"
				if version == serenatest.Version && size > 4<<20 {
					want = "[refused]"
				}
				if err := first.Send(t.Context(), line, func([]byte) {}); fate(err) != want {
					t.Errorf("a message of %d bytes: %v, want %s", size, err, want)
				}
			}

			// The GET stream of the process before is still there: 409.
			third, err := Resume(t.Context(), o, second.ID(), second.Version())
			if err != nil {
				t.Fatalf("resuming: %v", err)
			}
			second.Detach(t.Context())
			if got := answer(third, `{"jsonrpc":"2.0","id":5,"method":"ping"}`); !strings.Contains(got, `"id":5`) {
				t.Errorf("ping in a resumed session: %s", got)
			}
			third.Close(t.Context())
			gone := func(id string) func() bool {
				return func() bool {
					_, err := Resume(t.Context(), o, id, "2025-06-18")
					if f := fate(err); f != "[unknown]" {
						t.Logf("resuming an ended session: %v", err)
						return false
					}
					return true
				}
			}
			apptest.Eventually(t, "the end of a session", gone(third.ID()))
			if !gone(strings.Repeat("0", 32))() {
				t.Error("a session that never was is resumed")
			}

			if got := answer(first, `{"jsonrpc":"2.0","id":6,"method":"server/discover","params":{}}`); !strings.Contains(got, `"error"`) {
				t.Errorf("server/discover: %s", got)
			}
			var b inbox
			c := first.Begin(t.Context(), []byte(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"execute_shell_command","arguments":{"command":"sleep 600"}}}`), b.take)
			<-c.Taken()
			apptest.Eventually(t, "the command", func() bool { return slices.ContainsFunc(server.Pids(), sleeps) })
			if err := server.Cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			<-c.Done()
			if fate(c.Err()) != "[lost]" {
				t.Errorf("what the server was killed at: %v, %q", c.Err(), b.all())
			}
			<-server.Done()
			// On a connection whose end was not noticed yet it is lost; not on a new one.
			apptest.Eventually(t, "it is known that there is no server", func() bool {
				err := first.Send(t.Context(), []byte(`{"jsonrpc":"2.0","id":8,"method":"ping"}`), nil)
				if f := fate(err); f != "[not sent]" && f != "[lost]" {
					t.Fatalf("without a server: %v", err)
				}
				return fate(err) == "[not sent]"
			})
		})
	}
}

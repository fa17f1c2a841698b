package mcp

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"lamplighter/app/apptest"
	"lamplighter/monitor/serena/serenatest"
)

// TestSerena: what is said of Serena here is so in each of its versions.
func TestSerena(t *testing.T) {
	for _, version := range serenatest.Versions {
		t.Run(version, func(t *testing.T) {
			server := serenatest.Replay(t, version, serenatest.Project)
			o := Options{URL: server.MCPURL, Transport: transport(t)}
			var sessions []*Server
			for range 2 {
				s, answer, err := Open(t.Context(), o, []byte(hello))
				if err != nil || s == nil || s.version != "2025-06-18" || s.id == "" {
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
			answer := func(s *Server, line string) string {
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
			if got := answer(first, string(call("3", "list_dir", `{"relative_path":".","recursive":false}`))); !strings.Contains(got, "main.go") {
				t.Errorf("list_dir: %s", got)
			}
			if got := answer(first, `{"jsonrpc":"2.0","id":6,"method":"server/discover","params":{}}`); !strings.Contains(got, `"error"`) {
				t.Errorf("server/discover: %s", got)
			}

			// Only 2.1.0 has a limit.
			want := "[fine]"
			if version == serenatest.Version {
				want = "[refused]"
			}
			long := fmt.Sprintf(`{"text":%q}`, bytes.Repeat([]byte("x"), 5<<20))
			if err := first.Send(t.Context(), call("4", "no_such_tool", long), func([]byte) {}); fate(err) != want {
				t.Errorf("a message of 5 MiB: %v, want %s", err, want)
			}

			server.Enter(serenatest.Changed)
			second.Close(t.Context())
			for _, id := range []string{second.id, strings.Repeat("0", 32)} {
				unknown, err := newServer(o)
				if err != nil {
					t.Fatal(err)
				}
				unknown.id, unknown.version = id, "2025-06-18"
				if _, err := unknown.openStream(t.Context()); fate(err) != "[unknown]" {
					t.Errorf("a session that there is not: %v", err)
				}
			}

			server.Close()
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

//go:build real

package serenatest

import (
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/shirou/gopsutil/v3/process"

	"lamplighter/monitor/programtest"
)

// gone checks, after the test that started it, that nothing of s is left.
func gone(t *testing.T, s *Server) {
	t.Helper()
	if left := s.Pids(); len(left) != 0 {
		t.Errorf("still running: %v", left)
	}
	if c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", s.DashboardPort)); err == nil {
		_ = c.Close()
		t.Errorf("something still listens on %d", s.DashboardPort)
	}
}

// names returns the names of the programs in the tree.
func names(t *testing.T, s *Server) []string {
	t.Helper()
	var all []string
	for _, pid := range s.Pids() {
		p := process.Process{Pid: int32(pid)}
		if name, err := p.Name(); err == nil {
			all = append(all, name)
		}
	}
	return all
}

func TestStdioWithLanguageServer(t *testing.T) {
	var s *Server
	t.Run("use", func(t *testing.T) {
		s = Start(t, Options{Project: GoProject(t, "alpha")})
		s.Initialize(t)
		if port := s.WaitReady(t); port < 24282 {
			t.Errorf("dashboard on port %d", port)
		}
		if s.ServerPID != s.PID || s.MCPURL != "" {
			t.Errorf("server %d of %d, MCP at %q", s.ServerPID, s.PID, s.MCPURL)
		}
		if found := s.Call(t, "find_symbol", map[string]any{"name_path_pattern": "greet"}); !strings.Contains(found, "main.go") {
			t.Errorf("find_symbol answered %q", found)
		}
		if all := names(t, s); !slices.Contains(all, "gopls") {
			t.Errorf("no language server in %v", all)
		}
	})
	gone(t, s)
}

func TestHTTPActivatesProject(t *testing.T) {
	var s *Server
	t.Run("use", func(t *testing.T) {
		s = Start(t, Options{HTTP: true})
		s.WaitReady(t)
		s.Initialize(t)
		// get_current_config is an error before a project is active.
		s.Call(t, "activate_project", map[string]any{"project": GoProject(t, "beta"), "session": "test"})
		if config := s.Call(t, "get_current_config", nil); !strings.Contains(config, "beta") {
			t.Errorf("the project is not active: %s", config)
		}
	})
	gone(t, s)
}

func TestThroughUVX(t *testing.T) {
	var s *Server
	t.Run("use", func(t *testing.T) {
		s = Start(t, Options{UVX: true, Project: GoProject(t, "gamma"), Context: "desktop-app"})
		s.WaitReady(t)
		s.Initialize(t)
		if s.ServerPID == s.PID {
			t.Errorf("no wrapper above the server %d", s.PID)
		}
		if config := s.Call(t, "get_current_config", nil); !strings.Contains(config, "gamma") {
			t.Errorf("the project is not active: %s", config)
		}
	})
	gone(t, s)
}

// TestClientInFront ends a client that leaves its server behind.
func TestClientInFront(t *testing.T) {
	var s *Server
	t.Run("use", func(t *testing.T) {
		client := filepath.Join(t.TempDir(), "client")
		if err := programtest.WriteFile(client, []byte("#!/bin/sh\n\"$@\" &\nwait\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		s = Start(t, Options{HTTP: true, Client: []string{client}})
		s.WaitReady(t)
		if s.ServerPID == s.PID {
			t.Errorf("no client above the server %d", s.PID)
		}
		if err := s.Cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		<-s.Done()
		for range 20 { // each gives it 2 s, which a busy machine may need
			if heartbeat(t.Context(), s.DashboardPort) {
				return
			}
		}
		t.Error("the server went with its client")
	})
	gone(t, s)
}

//go:build real

package serenatest

import (
	"slices"
	"strings"
	"testing"

	"github.com/shirou/gopsutil/v3/process"
)

// TestOtherServers: each answers a call, is found below its launcher and is
// gone afterwards.
func TestOtherServers(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		name    string
		command []string
		tool    string
		args    map[string]any
		answer  string
		server  string // in the command line of the server itself
	}{
		{"filesystem", Filesystem(t, dir), "list_allowed_directories", nil, dir, "mcp-server-filesystem"},
		{"memory", Memory(t), "read_graph", nil, "entities", "mcp-server-memory"},
		{"time", Time(t), "get_current_time", map[string]any{"timezone": "UTC"}, "datetime", "mcp-server-time"},
	} {
		var s *Server
		t.Run(c.name, func(t *testing.T) {
			s = Start(t, Options{Command: c.command})
			s.Initialize(t)
			if answer := s.Call(t, c.tool, c.args); !strings.Contains(answer, c.answer) {
				t.Errorf("%s answered %q", c.tool, answer)
			}
			pids := s.Pids()
			for _, pid := range pids {
				p := process.Process{Pid: int32(pid)}
				line, err := p.CmdlineSlice()
				t.Logf("%d: %q (%v)", pid, line, err)
			}
			if len(pids) < 2 || !slices.Contains(pids, s.ServerPID) || s.ServerPID == s.PID {
				t.Errorf("the server is %d of %v", s.ServerPID, pids)
			}
			p := process.Process{Pid: int32(s.ServerPID)}
			if line, err := p.CmdlineSlice(); err != nil || !slices.ContainsFunc(line, func(a string) bool { return strings.HasSuffix(a, c.server) }) {
				t.Errorf("the server %d runs %q (%v)", s.ServerPID, line, err)
			}
		})
		if left := s.Pids(); len(left) != 0 {
			t.Errorf("%s: still running: %v", c.name, left)
		}
	}
}

// TestOlderVersions: the same servers of older versions, over both transports.
func TestOlderVersions(t *testing.T) {
	for _, version := range []string{Version15, Version17} {
		var overStdio, overHTTP *Server
		t.Run(version, func(t *testing.T) {
			overStdio = Start(t, Options{Version: version, Project: GoProject(t, "delta"), Context: "desktop-app"})
			overStdio.WaitReady(t)
			overStdio.Initialize(t)
			if config := overStdio.Call(t, "get_current_config", nil); !strings.Contains(config, "delta") {
				t.Errorf("the project is not active: %s", config)
			}
			overHTTP = Start(t, Options{Version: version, HTTP: true})
			overHTTP.WaitReady(t)
			overHTTP.Initialize(t)
			overHTTP.Call(t, "activate_project", map[string]any{"project": GoProject(t, "epsilon")})
		})
		gone(t, overStdio)
		gone(t, overHTTP)
	}
}

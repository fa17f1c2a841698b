//go:build real

package main

import (
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"lamplighter/app/apptest"
	"lamplighter/monitor/process"
	"lamplighter/monitor/serena/serenatest"
)

// realServer is a real Serena with a language server, under a keeper.
type realServer struct {
	*serenatest.Server
	owner *running
	w     *world
}

func serve(t *testing.T, options serenatest.Options) *realServer {
	t.Helper()
	w := newWorld(t)
	owner := w.own(t)
	options.HTTP = true
	options.Project = serenatest.GoProject(t, "kept")
	options.Client = append([]string{program, "keep", "--dir", w.dir, "--alive", w.alive}, append(session, "--")...)
	s := serenatest.Start(t, options)
	s.WaitReady(t)
	s.Initialize(t)
	if found := s.Call(t, "find_symbol", map[string]any{"name_path_pattern": "greet"}); !strings.Contains(found, "main.go") {
		t.Fatalf("find_symbol answered %q", found)
	}
	kept := &realServer{s, owner, w}
	if all := kept.names(t); !slices.Contains(all, "gopls") {
		t.Fatalf("there is no language server in %v", all)
	}
	return kept
}

// names are the names of the programs that run.
func (s *realServer) names(t *testing.T) []string {
	t.Helper()
	var all []string
	for _, pid := range s.Pids() {
		if info, err := process.Read(pid); err == nil {
			all = append(all, info.Name)
		}
	}
	return all
}

// gone waits until nothing is left, and checks that the ports are closed.
func (s *realServer) gone(t *testing.T) {
	t.Helper()
	apptest.Eventually(t, "nothing is left", func() bool { return len(s.Pids()) == 0 })
	apptest.Eventually(t, "the keeper is reaped", func() bool {
		select {
		case <-s.Done():
			return true
		default:
			return false
		}
	})
	if conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", s.DashboardPort)); err == nil {
		conn.Close()
		t.Errorf("somebody listens on port %d", s.DashboardPort)
	}
}

func (s *realServer) signalKeeper(t *testing.T, sig os.Signal) {
	t.Helper()
	if err := s.Cmd.Process.Signal(sig); err != nil {
		t.Fatal(err)
	}
}

func TestRealServers(t *testing.T) {
	for name, options := range map[string]serenatest.Options{"direct": {}, "uvx": {UVX: true}} {
		for how, end := range map[string]func(*testing.T, *realServer){
			"terminated": func(t *testing.T, s *realServer) { s.signalKeeper(t, syscall.SIGTERM) },
			"orphaned":   func(_ *testing.T, s *realServer) { s.owner.kill() },
			"suspended": func(t *testing.T, s *realServer) {
				s.Signal(t, syscall.SIGSTOP)
				s.owner.kill()
			},
			"killed": func(t *testing.T, s *realServer) {
				s.Signal(t, syscall.SIGKILL)
				// Its language servers may go on; the keeper knows them.
				s.signalKeeper(t, syscall.SIGTERM)
			},
		} {
			t.Run(name+"/"+how, func(t *testing.T) {
				s := serve(t, options)
				end(t, s)
				s.gone(t)
				if log := s.w.log(t); !strings.Contains(log, "Serena") {
					t.Errorf("the log holds %.300q", log)
				}
			})
		}
	}
}

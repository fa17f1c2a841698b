//go:build real && unix

package watch

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/serena/serenatest"
)

// awaitPort waits for the instance whose dashboard is on port, or, when want
// accepts nil, for its end.
func awaitPort(t *testing.T, w *Watch, port int, what string, want func(*monitor.Instance) bool) *monitor.Instance {
	t.Helper()
	snapshots, cancel := w.Subscribe()
	defer cancel()
	deadline := time.After(2 * time.Minute)
	var last *monitor.Instance
	for {
		select {
		case s := <-snapshots:
			last = nil
			for i := range s.Instances {
				if s.Instances[i].Port == port {
					last = &s.Instances[i]
				}
			}
			if want(last) {
				return last
			}
		case <-deadline:
			t.Fatalf("%s: not seen, last %+v", what, last)
		}
	}
}

func TestRealSerenaOverStdio(t *testing.T) {
	w := watching(t)
	project := serenatest.GoProject(t, "alpha")
	s := serenatest.Start(t, serenatest.Options{Context: "desktop-app", Args: []string{"--agent-interface", "tools"}})
	port := s.WaitReady(t)
	in := awaitPort(t, w, port, "yellow", inState(monitor.StateNoProject, ""))
	if !strings.HasPrefix(in.Version, "2.1.0") || in.Context != "desktop-app" || len(in.Modes) == 0 || in.Client == nil || in.ToolCalls == nil || *in.ToolCalls != 0 ||
		in.Name() != "NO PROJECT" || in.RSSBytes < 50<<20 {
		t.Errorf("incomplete: %+v", in)
	}

	s.Initialize(t)
	s.Call(t, "activate_project", map[string]any{"project": project, "session": "test"})
	in = awaitPort(t, w, port, "green after activate_project", inState(monitor.StateProject, ""))
	if in.ProjectName != "alpha" || filepath.Base(in.ProjectRoot) != "alpha" {
		t.Errorf("project %q %q", in.ProjectName, in.ProjectRoot)
	}
	before := *awaitPort(t, w, port, "the call is counted", func(in *monitor.Instance) bool { return in != nil && in.ToolCalls != nil && *in.ToolCalls >= 1 }).ToolCalls
	s.Call(t, "get_symbols_overview", map[string]any{"relative_path": "main.go", "session": "test"})
	in = awaitPort(t, w, port, "another call is counted", func(in *monitor.Instance) bool { return in != nil && *in.ToolCalls > before })
	if time.Since(in.LastActivity) > time.Minute {
		t.Errorf("last activity %v", in.LastActivity)
	}
	awaitPort(t, w, port, "gopls belongs to its tree", func(in *monitor.Instance) bool { return in != nil && in.Processes > 1 })

	s.Signal(t, syscall.SIGSTOP)
	awaitPort(t, w, port, "suspended", inState(monitor.StateZombie, monitor.CauseSuspended))
	s.Signal(t, syscall.SIGCONT)
	awaitPort(t, w, port, "continued", inState(monitor.StateProject, ""))
	s.Signal(t, syscall.SIGKILL)
	awaitPort(t, w, port, "gone", gone)
}

func TestRealSerenaOverHTTP(t *testing.T) {
	w := watching(t)
	s := serenatest.Start(t, serenatest.Options{Project: serenatest.GoProject(t, "beta"), HTTP: true})
	port := s.WaitReady(t)
	in := awaitPort(t, w, port, "green, with its MCP address", func(in *monitor.Instance) bool {
		return in != nil && in.State == monitor.StateProject && in.MCPURL != ""
	})
	if !strings.HasSuffix(in.MCPURL, "/mcp") || in.ProjectName != "beta" || in.Context != "ide" {
		t.Errorf("incomplete: %+v", in)
	}
	once, err := Once(t.Context(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if found := once.Find(in.ID()); len(found) != 1 || found[0].State != monitor.StateProject || found[0].MCPURL != in.MCPURL {
		t.Errorf("one look finds the same: %+v", found)
	}
}

// Through uvx the chain of processes is one instance, whose client is above it.
func TestRealSerenaThroughUVX(t *testing.T) {
	w := watching(t)
	s := serenatest.Start(t, serenatest.Options{Project: serenatest.GoProject(t, "gamma"), UVX: true})
	port := s.WaitReady(t)
	in := awaitPort(t, w, port, "green", inState(monitor.StateProject, ""))
	if in.Identity.PID == s.PID || in.Processes < 2 || in.Client == nil || in.Client.PID == s.PID {
		t.Errorf("uvx is part of the tree, not the server and not the client: %+v, client %+v, uvx is %d", in, in.Client, s.PID)
	}
	same := 0
	for _, other := range w.Snapshot().Instances {
		if other.ProjectName == "gamma" {
			same++
		}
	}
	if same != 1 {
		t.Errorf("%d instances for one chain", same)
	}
}

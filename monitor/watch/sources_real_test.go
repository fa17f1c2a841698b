//go:build real && unix

package watch

import (
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/serena/serenatest"
)

// Versions of Serena that people still run are seen like the newest.
func TestRealOlderSerenas(t *testing.T) {
	for _, version := range []string{serenatest.Version15, serenatest.Version17} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			w := watching(t)
			s := serenatest.Start(t, serenatest.Options{Version: version, Context: "desktop-app"})
			port := s.WaitReady(t)
			awaitPort(t, w, port, "yellow", inState(monitor.StateNoProject, ""))
			s.Initialize(t)
			s.Call(t, "activate_project", map[string]any{"project": serenatest.GoProject(t, "old")})
			in := awaitPort(t, w, port, "green", inState(monitor.StateProject, ""))
			if in.ProjectName != "old" || in.Context != "desktop-app" || !strings.HasPrefix(in.Version, version) || in.Client == nil || !in.Recognised {
				t.Errorf("incomplete: %+v", in)
			}
			// A tool that runs holds up the overview of 1.5.3, and makes
			// nothing red.
			wait := s.Begin(t, "execute_shell_command", map[string]any{"command": "sleep 20"})
			awaitPort(t, w, port, "busy", func(in *monitor.Instance) bool { return in != nil && in.Busy != nil && *in.Busy })
			wait(t)
			awaitPort(t, w, port, "done, and never red", func(in *monitor.Instance) bool {
				if in != nil && in.State == monitor.StateZombie {
					t.Fatalf("red while a tool ran: %+v", in)
				}
				return in != nil && in.Busy != nil && !*in.Busy
			})
		})
	}
}

// Other servers are recognised by the built-in rules, below their launchers,
// with the client that started them.
func TestRealOtherServers(t *testing.T) {
	w := watching(t)
	for name, line := range map[string][]string{
		"filesystem": serenatest.Filesystem(t, t.TempDir()),
		"memory":     serenatest.Memory(t),
		"time":       serenatest.Time(t),
	} {
		t.Run(name, func(t *testing.T) {
			s := serenatest.Start(t, serenatest.Options{Command: line})
			s.Initialize(t)
			in := await(t, w, s.ServerPID, "yellow, with its launchers and its memory", time.Minute, func(in *monitor.Instance) bool {
				return in != nil && in.State == monitor.StateNoProject && in.Processes > 1 && in.RSSBytes > 20<<20
			})
			if in.Kind != name || in.Label() != "pid "+strconv.Itoa(s.ServerPID)+" - "+name || !in.Recognised || in.DashboardURL != "" ||
				in.Client == nil || in.Client.PID == s.PID {
				t.Errorf("%+v, client %+v", in, in.Client)
			}
			seen := 0
			for _, other := range w.Snapshot().Instances {
				if other.Kind == name {
					seen++
				}
			}
			if seen != 1 {
				t.Errorf("one chain of launchers is %d instances", seen)
			}
			s.Signal(t, syscall.SIGKILL)
			await(t, w, s.ServerPID, "gone", patience, gone)
		})
	}
}

// A client that is killed leaves a server behind that does not take note,
// because it hangs: recorded while the client lived, this is proof.
func TestRealClientKilledUnderAHungServer(t *testing.T) {
	bin, err := filepath.Abs("testdata/bin")
	if err != nil {
		t.Fatal(err)
	}
	node := filepath.Join(serenatest.Tools(t), "node", "bin", "node")
	for name, o := range map[string]serenatest.Options{
		"python":           {Client: []string{"python3", filepath.Join(bin, "client.py")}},
		"node":             {Client: []string{node, filepath.Join(bin, "client.js")}},
		"node through uvx": {Client: []string{node, filepath.Join(bin, "client.js")}, UVX: true},
	} {
		t.Run(name, func(t *testing.T) {
			w := watching(t)
			o.Context = "desktop-app"
			s := serenatest.Start(t, o)
			port := s.WaitReady(t)
			in := awaitPort(t, w, port, "yellow", inState(monitor.StateNoProject, ""))
			if in.Client == nil || in.Client.PID != s.PID {
				t.Fatalf("its client is pid %d: %+v", s.PID, in.Client)
			}
			if err := w.StillAlone(t.Context(), in.Identity); err == nil {
				t.Error("it is alone with its client")
			}
			s.Signal(t, syscall.SIGSTOP)
			awaitPort(t, w, port, "suspended", inState(monitor.StateZombie, monitor.CauseSuspended))
			if err := syscall.Kill(s.PID, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			in = awaitPort(t, w, port, "orphaned", inState(monitor.StateZombie, monitor.CauseOrphaned))
			if e := in.Evidence; !e.Orphaned || !e.ClientGone || e.AloneSince.IsZero() || e.Transport != "stdio" || !e.IdleSince.IsZero() {
				t.Errorf("%+v", e)
			}
			if err := w.StillAlone(t.Context(), in.Identity); err != nil {
				t.Errorf("looked at again: %v", err)
			}

			// A watch that comes later has only a suspicion, and says so.
			later := watching(t)
			await(t, later, in.Identity.PID, "suspected or suspended", time.Minute, func(in *monitor.Instance) bool {
				return in != nil && in.State == monitor.StateZombie && in.Cause != monitor.CauseOrphaned
			})
			if later.StillAlone(t.Context(), in.Identity) == nil {
				t.Error("a suspicion counts as proof")
			}
			// Continued, it takes note of its end.
			s.Signal(t, syscall.SIGCONT)
			awaitPort(t, w, port, "ended by itself", gone)
		})
	}
}

package stop

import (
	"context"
	"errors"
	"slices"
	"strings"
	"syscall"
	"testing"

	"lamplighter/monitor"
	"lamplighter/monitor/process"
	"lamplighter/monitor/serena"
)

// shell is a dashboard that says what its server does.
type shell struct {
	tasks []serena.Task
	asked func() // may be nil
}

func (s *shell) Queue(context.Context, int) ([]serena.Task, error) {
	if s.asked != nil {
		s.asked()
	}
	return s.tasks, nil
}
func (s *shell) Shutdown(context.Context, int) error { return nil }

// Of a Serena only what leads a session is ended, with all that it has started, also
// when it stands still.
func TestEndLanguageServers(t *testing.T) {
	g := newGroup(t)
	id := g.shell(`sleep 600 & setsid sh -c 'trap "" TERM; sleep 601 & sleep 602 & wait' & sleep 0.2; echo ready; wait; wait`)
	in := monitor.Instance{Identity: id, Kind: monitor.KindSerena, State: monitor.StateProject, Recognised: true}
	running := func() (sleeps int) {
		for _, pid := range g.alive() {
			if runs(pid) == "sleep" {
				sleeps++
			}
		}
		return sleeps
	}
	eventually(t, "all of it runs", func() bool { return running() == 3 })
	for _, pid := range g.alive() {
		if s, err := process.ReadStat(pid); err == nil && s.Session == pid {
			signalTo(t, pid, syscall.SIGSTOP)
			waitForState(t, pid, process.Stopped)
		}
	}
	rec := &recorder{}
	board := &shell{}
	l := New(Options{Limits: quick(), Record: rec.record, Dashboards: board})
	other := in
	other.Kind = "memory"
	if _, err := l.EndLanguageServers(t.Context(), other, Order{}); err == nil || running() != 3 {
		t.Errorf("of what is no Serena: %v, %d run", err, running())
	}
	other = in
	other.Identity.Start++
	if _, err := l.EndLanguageServers(t.Context(), other, Order{}); !errors.Is(err, process.ErrGone) || running() != 3 {
		t.Errorf("of another process: %v, %d run", err, running())
	}
	board.tasks = []serena.Task{{Name: "Task-3:ExecuteShellCommandTool", IsRunning: true}}
	if _, err := l.EndLanguageServers(t.Context(), in, Order{}); err == nil || running() != 3 {
		t.Errorf("while it runs a command: %v, %d run", err, running())
	}
	board.tasks = []serena.Task{{Name: "Task-4:FindSymbolTool", IsRunning: true}, {Name: "Task-5:ExecuteShellCommandTool"}}
	ended, err := l.EndLanguageServers(t.Context(), in, Order{By: "a test"})
	if err != nil || strings.Count(ended, "sleep (") != 2 {
		t.Errorf("%q, %v", ended, err)
	}
	if running() != 1 || !slices.Contains(g.alive(), id.PID) {
		t.Errorf("%d run, of %v", running(), g.alive())
	}
	if _, err := l.EndLanguageServers(t.Context(), in, Order{}); !errors.Is(err, ErrNoLanguageServer) {
		t.Errorf("again: %v", err)
	}
}

// slippery is this machine, where one process cannot be held.
type slippery struct {
	process.System
	pid int
}

func (s *slippery) Hold(id monitor.Identity) (process.HeldProcess, error) {
	if id.PID == s.pid {
		return nil, syscall.EMFILE
	}
	return s.System.Hold(id)
}

// All language servers of a Serena are ended, or none: not when one cannot be held, and
// not when the server itself has ended, so that they may be anybody's.
func TestLanguageServersTogether(t *testing.T) {
	g := newGroup(t)
	script := `setsid sleep 601 & setsid sleep 602 & sleep 0.2; echo ready; wait; wait`
	in := monitor.Instance{Identity: g.shell(script), Kind: monitor.KindSerena, Recognised: true}
	leaders := func() (pids []int) {
		for _, pid := range g.alive() {
			if s, err := process.ReadStat(pid); err == nil && s.Session == pid && runs(pid) == "sleep" {
				pids = append(pids, pid)
			}
		}
		return pids
	}
	eventually(t, "all of it runs", func() bool { return len(leaders()) == 2 })
	system, board := &slippery{process.Local(), leaders()[1]}, &shell{}
	l := New(Options{Limits: quick(), System: system, Dashboards: board})
	if ended, err := l.EndLanguageServers(t.Context(), in, Order{}); !errors.Is(err, syscall.EMFILE) || ended != "" || len(leaders()) != 2 {
		t.Errorf("one cannot be held: %q, %v, %v run", ended, err, leaders())
	}
	system.pid = 0
	if ended, err := l.EndLanguageServers(t.Context(), in, Order{}); err != nil || strings.Count(ended, "sleep (") != 2 || len(leaders()) != 0 {
		t.Errorf("%q, %v, %v run", ended, err, leaders())
	}

	in.Identity = g.shell(script)
	eventually(t, "all of it runs", func() bool { return len(leaders()) == 2 })
	board.asked = func() {
		signalTo(t, in.Identity.PID, syscall.SIGKILL)
		eventually(t, "the server has ended", func() bool { return !lives(in.Identity) })
	}
	if ended, err := l.EndLanguageServers(t.Context(), in, Order{}); !errors.Is(err, ErrNoLanguageServer) || ended != "" || len(leaders()) != 2 {
		t.Errorf("of a server that has ended: %q, %v, %v run", ended, err, leaders())
	}
}

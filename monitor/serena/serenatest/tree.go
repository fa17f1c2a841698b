package serenatest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/process"
)

// markName is the variable that tells the processes of a tree.
const markName = "LAMPLIGHTER_SERENATEST"

// Pids returns the processes of the server's tree that are alive now, in
// ascending order: what was started, and everything that came of it, also when
// its parent is gone or it has left the process group.
func (s *Server) Pids() []int {
	var pids []int
	for _, id := range s.tree() {
		pids = append(pids, id.PID)
	}
	return pids
}

func (s *Server) tree() []monitor.Identity {
	tree, _ := process.Marked(markName, s.mark) // those that can be looked at
	return tree
}

// innermost follows the tree of pids down from one of them, past clients and
// launchers, for as long as each has one child.
func innermost(pid int, pids []int) int {
	for {
		children := slices.DeleteFunc(slices.Clone(pids), func(child int) bool {
			s, err := process.ReadStat(child)
			return err != nil || s.Parent != pid
		})
		if len(children) != 1 {
			return pid
		}
		pid = children[0]
	}
}

// kill kills the whole tree, and waits until it is gone with all that it held open:
// a dying process loses its environment first.
func (s *Server) kill() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var dying []*process.Handle
	defer func() {
		for _, p := range dying {
			p.Close()
		}
	}()
	for tree := s.tree(); len(tree) > 0; tree = s.tree() {
		for _, id := range tree {
			p, err := process.Hold(id)
			if err == nil {
				dying = append(dying, p)
				err = p.Kill()
			}
			if err != nil && !errors.Is(err, process.ErrGone) {
				return err
			}
		}
		for _, p := range dying {
			if err := p.Wait(ctx); err != nil {
				return fmt.Errorf("process %d still runs after SIGKILL: %w", p.Identity().PID, err)
			}
		}
	}
	return nil
}

// Signal sends a signal to the server itself, not to what is above it. Its
// ServerPID must be known.
func (s *Server) Signal(t testing.TB, sig os.Signal) {
	t.Helper()
	if s.ServerPID == 0 {
		t.Fatal("which process is the server is not known before WaitReady, or Initialize")
	}
	p, err := os.FindProcess(s.ServerPID)
	if err == nil && !slices.Contains(s.Pids(), s.ServerPID) { // held by now, so that no other one gets its pid
		err = errors.Join(os.ErrProcessDone, p.Release())
	} else if err == nil {
		err = errors.Join(p.Signal(sig), p.Release())
	}
	if err != nil {
		t.Fatalf("sending %v to the server with pid %d: %v", sig, s.ServerPID, err)
	}
}

// Suspend suspends the server itself. It waits until the server stands still, which
// it may not when the signal has been sent.
func (s *Server) Suspend(t testing.TB) {
	t.Helper()
	tree := s.tree()
	i := slices.IndexFunc(tree, func(id monitor.Identity) bool { return id.PID == s.ServerPID })
	if i < 0 {
		t.Fatalf("the server with pid %d has ended, or is not known yet", s.ServerPID)
	}
	p, err := process.Hold(tree[i])
	if err == nil {
		defer p.Close()
		err = p.Suspend()
	}
	if err != nil {
		t.Fatalf("suspending the server with pid %d: %v", s.ServerPID, err)
	}
	stopped := func() bool {
		stat, err := process.ReadStat(s.ServerPID)
		return err == nil && stat.State == process.Stopped
	}
	if !poll(2*time.Millisecond, time.Minute, nil, stopped) {
		t.Fatalf("the server with pid %d does not stand still", s.ServerPID)
	}
}

package serenatest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/process"
	"lamplighter/monitor/serena"
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

// startBudget is far more than a start takes, on a busy machine too.
const startBudget = 3 * time.Minute

// WaitReady makes sure that the server's dashboard answers, and over HTTP that it
// listens for clients as well. From then on ServerPID, DashboardPort and MCPURL
// are known. It returns the port of the dashboard.
func (s *Server) WaitReady(t testing.TB) (dashboardPort int) {
	t.Helper()
	if s.DashboardPort == 0 {
		t.Fatalf("the server with pid %d has ended, or was not ready in time\n%s", s.PID, s.complaints())
	}
	return s.DashboardPort
}

// poll asks again and again whether something is so, until it is, until ended is closed
// or time is up. It reports whether it is so.
func poll(every, limit time.Duration, ended <-chan struct{}, so func() bool) bool {
	deadline, tick := time.After(limit), time.NewTicker(every)
	defer tick.Stop()
	for !so() {
		select {
		case <-tick.C:
		case <-ended:
			return false
		case <-deadline:
			return false
		}
	}
	return true
}

// look finds the process whose dashboard answers, and the other port on which
// that process listens.
func (s *Server) look(ctx context.Context) bool {
	listeners, _ := process.Listeners(s.Pids()) // nothing is known with an error
	for _, at := range listeners {
		probe, cancel := context.WithTimeout(ctx, 2*time.Second)
		err := serena.NewClient().Heartbeat(probe, int(at.Addr.Port()))
		cancel()
		if err != nil {
			continue
		}
		for _, other := range listeners {
			if other.PID == at.PID && other.Addr != at.Addr {
				s.MCPURL = fmt.Sprintf("http://127.0.0.1:%d/mcp", other.Addr.Port())
			}
		}
		if s.stdin != nil || s.MCPURL != "" {
			s.ServerPID, s.DashboardPort = at.PID, int(at.Addr.Port())
			return true
		}
	}
	return false
}

// kill kills the whole tree, and waits until it is gone with all that it held open:
// a dying process loses its environment first.
func (s *Server) kill() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for tree := s.tree(); len(tree) > 0; tree = s.tree() {
		for _, id := range tree {
			p, err := process.Hold(id)
			if err == nil {
				err = errors.Join(p.Kill(), p.Wait(ctx))
				p.Close()
			}
			if err != nil && !errors.Is(err, process.ErrGone) {
				return fmt.Errorf("killing process %d: %w", id.PID, err)
			}
		}
	}
	return nil
}

// Suspend suspends the server itself, not what is above it, and waits until it stands
// still, which it may not when the signal has been sent. Its ServerPID must be known.
func (s *Server) Suspend(t testing.TB) {
	t.Helper()
	s.signal(t, (*process.Handle).Suspend)
	stopped := func() bool {
		stat, err := process.ReadStat(s.ServerPID)
		return err == nil && stat.State == process.Stopped
	}
	if !poll(2*time.Millisecond, time.Minute, nil, stopped) {
		t.Fatalf("the server with pid %d does not stand still", s.ServerPID)
	}
}

// Continue lets the server go on after Suspend.
func (s *Server) Continue(t testing.TB) {
	t.Helper()
	s.signal(t, (*process.Handle).Continue)
}

func (s *Server) signal(t testing.TB, send func(*process.Handle) error) {
	t.Helper()
	tree := s.tree()
	i := slices.IndexFunc(tree, func(id monitor.Identity) bool { return id.PID == s.ServerPID })
	if i < 0 {
		t.Fatalf("the server with pid %d has ended, or is not known yet", s.ServerPID)
	}
	p, err := process.Hold(tree[i])
	if err == nil {
		defer p.Close()
		err = send(p)
	}
	if err != nil {
		t.Fatalf("sending a signal to the server with pid %d: %v", s.ServerPID, err)
	}
}

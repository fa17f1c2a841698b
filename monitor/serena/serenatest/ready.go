package serenatest

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"lamplighter/monitor/process"
	"lamplighter/monitor/serena"
)

// startBudget is far more than a start takes, on a busy machine too.
const startBudget = 3 * time.Minute

// WaitReady waits until the server's dashboard answers, and over HTTP until it
// listens for clients as well. From then on ServerPID, DashboardPort and MCPURL
// are known. It returns the port of the dashboard.
func (s *Server) WaitReady(t testing.TB) (dashboardPort int) {
	t.Helper()
	if s.other {
		t.Fatal("WaitReady is for Serena, which has a dashboard: call Initialize")
	}
	if !poll(25*time.Millisecond, startBudget, s.done, func() bool { return s.look(t.Context()) }) {
		t.Fatalf("the server with pid %d has ended, or was not ready in time: %v\n%s", s.PID, s.Cmd.ProcessState, tail(s.stderr, 4<<10))
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

// turn is held by the one Serena that may be looking for a port for its dashboard.
// It tries the ports from 24282 on and binds the first free one a moment later, so
// that of two that look at once one may be left without a dashboard.
var turn = make(chan struct{}, 1)

// The ports that a dashboard takes, and how long one is waited for that may have none.
const (
	firstPort = 24282
	lastPort  = firstPort + 100
	turnLimit = time.Minute
)

// startInTurn starts the server once the one before listens.
func (s *Server) startInTurn() error {
	if !s.turns {
		return s.start()
	}
	turn <- struct{}{}
	if err := s.start(); err != nil {
		<-turn
		return err
	}
	go func() {
		defer func() { <-turn }()
		poll(100*time.Millisecond, turnLimit, s.done, s.hasDashboard) // else it has none, or has ended
	}()
	return nil
}

func (s *Server) hasDashboard() bool {
	return slices.ContainsFunc(s.listeners(), func(l process.Listener) bool { return l.Addr.Port() >= firstPort && l.Addr.Port() <= lastPort })
}

// listeners are where the processes of the tree listen.
func (s *Server) listeners() []process.Listener {
	list, err := process.Listeners(s.Pids())
	if err != nil {
		return nil // nothing is known then
	}
	return list
}

// look finds the process whose dashboard answers, and the other port on which
// that process listens.
func (s *Server) look(ctx context.Context) bool {
	listeners, dashboard := s.listeners(), serena.NewClient()
	for _, at := range listeners {
		probe, cancel := context.WithTimeout(ctx, 2*time.Second)
		err := dashboard.Heartbeat(probe, int(at.Addr.Port()))
		cancel()
		if err != nil {
			continue
		}
		for _, other := range listeners {
			if other.PID == at.PID && other.Addr != at.Addr {
				s.MCPURL = fmt.Sprintf("http://127.0.0.1:%d/mcp", other.Addr.Port())
			}
		}
		s.ServerPID, s.DashboardPort = at.PID, int(at.Addr.Port())
		return !s.http || s.MCPURL != ""
	}
	return false
}

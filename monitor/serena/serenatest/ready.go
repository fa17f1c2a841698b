package serenatest

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"lamplighter/monitor/process"
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
	ctx, cancel := context.WithTimeout(t.Context(), startBudget)
	defer cancel()
	tick := time.NewTicker(25 * time.Millisecond)
	defer tick.Stop()
	for !s.look(ctx) {
		select {
		case <-tick.C:
		case <-s.done:
			t.Fatalf("the server ended before it was ready: %v\n%s", s.Cmd.ProcessState, tail(s.stderr, 4<<10))
		case <-ctx.Done():
			t.Fatalf("the server with pid %d was not ready in time: %v", s.PID, context.Cause(ctx))
		}
	}
	return s.DashboardPort
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
		limit, tick := time.After(turnLimit), time.NewTicker(100*time.Millisecond)
		defer tick.Stop()
		for !s.hasDashboard() {
			select {
			case <-tick.C:
			case <-s.done:
				return
			case <-limit:
				return
			}
		}
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
	listeners := s.listeners()
	for _, at := range listeners {
		if !heartbeat(ctx, at.Addr.Port()) {
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

// heartbeat reports whether a dashboard answers on the port.
func heartbeat(ctx context.Context, port uint16) bool {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("http://127.0.0.1:%d/heartbeat", port), nil)
	if err != nil {
		return false
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	var answer struct{ Status string }
	return resp.StatusCode == http.StatusOK && json.NewDecoder(resp.Body).Decode(&answer) == nil && answer.Status == "alive"
}

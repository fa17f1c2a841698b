package serenatest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"testing"
	"time"

	gopsnet "github.com/shirou/gopsutil/v3/net"
	"github.com/shirou/gopsutil/v3/process"
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
	for _, pid := range s.Pids() {
		for _, port := range listening(pid) {
			if port >= firstPort && port <= lastPort {
				return true
			}
		}
	}
	return false
}

// look finds the process whose dashboard answers, and the other port on which
// that process listens.
func (s *Server) look(ctx context.Context) bool {
	for _, pid := range s.Pids() {
		ports := listening(pid)
		for i, port := range ports {
			if !heartbeat(ctx, port) {
				continue
			}
			for j, other := range ports {
				if i != j {
					s.MCPURL = fmt.Sprintf("http://127.0.0.1:%d/mcp", other)
				}
			}
			s.ServerPID, s.DashboardPort = pid, port
			return !s.http || s.MCPURL != ""
		}
	}
	return false
}

// listening returns the TCP ports on which a process listens.
func listening(pid int) []int {
	conns, err := gopsnet.ConnectionsPid("tcp", int32(pid))
	if err != nil {
		return nil
	}
	var ports []int
	for _, c := range conns {
		if c.Status == "LISTEN" {
			ports = append(ports, int(c.Laddr.Port))
		}
	}
	return ports
}

// heartbeat reports whether a dashboard answers on the port.
func heartbeat(ctx context.Context, port int) bool {
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

// Signal sends a signal to the server itself, not to what is above it. Its
// ServerPID must be known. With SIGSTOP it waits until the server stands still,
// which it may not when the signal has been sent.
func (s *Server) Signal(t testing.TB, sig os.Signal) {
	t.Helper()
	if s.ServerPID == 0 {
		t.Fatal("which process is the server is not known before WaitReady, or Initialize")
	}
	p, err := holdMarked(s.ServerPID, s.mark)
	if err == nil {
		err = errors.Join(p.Signal(sig), p.Release())
	}
	if err != nil {
		t.Fatalf("sending %v to the server with pid %d: %v", sig, s.ServerPID, err)
	}
	if suspends(sig) {
		s.awaitStop(t)
	}
}

func (s *Server) awaitStop(t testing.TB) {
	t.Helper()
	deadline := time.After(time.Minute)
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	p := &process.Process{Pid: int32(s.ServerPID)}
	for {
		status, err := p.Status()
		if err == nil && slices.Contains(status, process.Stop) {
			return
		}
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("the server with pid %d does not stand still: %v, %v", s.ServerPID, status, err)
		}
	}
}

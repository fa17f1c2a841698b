//go:build real && linux

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"

	"lamplighter/app/apptest"
	"lamplighter/monitor"
	facts "lamplighter/monitor/process"
	"lamplighter/monitor/serena/serenatest"
)

// Listed is what the test reads of an instance on the command line.
type Listed struct {
	ID, Kind, Label, State string
	PID                    int
	Port                   *int
	Version, Cause         *string
	Processes              int
	Busy                   *bool
	Client                 *struct {
		PID  int
		Name string
	}
}

// Listing is status --json.
func (h *Home) Listing(t *testing.T) map[int]Listed {
	t.Helper()
	code, out, errs := h.Does(t, "status", "--json")
	var answer struct{ Instances []Listed }
	if err := json.Unmarshal([]byte(out), &answer); err != nil || code != 0 {
		t.Fatalf("%v, exit status %d, %s", err, code, errs)
	}
	all := make(map[int]Listed)
	for _, in := range answer.Instances {
		all[in.PID] = in
	}
	return all
}

// Page is the address of the global dashboard, as the background process tells
// it.
func (h *Home) Page(t *testing.T) string {
	t.Helper()
	client := http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", h.Socket())
		},
	}}
	var status struct{ Address string }
	apptest.Eventually(t, "the page is served", func() bool {
		resp, err := client.Get("http://lamplighter/global-dashboard/status")
		if err != nil {
			return false
		}
		defer resp.Body.Close()
		return resp.StatusCode == http.StatusOK && json.NewDecoder(resp.Body).Decode(&status) == nil && status.Address != ""
	})
	return status.Address
}

// Knows waits until a server is listed.
func (h *Home) Knows(t *testing.T, s *serenatest.Server) {
	t.Helper()
	s.WaitReady(t)
	apptest.Eventually(t, fmt.Sprintf("the server with pid %d is listed", s.ServerPID), func() bool {
		in, found := h.Listing(t)[s.ServerPID]
		return found && in.Port != nil
	})
}

// Soon are settings that let the policies act within seconds.
const Soon = "orphan_grace_minutes: 0.05\nidle_shutdown_minutes: 0.1\n"

// Happened are the events of that kind, as the command line tells them.
func (h *Home) Happened(t *testing.T, kind monitor.EventKind) []monitor.Event {
	t.Helper()
	code, out, errs := h.Does(t, "events", "--json")
	if code != 0 {
		t.Fatalf("events: exit status %d, %s", code, errs)
	}
	var some []monitor.Event
	for line := range strings.Lines(out) {
		var e monitor.Event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if e.Kind == kind {
			some = append(some, e)
		}
	}
	return some
}

// Policed is a background process with these settings.
func Policed(t *testing.T, settings string) *Home {
	t.Helper()
	h := NewHome(t)
	h.Write(t, settings, ".config", "lamplighter", "config.yaml")
	h.Background(t, "run")
	t.Cleanup(func() {
		if t.Failed() {
			_, said, _ := h.Does(t, "events")
			t.Logf("it logged:\n%s\nand told:\n%s", h.Log(t), said)
		}
	})
	return h
}

// Settled waits until a Serena has moved its conversation.
func Settled(t *testing.T, server *serenatest.Server) {
	t.Helper()
	apptest.Eventually(t, "the server has moved its conversation", func() bool {
		return HasMoved(IdentityOf(t, server.ServerPID))
	})
}

// HasMoved reports whether a Serena that moves its conversation away from descriptors
// 0 and 1 has moved both: between the two nobody can tell what its ends are.
func HasMoved(server monitor.Identity) bool {
	for fd := range 2 {
		at, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", server.PID, fd))
		if err != nil || strings.HasPrefix(at, "pipe:") || strings.HasPrefix(at, "socket:") {
			return false
		}
	}
	return true
}

// IdentityOf is who a living process is.
func IdentityOf(t *testing.T, pid int) monitor.Identity {
	t.Helper()
	st, err := facts.ReadStat(pid)
	if err != nil {
		t.Fatal(err)
	}
	return st.Identity
}

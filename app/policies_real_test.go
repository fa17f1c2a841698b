//go:build real && linux

package main

import (
	"bufio"
	"encoding/json"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"lamplighter/app/apptest"
	"lamplighter/monitor"
	facts "lamplighter/monitor/process"
	"lamplighter/monitor/serena/serenatest"
)

// soon are settings that let the policies act within seconds.
const soon = "orphan_grace_minutes: 0.05\nidle_shutdown_minutes: 0.1\n"

// happened are the events of that kind, as the command line tells them.
func (h *home) happened(t *testing.T, kind monitor.EventKind) []monitor.Event {
	t.Helper()
	code, out, errs := h.does(t, "events", "--json")
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

// tells waits for an event of that kind about a server, with a part of its words.
func (h *home) tells(t *testing.T, kind monitor.EventKind, s *serenatest.Server, part string) {
	t.Helper()
	apptest.Eventually(t, string(kind)+": "+part, func() bool {
		return slices.ContainsFunc(h.happened(t, kind), func(e monitor.Event) bool {
			return e.PID == s.ServerPID && strings.Contains(e.Detail, part)
		})
	})
}

// policed is a background process with these settings.
func policed(t *testing.T, settings string) *home {
	t.Helper()
	h := newHome(t)
	h.write(t, settings, ".config", "lamplighter", "config.yaml")
	h.background(t, "run")
	t.Cleanup(func() {
		if t.Failed() {
			_, said, _ := h.does(t, "events")
			t.Logf("it logged:\n%s\nand told:\n%s", h.log(t), said)
		}
	})
	return h
}

// settled waits until a Serena has moved its conversation.
func settled(t *testing.T, server *serenatest.Server) {
	t.Helper()
	apptest.Eventually(t, "the server has moved its conversation", func() bool {
		return hasMoved(identityOf(t, server.ServerPID))
	})
}

// hasMoved tells whether a Serena that moves its conversation away from descriptors
// 0 and 1 has moved both: between the two nobody can tell what its ends are.
func hasMoved(server monitor.Identity) bool {
	ends, err := facts.Descriptors(server)
	return err == nil && !slices.ContainsFunc(ends, func(d facts.Descriptor) bool { return d.FD <= 1 && d.Kind != 0 })
}

// identityOf is who a living process is.
func identityOf(t *testing.T, pid int) monitor.Identity {
	t.Helper()
	st, err := facts.ReadStat(pid)
	if err != nil {
		t.Fatal(err)
	}
	return st.Identity
}

// A client that is killed while its server hangs leaves an orphan, which ends
// after the grace period with all that it has started, whatever language the
// client was written in and whatever stands between.
func TestPolicyEndsOrphans(t *testing.T) {
	bin, err := filepath.Abs("../monitor/watch/testdata/bin")
	if err != nil {
		t.Fatal(err)
	}
	node := filepath.Join(serenatest.Tools(t), "node", "bin", "node")
	h := policed(t, soon)
	servers := map[string]*serenatest.Server{}
	for name, o := range map[string]serenatest.Options{
		"python": {
			Client: []string{"python3", filepath.Join(bin, "caller.py")}, Project: serenatest.GoProject(t, "alpha"),
			Args: []string{"--agent-interface", "tools"},
		},
		"node through uvx": {Client: []string{node, filepath.Join(bin, "client.js")}, UVX: true, Context: "desktop-app"},
	} {
		s := serenatest.Start(t, o)
		s.WaitReady(t)
		servers[name] = s
		apptest.Eventually(t, name+": its client is known", func() bool {
			in, ok := h.listing(t)[s.ServerPID]
			return ok && in.Client != nil && in.Client.PID == s.PID && in.State != string(monitor.StateStarting)
		})
	}
	pinned, other := servers["python"], servers["node through uvx"]
	if line, err := bufio.NewReader(pinned.Stdout).ReadString('\n'); line != "answered\n" {
		t.Fatalf("its client says %q, %v", line, err)
	}
	if all := pinned.Pids(); len(all) < 3 { // with the client
		t.Fatalf("no language server in %v", all)
	}
	if code, _, errs := h.does(t, "pin", strconv.Itoa(pinned.ServerPID)); code != 0 {
		t.Fatal(errs)
	}
	for _, s := range servers {
		settled(t, s)
		s.Signal(t, syscall.SIGSTOP) // and stays so: to be orphaned outranks it
		if err := syscall.Kill(s.PID, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
	}
	apptest.Eventually(t, "all of it has ended", func() bool { return len(other.Pids()) == 0 })
	h.tells(t, monitor.EventEnded, other, "")

	h.tells(t, monitor.EventPolicyRefused, pinned, "pinned")
	if len(pinned.Pids()) < 2 {
		t.Errorf("of the pinned one %v is left", pinned.Pids())
	}
	if code, _, errs := h.does(t, "unpin", strconv.Itoa(pinned.ServerPID)); code != 0 {
		t.Fatal(errs)
	}
	apptest.Eventually(t, "unpinned it ends too, its language server with it", func() bool { return len(pinned.Pids()) == 0 })
}

// A server over HTTP that nobody calls ends after its time, and never while a
// call runs; one over stdio whose client is connected is only told of.
func TestPolicyEndsIdleServers(t *testing.T) {
	h := policed(t, "idle_shutdown_minutes: none\n")
	attached := serenatest.Start(t, serenatest.Options{Args: []string{"--agent-interface", "tools"}})
	attached.WaitReady(t)
	busy := serenatest.Start(t, serenatest.Options{
		HTTP: true, Context: "desktop-app", Project: serenatest.GoProject(t, "alpha"), Args: []string{"--agent-interface", "tools"},
	})
	busy.WaitReady(t)
	busy.Initialize(t)
	answer := busy.Begin(t, "execute_shell_command", map[string]any{"command": "sleep 30 && echo slept"})
	// Its time would run from its start on until then, however long that takes.
	apptest.Eventually(t, "it is known to be at work", func() bool {
		in := h.listing(t)[busy.ServerPID]
		return in.Busy != nil && *in.Busy
	})
	h.settings(t, "idle_shutdown_minutes: 0.2\n")
	h.tells(t, monitor.EventNotified, attached, "is connected")
	if text := answer(t); !strings.Contains(text, "slept") {
		t.Errorf("the call under way came to %q", text)
	}
	apptest.Eventually(t, "it ends when nobody calls any more", func() bool { return len(busy.Pids()) == 0 })
	h.tells(t, monitor.EventEnded, busy, "")
	if len(attached.Pids()) == 0 {
		t.Error("a server was ended under its client")
	}
}

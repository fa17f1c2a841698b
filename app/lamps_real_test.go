//go:build real && linux

package main

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"

	"lamplighter/app/apptest"
	"lamplighter/icons"
	"lamplighter/monitor"
	"lamplighter/monitor/serena/serenatest"
	"lamplighter/tray/traytest"
)

// TestThreeLampsOnTheDesktop is the main job, with nothing made up but the
// panel: the built program, a session bus, and three real Serena servers in
// three states.
func TestThreeLampsOnTheDesktop(t *testing.T) {
	h := newHome(t)
	address, _ := traytest.StartBus(t)
	h.env = append(h.env, "DBUS_SESSION_BUS_ADDRESS="+address)
	panel := traytest.NewHost(t, address)
	panel.Appear(t)
	run := h.background(t, "run")
	sender := panel.AwaitItem(t)
	menu := func() string { return panel.Labels(t, sender) }
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("it logged:\n%s", h.log(t))
		}
	})
	apptest.Eventually(t, "an empty menu that helps", func() bool { return strings.Contains(menu(), "No servers yet\nStart your assistant") })

	green := serenatest.Start(t, serenatest.Options{Project: serenatest.GoProject(t, "alpha"), Args: []string{"--agent-interface", "tools"}})
	greenPort := green.WaitReady(t)
	apptest.Eventually(t, "the first lamp is green", func() bool { return strings.Contains(menu(), strconv.Itoa(greenPort)+" - alpha · ") })
	yellow := serenatest.Start(t, serenatest.Options{HTTP: true})
	yellowPort := yellow.WaitReady(t)
	red := serenatest.Start(t, serenatest.Options{Project: serenatest.GoProject(t, "über_größe")})
	redPort := red.WaitReady(t)
	apptest.Eventually(t, "three lamps", func() bool {
		text := menu()
		return strings.HasPrefix(text, "3 servers") && strings.Contains(text, strconv.Itoa(yellowPort)+" - NO PROJECT") && strings.Contains(text, "über__größe")
	})
	red.Signal(t, syscall.SIGSTOP)
	apptest.Eventually(t, "the third is red and comes first", func() bool {
		lines := strings.Split(menu(), "\n")
		return strings.HasPrefix(lines[0], "3 servers, 1 needs attention") &&
			strings.HasPrefix(lines[1], strconv.Itoa(redPort)+" - über__größe · suspended")
	})
	for port, mark := range map[int]icons.Mark{greenPort: icons.Project, yellowPort: icons.NoProject, redPort: icons.Zombie} {
		if line := panel.Find(t, sender, strconv.Itoa(port)); line.Icon != string(icons.Item(string(mark))) {
			t.Errorf("%q does not have the mark %s", line.Label, mark)
		}
	}

	t.Run("status", func(t *testing.T) { statusOfThree(t, h, greenPort, yellowPort, redPort) })
	t.Run("click", func(t *testing.T) {
		panel.Event(t, sender, panel.Find(t, sender, strconv.Itoa(greenPort)).ID, "clicked")
		want := "http://127.0.0.1:" + strconv.Itoa(greenPort) + "/dashboard/index.html"
		apptest.Eventually(t, "the browser shows the dashboard", func() bool {
			text, err := os.ReadFile(h.path("opened"))
			return err == nil && strings.Contains(string(text), want)
		})
	})
	t.Run("logs", func(t *testing.T) {
		status, out, _ := h.does(t, "logs", "alpha")
		if status != 0 {
			t.Errorf("exit status %d", status)
		}
		apptest.Contains(t, out, "Initializing Serena MCP server")
	})
	t.Run("quiet", func(t *testing.T) { staysQuiet(t, panel, sender, h, run) })

	red.Signal(t, syscall.SIGCONT)
	apptest.Eventually(t, "the third is green again", func() bool {
		// While it moves to its place it is in none for a moment.
		return slices.ContainsFunc(panel.Lines(t, sender), func(l traytest.Line) bool {
			return strings.HasPrefix(l.Label, strconv.Itoa(redPort)) && l.Icon == string(icons.Item(string(icons.Project)))
		})
	})
	yellow.Signal(t, syscall.SIGKILL)
	apptest.Eventually(t, "the killed one is gone", func() bool {
		return strings.HasPrefix(menu(), "2 servers") && !strings.Contains(menu(), strconv.Itoa(yellowPort))
	})

	panel.Vanish(t)
	panel.Appear(t)
	sender = panel.AwaitItem(t)
	apptest.Eventually(t, "it is back on the new panel", func() bool { return strings.HasPrefix(menu(), "2 servers") })

	panel.Conn.Object(sender, traytest.MenuPath).Call(traytest.MenuIface+".Event", dbus.FlagNoReplyExpected,
		panel.Find(t, sender, "Quit").ID, "clicked", dbus.MakeVariant(int32(0)), uint32(0))
	if status := run.status(t); status != 0 {
		t.Errorf("after Quit: exit status %d: %s", status, run.err.String())
	}
	for _, s := range []*serenatest.Server{green, red} {
		select {
		case <-s.Done():
			t.Error("a server ended when we did")
		default:
		}
	}
}

// statusOfThree reads the same three from the command line, with and without
// the background process.
func statusOfThree(t *testing.T, h *home, green, yellow, red int) {
	alone := &home{dir: h.dir, env: append(append([]string{}, h.env...), "LAMPLIGHTER_CONTROL_SOCKET="+filepath.Join(t.TempDir(), "none"))}
	want := map[int]string{
		green: string(monitor.StateProject), yellow: string(monitor.StateNoProject) + " MCP",
		red: string(monitor.StateZombie) + " " + string(monitor.CauseSuspended),
	}
	for name, from := range map[string]*home{"asking the background process": h, "by itself": alone} {
		// A single look gives a server a second, which a busy machine may miss.
		apptest.Eventually(t, name+": three states", func() bool { return maps.Equal(statesOf(t, from, name), want) })
	}
	code, out, _ := h.does(t, "status")
	if code != 0 {
		t.Errorf("exit status %d", code)
	}
	apptest.Contains(t, out, strconv.Itoa(green)+" - alpha", strconv.Itoa(yellow)+" - NO PROJECT", "über_größe", "suspended")
}

// statesOf are the states that status tells, by the ports, with whether there is
// an address for clients.
func statesOf(t *testing.T, from *home, name string) map[int]string {
	t.Helper()
	code, out, errs := from.does(t, "status", "--json")
	var answer struct {
		Instances []struct {
			Port         int
			State, Cause *string
			Version      *string
			MCPURL       *string `json:"mcp_url"`
			Client       *struct{ Name string }
		}
	}
	if err := json.Unmarshal([]byte(out), &answer); err != nil || code != 0 {
		t.Fatalf("%s: %v, exit status %d, %s", name, err, code, errs)
	}
	states := make(map[int]string)
	for _, in := range answer.Instances {
		states[in.Port] = *in.State
		if in.Cause != nil {
			states[in.Port] += " " + *in.Cause
		}
		if in.Client == nil {
			states[in.Port] += " and no client"
		}
		if in.MCPURL != nil {
			states[in.Port] += " MCP"
		}
	}
	return states
}

// staysQuiet checks that nothing is sent on the bus while nothing changes,
// over a full round of probes.
func staysQuiet(t *testing.T, panel *traytest.Host, sender string, h *home, run *process) {
	signals := make(chan *dbus.Signal, 100)
	panel.Conn.Signal(signals)
	defer panel.Conn.RemoveSignal(signals)
	if err := panel.Conn.AddMatchSignal(dbus.WithMatchSender(sender)); err != nil {
		t.Fatal(err)
	}
	defer panel.Conn.RemoveMatchSignal(dbus.WithMatchSender(sender))
	// Memory may still settle after the start; a step of it is a change.
	const calm = 35 * time.Second
	deadline := time.After(6 * time.Minute) // they also move when a busy machine answers late
	quiet := time.NewTimer(calm)
	defer quiet.Stop()
	for {
		select {
		case s := <-signals:
			t.Logf("still moving: %s", s.Name)
			quiet.Reset(calm)
		case <-quiet.C:
			return
		case <-run.ended:
			t.Fatal("it ended")
		case <-deadline:
			t.Fatal("it never came to rest")
		}
	}
}

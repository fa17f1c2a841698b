//go:build real && linux

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"lamplighter/app/apptest"
	"lamplighter/monitor"
	"lamplighter/monitor/serena/serenatest"
	"lamplighter/tray/traytest"
)

// listed is what the test reads of an instance on the command line.
type listed struct {
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

// listing is status --json.
func (h *home) listing(t *testing.T) map[int]listed {
	t.Helper()
	code, out, errs := h.does(t, "status", "--json")
	var answer struct{ Instances []listed }
	if err := json.Unmarshal([]byte(out), &answer); err != nil || code != 0 {
		t.Fatalf("%v, exit status %d, %s", err, code, errs)
	}
	all := make(map[int]listed)
	for _, in := range answer.Instances {
		all[in.PID] = in
	}
	return all
}

// TestEveryServerIsSeenAndStopped has nothing made up but the panel: two
// versions of Serena and three other servers, and each of them is ended by the
// user's word, at the menu or on the command line.
func TestEveryServerIsSeenAndStopped(t *testing.T) {
	h := newHome(t)
	address, _ := traytest.StartBus(t)
	h.env = append(h.env, "DBUS_SESSION_BUS_ADDRESS="+address)
	panel := traytest.NewHost(t, address)
	panel.Appear(t)
	h.background(t, "run")
	sender := panel.AwaitItem(t)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("it logged:\n%s", h.log(t))
		}
	})

	today := serenatest.Start(t, serenatest.Options{Project: serenatest.GoProject(t, "alpha"), Args: []string{"--agent-interface", "tools"}, UVX: true})
	old := serenatest.Start(t, serenatest.Options{Version: serenatest.Version15, Project: serenatest.GoProject(t, "beta")})
	files := serenatest.Start(t, serenatest.Options{Command: serenatest.Filesystem(t, t.TempDir())})
	memory := serenatest.Start(t, serenatest.Options{Command: serenatest.Memory(t)})
	clock := serenatest.Start(t, serenatest.Options{Command: serenatest.Time(t)})
	for _, s := range []*serenatest.Server{today, old} {
		s.WaitReady(t)
		s.Initialize(t)
	}
	for _, s := range []*serenatest.Server{files, memory, clock} {
		s.Initialize(t)
	}
	servers := map[string]*serenatest.Server{"alpha": today, "beta": old, "filesystem": files, "memory": memory, "time": clock}
	var all map[int]listed
	for name, s := range servers {
		apptest.Eventually(t, name+", its client and its project are known", func() bool {
			all = h.listing(t)
			in, found := all[s.ServerPID]
			return found && strings.HasSuffix(in.Label, " - "+name) && in.Client != nil && in.Client.PID == os.Getpid() && in.Processes >= 1 &&
				(in.Kind != "serena" || in.State == string(monitor.StateProject))
		})
	}
	apptest.Eventually(t, "five servers and nothing else", func() bool { all = h.listing(t); return len(all) == 5 })
	if v := all[old.ServerPID].Version; v == nil || !strings.HasPrefix(*v, serenatest.Version15) {
		t.Errorf("version %v", v)
	}
	// What the registry says to other programs.
	apptest.Eventually(t, "the registry has both Serenas and nothing else", func() bool {
		text, err := os.ReadFile(h.path(".serena", "instances.json"))
		var file struct{ Instances map[string]struct{ Port int } }
		return err == nil && json.Unmarshal(text, &file) == nil && len(file.Instances) == 2 &&
			file.Instances[strconv.Itoa(today.ServerPID)].Port == today.DashboardPort && file.Instances[strconv.Itoa(old.ServerPID)].Port == old.DashboardPort
	})

	// The order is checked and explained before anything is done.
	code, out, errs := h.does(t, "stop", "--dry-run", "alpha", strconv.Itoa(memory.ServerPID))
	if code != 0 || errs != "" {
		t.Errorf("dry run: exit status %d, %q", code, errs)
	}
	apptest.Contains(t, out, "alpha", "memory")
	if code, _, errs = h.does(t, "stop", "beta", "no-such-server"); code != 1 {
		t.Errorf("an unknown server: exit status %d", code)
	}
	apptest.Contains(t, errs, "no-such-server")
	if len(h.listing(t)) != 5 {
		t.Fatal("something was ended without an order")
	}

	gone := func(name string) {
		t.Helper()
		s := servers[name]
		apptest.Eventually(t, name+" and its whole tree are gone", func() bool { return len(s.Pids()) == 0 })
		apptest.Eventually(t, name+" has left the list", func() bool {
			_, left := h.listing(t)[s.ServerPID]
			return !left
		})
	}
	// At the menu.
	var stop traytest.Line
	var since time.Time // when it came to its place: a click on a line that has just moved is no order
	apptest.Eventually(t, "the menu offers to stop it, and its line has settled", func() bool {
		for _, line := range panel.Find(t, sender, "Stop").Lines {
			if strings.Contains(line.Label, " - alpha") {
				if line.ID != stop.ID {
					stop, since = line, time.Now()
				}
				return time.Since(since) > 2*time.Second
			}
		}
		stop = traytest.Line{}
		return false
	})
	panel.Event(t, sender, panel.Find(t, sender, "Stop").ID, "opened")
	panel.Event(t, sender, stop.ID, "clicked")
	gone("alpha")
	// On the command line: by pid, by project, by rule; one of them suspended.
	memory.Signal(t, syscall.SIGSTOP)
	for name, what := range map[string]string{"memory": strconv.Itoa(memory.ServerPID), "beta": "beta", "time": "time", "filesystem": all[files.ServerPID].ID} {
		code, out, errs := h.does(t, "stop", what)
		if code != 0 {
			t.Errorf("stop %s: exit status %d, %q %q", what, code, out, errs)
		}
		apptest.Contains(t, out, "Ended: ", name)
		gone(name)
	}
	apptest.Eventually(t, "the menu is empty", func() bool { return strings.Contains(panel.Labels(t, sender), "No servers yet") })
	apptest.Eventually(t, "the registry is empty", func() bool {
		text, err := os.ReadFile(h.path(".serena", "instances.json"))
		return err == nil && !strings.Contains(string(text), "port")
	})
	for _, what := range []string{"started", "project activated", "stop ordered", "the menu", "asked to end", "stopped", "alpha", "filesystem"} {
		apptest.Eventually(t, "the events tell of "+what, func() bool {
			code, out, _ := h.does(t, "events")
			return code == 0 && strings.Contains(out, what)
		})
	}
}

// TestSerenaRegistersItself uses Serena's own push: a program that runs Serena
// as a library, which nothing else could find.
func TestSerenaRegistersItself(t *testing.T) {
	h := newHome(t)
	h.background(t, "run")
	config := "web_dashboard_interface: tray_manager\nprojects: []\n"
	if err := os.MkdirAll(filepath.Join(h.dir, "s", ".serena"), 0o700); err != nil {
		t.Fatal(err)
	}
	h.write(t, config, "s", ".serena", "serena_config.yml")
	h.write(t, "from serena.cli import top_level\ntop_level(['start-mcp-server', '--context', 'desktop-app'])\n", "s", "mine.py")
	python := filepath.Join(serenatest.Tools(t), "venv", "bin", "python")
	s := serenatest.Start(t, serenatest.Options{
		Command: []string{python, h.path("s", "mine.py")}, Home: h.path("s"), Env: []string{"SERENA_HOME=" + h.path("s", ".serena")},
	})
	s.Initialize(t)
	var mine listed
	apptest.Eventually(t, "it is shown", func() bool {
		mine = h.listing(t)[s.ServerPID]
		return mine.State == string(monitor.StateNoProject) && mine.Port != nil
	})
	// No rule knows its command line, so nobody may end it.
	code, out, errs := h.does(t, "stop", "--force", strconv.Itoa(s.ServerPID))
	if code != 1 || len(s.Pids()) == 0 {
		t.Errorf("stop --force: exit status %d, %q %q", code, out, errs)
	}
	apptest.Contains(t, out+errs, "Not ended")
	select {
	case <-s.Done():
		t.Error("it was ended")
	default:
	}
}

//go:build real && linux

package desktop

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"lamplighter/app/apptest"
	"lamplighter/app/e2e"
	"lamplighter/icons"
	"lamplighter/monitor"
	"lamplighter/monitor/programtest"
	"lamplighter/monitor/serena/serenatest"
	"lamplighter/tray/traytest"
)

// Clients as most assistants are: each starts the command line that follows and
// holds its ends, which are pipes with Python and sockets with Node.
const (
	pythonClient = "import subprocess, sys, threading\n" +
		"p = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)\n" +
		"threading.Event().wait()"
	nodeClient = "require('child_process').spawn(process.argv[1], process.argv.slice(2), {stdio: ['pipe', 'pipe', 'inherit']});" +
		"setInterval(() => {}, 1 << 30)"
)

// instance is one server of status --json.
type instance struct {
	PID          int
	Port         *int
	Kind, State  string
	Cause        *string
	Version      *string
	Client       *struct{ PID int }
	ProjectRoot  *string `json:"project_root"`
	DashboardURL *string `json:"dashboard_url"`
}

// statusOf is what status says of a pid, the zero value: nothing.
func statusOf(t *testing.T, h *e2e.Home, pid int) instance {
	t.Helper()
	status, out, said := h.Does(t, "status", "--json")
	var list struct{ Instances []instance }
	if err := json.Unmarshal([]byte(out), &list); err != nil || status != 0 {
		t.Fatalf("%d, %v: %s%s", status, err, out, said)
	}
	for _, in := range list.Instances {
		if in.PID == pid {
			return in
		}
	}
	return instance{}
}

// installed is a copy of the program that came with a package.
func installed(t *testing.T, h *e2e.Home) string {
	t.Helper()
	program := h.Path("usr", "bin", "lamplighter")
	h.Write(t, "deb\n", "usr", "share", "lamplighter", "package")
	if err := os.Mkdir(filepath.Dir(program), 0o700); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(e2e.Program)
	if err != nil {
		t.Fatal(err)
	}
	if err := programtest.WriteFile(program, text, 0o700); err != nil {
		t.Fatal(err)
	}
	return program
}

// TestThreeLampsOnThePanel is the main job with nothing made up: the program as a
// package installs it, the panel and the notifications of a real desktop, and
// real servers of each version in each state, with the clients that hold them.
func TestThreeLampsOnThePanel(t *testing.T) {
	h := e2e.NewHome(t)
	d := startDisplay(t)
	h.Env = append(h.Env, "DBUS_SESSION_BUS_ADDRESS="+d.address, d.display)
	port := apptest.FreePort(t)
	h.Settings(t, e2e.PortSetting(port))
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("it logged:\n%s", h.Log(t))
		}
	})
	run := h.StartAs(t, installed(t, h), "run")

	// The first start after installing is told once, with a button.
	d.press("welcome", 0, 1)
	apptest.Eventually(t, "the button opens the page", func() bool { return slices.Contains(h.Opened(t), e2e.PageAt(port)) })
	d.hasIcon()
	empty := d.atRest("icon")

	green := serenatest.Start(t, serenatest.Options{Project: serenatest.GoProject(t, "alpha"), Client: []string{"python3", "-c", pythonClient}})
	yellow := serenatest.Start(t, serenatest.Options{Version: serenatest.Version15})
	red := serenatest.Start(t, serenatest.Options{Version: serenatest.Version17, Client: []string{"node", "-e", nodeClient, "--"}})
	other := serenatest.Start(t, serenatest.Options{Command: serenatest.Memory(t)})
	for _, s := range []*serenatest.Server{green, yellow, red} {
		s.WaitReady(t)
	}
	other.Initialize(t)

	panel := traytest.NewHost(t, d.address) // reads what the real one shows
	item := fmt.Sprintf("org.kde.StatusNotifierItem-%d-1", run.Cmd.Process.Pid)
	line := func(pid int) (found traytest.Line) {
		for _, l := range panel.Lines(t, item) {
			if strings.HasPrefix(l.Label, fmt.Sprintf("%d - ", pid)) {
				return l
			}
		}
		return traytest.Line{}
	}
	shows := func(s *serenatest.Server, mark icons.Mark, label string) {
		t.Helper()
		apptest.Eventually(t, fmt.Sprintf("%s, as %s", label, mark), func() bool {
			l := line(s.ServerPID)
			return strings.Contains(l.Label, label) && l.Icon == string(icons.Item(mark))
		})
	}
	shows(green, icons.Project, "alpha")
	shows(yellow, icons.NoProject, "NO PROJECT")
	shows(other, icons.Live, "memory")
	for s, want := range map[*serenatest.Server]string{green: serenatest.Version, yellow: serenatest.Version15, red: serenatest.Version17} {
		apptest.Eventually(t, "it knows Serena "+want, func() bool {
			in := statusOf(t, h, s.ServerPID)
			return in.Version != nil && strings.HasPrefix(*in.Version, want) && in.Client != nil
		})
	}
	red.Suspend(t)
	shows(red, icons.Zombie, "suspended")
	apptest.Contains(t, panel.Labels(t, item), "4 servers")
	if in := statusOf(t, h, green.ServerPID); in.Client == nil || in.Client.PID != green.PID {
		t.Errorf("alpha's client is pid %d: %+v", green.PID, in)
	}
	if in := statusOf(t, h, other.ServerPID); in.Kind != "memory" || in.Client == nil || in.Client.PID != os.Getpid() {
		t.Errorf("the chain of npx, sh and node is %+v", in)
	}

	dashboard := *statusOf(t, h, green.ServerPID).DashboardURL
	d.openMenu(empty, "menu")
	lines := panel.Lines(t, item)
	down := slices.IndexFunc(lines, func(l traytest.Line) bool { return strings.Contains(l.Label, "alpha") })
	d.pointer(append([]string{"key"}, strings.Fields(strings.Repeat("Down ", chosen(lines[:down])+1)+"Return")...)...)
	apptest.Eventually(t, "the line opens the dashboard", func() bool { return slices.Contains(h.Opened(t), dashboard) })
	d.closeMenu(empty)
	// The browser's own words stay away from ours.
	status, out, said := h.Does(t, "open", "alpha")
	if status != 0 || out != dashboard+"\n" || said != "" {
		t.Errorf("open: %d, %q, %q", status, out, said)
	}

	// A panel that restarts shows the icon and the lines of its submenus again.
	d.endPanel()
	d.startPanel()
	d.hasIcon()
	for _, name := range []string{"Stop", "Recent"} {
		lines := panel.Lines(t, item)
		from := slices.IndexFunc(lines, func(l traytest.Line) bool { return l.Label == name })
		d.openSubmenu(empty, name, chosen(lines[from:]))
	}

	clientsAreKilled(t, h, green, red)
	// Stop in the menu asks before it takes a server from the client that holds it.
	asks := func() {
		t.Helper()
		apptest.Eventually(t, "it asks", func() bool {
			for _, l := range panel.Find(t, item, "Stop").Lines {
				if strings.HasPrefix(l.Label, strconv.Itoa(other.ServerPID)) {
					panel.Event(t, item, l.ID, "clicked")
				}
			}
			return len(d.bubbles()) > 0
		})
	}
	tree := other.Pids()
	asks()
	if d.press("cancel", 1, 2); len(tree) < 3 || len(other.Pids()) != len(tree) {
		t.Errorf("cancelled; of the chain %d is left %d", tree, other.Pids())
	}
	asks()
	d.press("stop", 0, 2)
	apptest.Eventually(t, "the whole chain has ended", func() bool { return len(other.Pids()) == 0 })

	d.endBus()
	apptest.Eventually(t, "it goes on, on a desktop that does", func() bool {
		_, _, said := h.Does(t, "status")
		return strings.Contains(said, "the session bus has gone")
	})
	d.logout()
	if got := run.Status(t); got != 0 {
		t.Errorf("after the logout: exit status %d, said %q", got, run.Err.String())
	}
	if log := h.Log(t); strings.Contains(log, "in time") || strings.Count(log, "msg=stopped") != 1 {
		t.Error("the end was not clean")
	}
	if !e2e.Alive(yellow.ServerPID) {
		t.Error("a server that others started has ended with us")
	}
}

// chosen counts the lines that keys can choose.
func chosen(lines []traytest.Line) (n int) {
	for _, l := range lines {
		if l.Enabled && !l.Separator {
			n++
		}
	}
	return n
}

// clientsAreKilled kills the clients of two servers that are suspended, and so
// cannot end by themselves: before, they are in use, and then orphans, which end
// with all that is theirs.
func clientsAreKilled(t *testing.T, h *e2e.Home, servers ...*serenatest.Server) {
	t.Helper()
	for _, s := range servers {
		s.Suspend(t)
		apptest.Eventually(t, "it is suspended", func() bool {
			in := statusOf(t, h, s.ServerPID)
			return in.Cause != nil && *in.Cause == string(monitor.CauseSuspended)
		})
	}
	apptest.Eventually(t, "gopls runs", func() bool {
		return slices.ContainsFunc(servers[0].Pids(), func(pid int) bool { return strings.Contains(e2e.CommandLine(pid), "gopls") })
	})
	if status, out, said := h.Does(t, "stop", "--orphans"); status != 0 || !e2e.Alive(servers[0].ServerPID) || !e2e.Alive(servers[1].ServerPID) {
		t.Fatalf("with their clients: %d, %s%s", status, out, said)
	}
	for _, s := range servers {
		if err := syscall.Kill(s.PID, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		apptest.Eventually(t, "it is an orphan", func() bool {
			in := statusOf(t, h, s.ServerPID)
			return in.Cause != nil && *in.Cause == string(monitor.CauseOrphaned)
		})
	}
	status, out, said := h.Does(t, "stop", "--orphans")
	if status != 0 {
		t.Errorf("stop --orphans: %d, %s%s", status, out, said)
	}
	for _, s := range servers {
		allEnded(t, s.Pids, out)
	}
}

// allEnded checks that nothing of a tree is left, language servers included. A
// gopls that ends because its server has may have started the go command, or a
// copy of itself, in its last moment. That belongs to nobody then and ends by
// itself.
func allEnded(t *testing.T, tree func() []int, out string) {
	t.Helper()
	for _, pid := range tree() {
		line := e2e.CommandLine(pid)
		if line == "" || filepath.Base(strings.Fields(line)[0]) == "go" || strings.Contains(line, "** telemetry **") {
			apptest.Eventually(t, line+" has ended", func() bool { return !e2e.Alive(pid) })
			continue
		}
		t.Errorf("left is %s:\n%s", line, out)
	}
}

//go:build real && linux

package sharing

import (
	"bufio"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/godbus/dbus/v5"

	"lamplighter/app/apptest"
	"lamplighter/app/e2e"
	"lamplighter/icons"
	"lamplighter/monitor"
	"lamplighter/monitor/serena/serenatest"
	"lamplighter/tray/traytest"
)

// seen is a lamplighter with a panel, and servers that it has not started: real
// Serenas of two versions and three other servers.
type seen struct {
	*e2e.Manager
	panel  *traytest.Host
	sender string
	// alpha runs below uvx and below a client of its own, umlaut is of an older
	// version, busy is over HTTP, and mine is a program that uses Serena as a
	// library.
	alpha, umlaut, busy, mine *serenatest.Server
	files, memory, clock      *serenatest.Server
}

const orphansSoon = "orphan_grace_minutes: 0.05\nidle_shutdown_minutes: none\n"

// The parts go on where the one before has ended. No other test may run beside
// this one, whose policies are hasty.
func TestServersThatAreFound(t *testing.T) {
	s := &seen{Manager: e2e.ManagerHome(t)}
	address, _ := traytest.StartBus(t)
	s.Env = append(s.Env, "DBUS_SESSION_BUS_ADDRESS="+address)
	s.panel = traytest.NewHost(t, address)
	s.panel.Appear(t)
	s.Port, s.Page = 8888, 25282 // where Serena looks for it
	s.Settings(t, orphansSoon)
	s.Begin(t)
	s.sender = s.panel.AwaitItem(t)
	apptest.Eventually(t, "an empty menu that helps", func() bool { return strings.Contains(s.menu(t), "No servers yet\nStart your assistant") })
	s.start(t)
	for _, part := range []struct {
		name string
		test func(*testing.T)
	}{
		{"as what they are", s.asWhatTheyAre},
		{"lamps", s.lamps},
		{"idle and in use", s.idle},
		{"stopped by order", s.stopped},
		{"orphaned", s.orphaned},
		{"another panel, and quit", s.quit},
	} {
		if !t.Run(part.name, part.test) {
			t.FailNow()
		}
	}
}

func (s *seen) menu(t *testing.T) string { return s.panel.Labels(t, s.sender) }

func (s *seen) start(t *testing.T) {
	caller, err := filepath.Abs("../../../monitor/watch/testdata/bin/caller.py")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(s.Path("s", ".serena"), 0o700); err != nil {
		t.Fatal(err)
	}
	s.Write(t, "web_dashboard_interface: tray_manager\nprojects: []\n", "s", ".serena", "serena_config.yml")
	s.Write(t, "from serena.cli import top_level\ntop_level(['start-mcp-server', '--context', 'desktop-app'])\n", "s", "mine.py")
	python := filepath.Join(serenatest.Tools(t), "venv", "bin", "python")

	s.alpha = serenatest.Start(t, serenatest.Options{Project: serenatest.GoProject(t, "alpha"), UVX: true, Client: []string{"python3", caller}})
	s.umlaut = serenatest.Start(t, serenatest.Options{Version: serenatest.Version15, Project: serenatest.GoProject(t, "über_größe")})
	s.busy = serenatest.Start(t, serenatest.Options{HTTP: true, Context: "desktop-app", Project: serenatest.GoProject(t, "beta")})
	s.mine = serenatest.Start(t, serenatest.Options{Command: []string{python, s.Path("s", "mine.py")}, Embeds: true, Home: s.Path("s"), Env: []string{"SERENA_HOME=" + s.Path("s", ".serena")}})
	s.files = serenatest.Start(t, serenatest.Options{Command: serenatest.Filesystem(t, t.TempDir())})
	s.memory = serenatest.Start(t, serenatest.Options{Command: serenatest.Memory(t)})
	s.clock = serenatest.Start(t, serenatest.Options{Command: serenatest.Time(t)})
	for _, server := range []*serenatest.Server{s.files, s.memory, s.clock, s.mine} {
		server.Initialize(t)
	}
	for _, server := range []*serenatest.Server{s.umlaut, s.busy} {
		server.WaitReady(t)
		server.Initialize(t)
	}
	s.alpha.WaitReady(t)
	if line, err := bufio.NewReader(s.alpha.Stdout).ReadString('\n'); line != "answered\n" {
		t.Fatalf("the client of alpha says %q, %v", line, err)
	}
}

// all is what the global dashboard says of each server, by its pid.
func (s *seen) all(t *testing.T) map[int]e2e.Listed {
	t.Helper()
	var list struct{ Instances []e2e.Listed }
	if err := json.Unmarshal([]byte(e2e.TellsOfServers(t, e2e.PageAt(s.Page))), &list); err != nil {
		t.Fatal(err)
	}
	all := make(map[int]e2e.Listed)
	for _, in := range list.Instances {
		all[in.PID] = in
	}
	return all
}

// tells waits for an event of that kind about a server, with a part of its words.
func (s *seen) tells(t *testing.T, kind monitor.EventKind, server *serenatest.Server, part string) {
	t.Helper()
	apptest.Eventually(t, string(kind)+": "+part, func() bool {
		status, _, body := e2e.Fetch(t, e2e.PageAt(s.Page)+"events")
		var list struct{ Events []monitor.Event }
		if status != http.StatusOK {
			return false
		}
		if err := json.Unmarshal([]byte(body), &list); err != nil {
			t.Fatalf("%v: %s", err, body)
		}
		return slices.ContainsFunc(list.Events, func(e monitor.Event) bool {
			return e.Kind == kind && e.PID == server.ServerPID && strings.Contains(e.Detail, part)
		})
	})
}

// Each is known with its project and its client, whatever starts it and stands
// between, and nothing else is taken for a server.
func (s *seen) asWhatTheyAre(t *testing.T) {
	for name, server := range map[string]*serenatest.Server{
		"alpha": s.alpha, "über_größe": s.umlaut, "beta": s.busy, "NO PROJECT": s.mine, "filesystem": s.files, "memory": s.memory, "time": s.clock,
	} {
		client, state := os.Getpid(), string(monitor.StateProject)
		switch server {
		case s.alpha:
			client = s.alpha.PID
		case s.mine:
			state = string(monitor.StateNoProject)
		case s.files, s.memory, s.clock:
			state = string(monitor.StateLive)
		}
		apptest.Eventually(t, name+", its client and its project are known", func() bool {
			in, found := s.all(t)[server.ServerPID]
			return found && strings.HasSuffix(in.Label, " - "+name) && in.Client != nil && in.Client.PID == client && in.Processes >= 1 && in.State == state
		})
	}
	apptest.Eventually(t, "seven servers and nothing else", func() bool { return len(s.all(t)) == 7 })
	if v := s.all(t)[s.umlaut.ServerPID].Version; v == nil || !strings.HasPrefix(*v, serenatest.Version15) {
		t.Errorf("version %v", v)
	}
}

// Green, yellow and red at the menu, on the command line and in the browser.
func (s *seen) lamps(t *testing.T) {
	green, yellow, red := strconv.Itoa(s.alpha.ServerPID), strconv.Itoa(s.mine.ServerPID), strconv.Itoa(s.umlaut.ServerPID)
	apptest.Eventually(t, "the menu has them", func() bool {
		text := s.menu(t)
		return strings.HasPrefix(text, "7 servers") && strings.Contains(text, green+" - alpha · ") && strings.Contains(text, yellow+" - NO PROJECT") && strings.Contains(text, "über__größe")
	})
	s.umlaut.Suspend(t)
	apptest.Eventually(t, "the suspended one is red and comes first", func() bool {
		lines := strings.Split(s.menu(t), "\n")
		return strings.HasPrefix(lines[0], "7 servers, 1 needs attention") && strings.HasPrefix(lines[1], red+" - über__größe · ") && strings.Contains(lines[1], " · suspended")
	})
	for pid, mark := range map[string]icons.Mark{green: icons.Project, yellow: icons.NoProject, red: icons.Zombie} {
		if line := s.panel.Find(t, s.sender, pid+" - "); line.Icon != string(icons.Item(mark)) {
			t.Errorf("%q does not have the mark %s", line.Label, mark)
		}
	}
	code, out, _ := s.Does(t, "status")
	if code != 0 {
		t.Errorf("status: %d", code)
	}
	apptest.Contains(t, out, green+" - alpha", yellow+" - NO PROJECT", "über_größe", "suspended")
	code, out, _ = s.Does(t, "logs", "alpha")
	if code != 0 {
		t.Errorf("logs: %d", code)
	}
	apptest.Contains(t, out, "Initializing Serena MCP server")
	s.panel.Event(t, s.sender, s.panel.Find(t, s.sender, green+" - ").ID, "clicked")
	want := "http://127.0.0.1:" + strconv.Itoa(s.alpha.DashboardPort) + "/dashboard/index.html"
	apptest.Eventually(t, "the browser shows the dashboard", func() bool { return slices.Contains(s.Opened(t), want) })

	s.umlaut.Continue(t)
	apptest.Eventually(t, "it is green again", func() bool {
		// While it moves to its place it is in none for a moment.
		return slices.ContainsFunc(s.panel.Lines(t, s.sender), func(l traytest.Line) bool {
			return strings.HasPrefix(l.Label, red+" - ") && l.Icon == string(icons.Item(icons.Project))
		})
	})
}

// A server over HTTP that nobody calls ends after its time, and never while a
// call runs; one over stdio whose client is connected is only told of.
func (s *seen) idle(t *testing.T) {
	gate := filepath.Join(t.TempDir(), "gate")
	answer := s.busy.Begin(t, "execute_shell_command", map[string]any{"command": "until [ -e " + gate + " ]; do sleep 0.1; done; echo waited"})
	// Its time would run from its start on until then, however long that takes.
	apptest.Eventually(t, "it is known to be at work", func() bool {
		in := s.all(t)[s.busy.ServerPID]
		return in.Busy != nil && *in.Busy
	})
	s.Settings(t, "idle_shutdown_minutes: 0.1\n")
	s.tells(t, monitor.EventNotified, s.umlaut, "is connected") // the time is over
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if text := answer(t); !strings.Contains(text, "waited") {
		t.Errorf("the call under way came to %q", text)
	}
	apptest.Eventually(t, "it ends when nobody calls any more", func() bool { return len(s.busy.Pids()) == 0 })
	s.tells(t, monitor.EventEnded, s.busy, "")
	for name, server := range map[string]*serenatest.Server{"alpha": s.alpha, "über_größe": s.umlaut, "mine": s.mine, "filesystem": s.files, "memory": s.memory, "time": s.clock} {
		if !e2e.Alive(server.ServerPID) {
			t.Errorf("%s was ended under its client", name)
		}
	}
	s.Settings(t, orphansSoon)
}

// gone waits until a server has ended with all that is below it.
func (s *seen) gone(t *testing.T, name string, server *serenatest.Server) {
	t.Helper()
	apptest.Eventually(t, name+" and its whole tree are gone", func() bool { return len(server.Pids()) == 0 })
	apptest.Eventually(t, name+" has left the list", func() bool { _, left := s.all(t)[server.ServerPID]; return !left })
}

// On the command line by pid, by name and by id; one of them suspended. What no rule
// knows is not ended, whoever orders it.
func (s *seen) stopped(t *testing.T) {
	s.memory.Suspend(t)
	for _, order := range []struct {
		name, what string
		server     *serenatest.Server
	}{
		{"über_größe", strconv.Itoa(s.umlaut.ServerPID), s.umlaut}, {"memory", strconv.Itoa(s.memory.ServerPID), s.memory}, {"time", "time", s.clock}, {"filesystem", s.all(t)[s.files.ServerPID].ID, s.files},
	} {
		code, out, errs := s.Does(t, "stop", order.what)
		if code != 0 {
			t.Errorf("stop %s: exit status %d, %q %q", order.what, code, out, errs)
		}
		apptest.Contains(t, out, "Ended: ", order.name)
		s.gone(t, order.name, order.server)
	}
	code, out, errs := s.Does(t, "stop", "--force", strconv.Itoa(s.mine.ServerPID))
	if code != 1 || !e2e.Alive(s.mine.ServerPID) {
		t.Errorf("stop --force of what no rule knows: exit status %d, %q %q", code, out, errs)
	}
	apptest.Contains(t, out+errs, "Not ended")
}

// A client that is killed while its server hangs leaves an orphan, which ends
// after the grace period with all that it has started, unless it is pinned.
func (s *seen) orphaned(t *testing.T) {
	pid := strconv.Itoa(s.alpha.ServerPID)
	if code, _, errs := s.Does(t, "pin", pid); code != 0 {
		t.Fatal(errs)
	}
	if all := s.alpha.Pids(); len(all) < 4 { // with the client and uvx
		t.Fatalf("no language server in %v", all)
	}
	e2e.Settled(t, s.alpha)
	s.alpha.Suspend(t) // and stays so: to be orphaned outranks it
	if err := syscall.Kill(s.alpha.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	s.tells(t, monitor.EventPolicyRefused, s.alpha, "pinned")
	if left := s.alpha.Pids(); len(left) < 2 {
		t.Errorf("of the pinned one %v is left", left)
	}
	if code, _, errs := s.Does(t, "unpin", pid); code != 0 {
		t.Fatal(errs)
	}
	s.gone(t, "alpha", s.alpha)
	s.tells(t, monitor.EventEnded, s.alpha, "")
}

// It comes back on a panel that has started anew. Servers go on when it ends.
func (s *seen) quit(t *testing.T) {
	s.panel.Vanish(t)
	s.panel.Appear(t)
	s.sender = s.panel.AwaitItem(t)
	apptest.Eventually(t, "it is back on the new panel", func() bool { return strings.HasPrefix(s.menu(t), "1 server") })
	s.panel.Conn.Object(s.sender, traytest.MenuPath).Call(traytest.MenuIface+".Event", dbus.FlagNoReplyExpected,
		s.panel.Find(t, s.sender, "Quit").ID, "clicked", dbus.MakeVariant(int32(0)), uint32(0))
	if status := s.Run.Status(t); status != 0 {
		t.Errorf("after Quit: exit status %d: %s", status, s.Run.Err.String())
	}
	if !e2e.Alive(s.mine.ServerPID) {
		t.Error("a server ended when we did")
	}
}

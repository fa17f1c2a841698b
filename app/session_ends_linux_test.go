package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/godbus/dbus/v5"

	"lamplighter/app/apptest"
	facts "lamplighter/monitor/process"
	"lamplighter/monitor/programtest"
	"lamplighter/tray/traytest"
)

// endings are templates of servers that end more or less willingly.
func endings(t testing.TB) string {
	t.Helper()
	return "session_start_seconds: 300\nsession_server: plain\ntemplates:\n" +
		template(t, "plain", acmeServer(t)) +
		template(t, "stubborn", acmeServer(t, "--stubborn", "--child")) +
		template(t, "daemon", acmeServer(t, "--fork", "--stubborn", "--child")) +
		template(t, "codex", append([]string{"/bin/sh", "-c", `"$@"; exit $?`, "sh", called(t, "codex")}, acmeServer(t)[1:]...))
}

// called makes this program one of another name: that of one that people work
// in does not keep a server alive.
func called(t testing.TB, name string) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return programtest.Copy(t, self, name)
}

// requestAll asks for one session of each of endings.
func (m *manager) requestAll(t *testing.T) []asked {
	t.Helper()
	project := projectDir(t, "alpha")
	var all []asked
	for _, name := range []string{"plain", "stubborn", "daemon", "codex"} {
		status, answer, err := post(t.Context(), m.at("/request-session"), requestOf(project, name))
		if err != nil {
			t.Fatal(err)
		}
		s, err := given(status, answer)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		all = append(all, s)
	}
	return all
}

// However lamplighter ends, its sessions end; what others have started goes on.
func TestSessionsEndWithLamplighter(t *testing.T) {
	t.Parallel()
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGKILL} {
		t.Run(s.String(), func(t *testing.T) {
			t.Parallel()
			m := newManager(t, endings(t)+acmeRule)
			_, goesOn := m.found(t)
			all := m.requestAll(t)
			m.ends(t, s)
			m.nothingLeft(t)
			for _, session := range all {
				session.goes(t)
			}
			if code := m.run.cmd.ProcessState.ExitCode(); s != syscall.SIGKILL && code != 0 {
				t.Errorf("exit status %d: %s", code, m.run.err.String())
			}
			if !goesOn() {
				t.Error("a server that we did not start has ended")
			}
		})
	}
}

// found starts a server that lamplighter sees, but has not started.
func (m *manager) found(t *testing.T) (pid int, running func() bool) {
	t.Helper()
	label := m.acme(t)
	if _, err := fmt.Sscanf(label, "pid %d", &pid); err != nil {
		t.Fatal(err)
	}
	apptest.Eventually(t, "it is seen", func() bool { return m.instance(t, pid) != nil })
	return pid, func() bool { return alive(pid) }
}

// Quit in the menu says that sessions end, and does it.
func TestSessionsEndWithQuit(t *testing.T) {
	t.Parallel()
	m := managerHome(t)
	address, _ := traytest.StartBus(t)
	m.env = append(m.env, "DBUS_SESSION_BUS_ADDRESS="+address)
	panel := traytest.NewHost(t, address)
	panel.Appear(t)
	m.set(t, endings(t)+acmeRule)
	m.begin(t)
	sender := panel.AwaitItem(t)
	pid, goesOn := m.found(t)
	all := m.requestAll(t)
	labels := []string{fmt.Sprintf("pid %d - ", pid)}
	for _, session := range all {
		labels = append(labels, fmt.Sprintf("%d - ", session.Port))
	}
	apptest.Eventually(t, "the menu has all of them", func() bool { // and those of other tests
		menu := panel.Labels(t, sender)
		return !slices.ContainsFunc(labels, func(label string) bool { return !strings.Contains(menu, label) })
	})
	panel.Conn.Object(sender, traytest.MenuPath).Call(traytest.MenuIface+".Event", dbus.FlagNoReplyExpected,
		panel.Find(t, sender, "Quit").ID, "clicked", dbus.MakeVariant(int32(0)), uint32(0))
	if code := m.run.status(t); code != 0 {
		t.Errorf("exit status %d: %s", code, m.run.err.String())
	}
	m.nothingLeft(t)
	for _, session := range all {
		session.goes(t)
	}
	if !goesOn() {
		t.Error("a server that we did not start has ended")
	}
}

// A session that is killed, or whose keeper is, leaves nothing behind, and
// lamplighter goes on.
func TestSessionsThatAreKilled(t *testing.T) {
	t.Parallel()
	m := newManager(t, endings(t))
	for what, victims := range map[string]func(all []asked) []int{
		"the servers": func(all []asked) (pids []int) {
			for _, s := range all {
				pids = append(pids, s.ID)
			}
			return pids
		},
		"the keepers": func([]asked) []int { return m.running("lamplighter-connect") },
	} {
		all := m.requestAll(t)
		killed := victims(all)
		if len(killed) != len(all) {
			t.Fatalf("%s: %v of %+v", what, killed, m.servers())
		}
		for _, pid := range killed {
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
		}
		m.nothingLeft(t)
		for _, s := range all {
			s.goes(t)
			m.expect(t, "/release-session", releaseBody(s.ID), 200, released("already_gone", s.ID))
		}
	}
	m.release(t, m.request(t, projectDir(t, "beta")))
}

// A session is a server like any other on the command line, and in the menu.
func TestSessionsStoppedByName(t *testing.T) {
	t.Parallel()
	m := newManager(t, endings(t))
	all := m.requestAll(t)
	order := []string{"stop"}
	for _, s := range all {
		apptest.Eventually(t, "it is listed", func() bool { in := m.instance(t, s.ID); return in != nil && in.Managed })
		order = append(order, strconv.Itoa(s.ID))
	}
	code, out, said := m.does(t, order...)
	if code != 0 || strings.Count(out, "Ended: ") != len(all) {
		t.Errorf("stop: %d, %q, %q", code, out, said)
	}
	for _, s := range all {
		s.isGone(t)
		m.expect(t, "/release-session", releaseBody(s.ID), 200, released("already_gone", s.ID))
	}
	m.nothingLeft(t)
}

// After a crash that not even the keepers survived, the next lamplighter ends
// what is left of its sessions, and nothing that only looks like it.
func TestSessionsAfterACrash(t *testing.T) {
	t.Parallel()
	self := acmeServer(t)[0]
	m := newManager(t, "session_start_seconds: 300\nsession_server: acme\ntemplates:\n"+
		template(t, "acme", []string{self, acmeMode, "--port-file", "{port_file}", "--stubborn", "--child", "--project={project}"}))
	project := projectDir(t, "alpha")
	left := []asked{m.request(t, project), m.request(t, project)}

	keepers := m.running("lamplighter-connect")
	if len(keepers) != len(left) {
		t.Fatalf("keepers %v of %v", keepers, m.servers())
	}
	// Suspended, they do not see lamplighter go.
	for _, pid := range keepers {
		suspend(t, pid)
	}
	m.ends(t, syscall.SIGKILL)
	for _, pid := range keepers {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
	}
	apptest.Eventually(t, "the keepers are gone", func() bool { return len(m.running("lamplighter-connect")) == 0 })
	for _, s := range left {
		if !alive(s.ID) {
			t.Fatal("the test wants servers that outlive their keepers")
		}
	}

	// The very same command line, by hand; and of another lamplighter.
	same := strings.Split(commandLine(left[0].ID), " ")
	byHand, byHandGoesOn := m.bystander(t, same)
	foreign, foreignGoesOn := m.bystander(t, same, "LAMPLIGHTER_LAUNCH=00000000-0000-4000-8000-000000000000")
	// Each writes its port into the folder of the record, which is cleared away.
	for _, pid := range []int{byHand, foreign} {
		apptest.Eventually(t, "it answers on its port", func() bool {
			ports, err := facts.NewPorts().Listeners([]int{pid})
			if err != nil || len(ports) == 0 {
				return false
			}
			status, _, _ := fetch(t, fmt.Sprintf("http://%s/", ports[0].Addr))
			return status != 0
		})
	}
	m.staleRecord(t, byHand)

	m.begin(t)
	m.nothingLeft(t)
	for _, s := range left {
		s.goes(t)
		m.expect(t, "/release-session", releaseBody(s.ID), 404, noID)
	}
	if !byHandGoesOn() || !foreignGoesOn() {
		t.Error("a server that we did not start has ended")
	}
	apptest.Eventually(t, "no record is left", func() bool {
		entries, err := os.ReadDir(filepath.Join(m.state(), "servers"))
		return errors.Is(err, os.ErrNotExist) || len(entries) == 0
	})
	m.release(t, m.request(t, project))
	if !byHandGoesOn() || !foreignGoesOn() {
		t.Error("a server that we did not start has ended")
	}
}

// staleRecord writes the record of a server whose pid somebody else has now.
func (m *manager) staleRecord(t *testing.T, pid int) {
	t.Helper()
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		t.Fatal(err)
	}
	const id = "11111111-1111-4111-8111-111111111111"
	m.write(t, fmt.Sprintf(`{"version":1,"id":%q,"lifetime":"session","boot_id":%q,"keeper":"","server":"%d-1","port":1,"dashboard_port":0,`+
		`"project":"/","name":"acme","kind":"acme","command":["/bin/true"],"key":"","started_at":"2026-11-20T00:00:00Z","asked_by":{"pid":1,"name":"x"}}`,
		id, strings.TrimSpace(string(boot)), pid), ".local", "state", "lamplighter", "servers", id, "record.json")
}

// Killed and started again at once, lamplighter knows nothing of the old
// sessions, whose keepers end them.
func TestSessionsAfterAQuickRestart(t *testing.T) {
	t.Parallel()
	m := newManager(t, endings(t))
	all := m.requestAll(t)
	m.ends(t, syscall.SIGKILL)
	m.begin(t)
	next := m.request(t, projectDir(t, "beta"))
	for _, s := range all {
		apptest.Eventually(t, "the old one is gone", func() bool { return !alive(s.ID) })
		m.expect(t, "/release-session", releaseBody(s.ID), 404, noID)
	}
	if list := m.sessions(t); len(list) != 1 || !alive(next.ID) {
		t.Errorf("%+v", list)
	}
	m.release(t, next)
	m.nothingLeft(t)
}

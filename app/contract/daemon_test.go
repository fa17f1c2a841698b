//go:build contract && linux

package contract

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"lamplighter/app/apptest"
)

// Each state of a server as JSON has it, and how the server is called.
func TestStates(t *testing.T) {
	states := func(pid int, state string, cause any, label string) {
		t.Helper()
		in := home.is(t, state, "pid", float64(pid))
		same(t, "its cause and label", []any{in["cause"], in["label"]}, []any{cause, fmt.Sprintf("%d - %s", pid, label)})
	}
	green := startFound(t, "green")
	states(green.pid(), "live_with_project", nil, "green")
	green.signal(t, syscall.SIGSTOP)
	states(green.pid(), "zombie", "suspended", "green")
	green.signal(t, syscall.SIGCONT)
	states(green.pid(), "live_with_project", nil, "green")
	states(home.startServer(t, "").pid(), "live_no_project", nil, "NO PROJECT")
	states(home.start(t, nil, home.path("bin", ledger), "serve").pid(), "live", nil, "ledger")
	starting := home.start(t, nil, home.stdioServer(home.project(t, "silent", "mute"))...)
	home.is(t, "starting", "pid", float64(starting.pid()))

	// One that was ended while its client stays keeps its id: an entry of that
	// project may still be there which was shown before the server had begun.
	project := home.project(t, "parked")
	s := shimFor(t, project)
	s.call(t, "1", "echo", "{}")
	id := home.is(t, "live_with_project", "pid", float64(only(t, project)))["id"]
	home.does(t, fine, "stop", id.(string))
	parked := home.is(t, "parked", "id", id)
	same(t, "the parked one", []any{parked["pid"], parked["port"], parked["label"]}, []any{nil, nil, "parked - parked"})
	of := fmt.Sprintf(p+"instance/%v/", id)
	home.ask(page, "POST", of+"kill", "", nil).fails(t, 409, "kill of the parked one")
	get(of+"get_tool_stats").fails(t, 409, "get_tool_stats of the parked one")
	s.call(t, "2", "echo", "{}")
	woken := home.is(t, "live_with_project", "project_root", project)
	check(t, woken["id"] != id, "it has woken as %v", woken)
}

// What a server answers that cannot be used, or in time, has its own status.
func TestFaultsOfServers(t *testing.T) {
	pid := home.start(t, nil, home.httpServer(home.project(t, "broken", "broken"))...).pid()
	home.is(t, "live_with_project", "pid", float64(pid))
	for path, status := range map[string]int{"get_tool_stats": 502, "get_tool_names": 504, "get_available_languages": 404} {
		get(fmt.Sprintf(p+"instance/%d/%s", pid, path)).fails(t, status, path)
	}
}

// A project that was away for a moment is served again when it is back: a
// server that came up without it is not kept, for old clients and new ones.
func TestProjectAway(t *testing.T) {
	project := home.project(t, "away")
	old := shimFor(t, project)
	old.wakes(t, project, "1")
	home.does(t, fine, "stop", strconv.Itoa(only(t, project)), "--force") // parks it
	elsewhere := project + "-elsewhere"
	must(t, os.Rename(project, elsewhere))
	said := old.call(t, "20", "get_current_config", "{}")
	check(t, !strings.Contains(said, "Active project: "+project), "while it is away: %s", said)
	must(t, errors.Join(os.RemoveAll(project), os.Rename(elsewhere, project))) // somebody may have made it again
	old.wakes(t, project, "3")
	home.wrapper(t, home.stdioServer(project)...).wakes(t, project, "4")
}

// Folders below servers/ that cannot be read, or not be removed, stop nothing:
// they are named, and stay as they are.
func TestServersThatAreDenied(t *testing.T) {
	w := another(t, "")
	denied := map[string]os.FileMode{ // called as those of its own are
		w.state("servers", "01234567-89ab-4cde-8f01-23456789abcd"): 0,
		w.state("servers", "11234567-89ab-4cde-8f01-23456789abcd"): 0o500,
	}
	for dir, mode := range denied {
		write(t, filepath.Join(dir, "server.json"), "{}")
		must(t, os.Chmod(dir, mode))
	}
	// Root may read and remove everything, unless it has given that up.
	start := func(args ...string) *process {
		return w.start(t, nil, append([]string{"setpriv", "--bounding-set=-all", "--inh-caps=-all", "--"}, lamplighter(args...)...)...)
	}
	daemon := start("run")
	apptest.Eventually(t, "it serves", func() bool { return w.ready(control) })
	project := w.project(t, "readable")
	w.wrapper(t, w.stdioServer(project)...).wakes(t, project, "1")
	check(t, daemon.running(), "it has ended: %s", daemon.err)
	for dir, mode := range denied {
		for _, verb := range []string{"status", "doctor"} {
			apptest.Eventually(t, verb+" names "+dir, func() bool {
				p := start(verb)
				p.status(t)
				return strings.Contains(p.out.String()+p.err.String(), dir)
			})
		}
		info, err := os.Lstat(dir)
		must(t, err)
		same(t, "its mode", info.Mode().Perm(), mode)
	}
}

// A shared server is parked after the seconds that the environment names, which
// count before the settings, and wakes with the next call.
func TestIdleShutdownSeconds(t *testing.T) {
	w := another(t, "park_after_minutes: 60\n")
	w.env = append(w.env, "LAMPLIGHTER_IDLE_SHUTDOWN_SECS=1")
	w.startDaemon(t)
	project := w.project(t, "idle")
	s := w.wrapper(t, w.stdioServer(project)...)
	s.wakes(t, project, "1")
	gone(t, only(t, project))
	w.is(t, "parked", "project_root", project)
	s.wakes(t, project, "2")
}

// The daemon ends by order of our own programs: for another one, which takes
// the shared servers over, or for good.
func TestQuit(t *testing.T) {
	w := another(t, "")
	w.startDaemon(t)
	project := w.project(t, "handed-over")
	s := w.wrapper(t, w.stdioServer(project)...)
	s.call(t, "1", "echo", "{}")
	before := only(t, project)
	for _, bad := range []string{`[]`, `{`, `null`, `{}`, `{"restart": "true"}`, `{"restart": null}`, `{"restart": true, "force": true}`} {
		w.ask(control, "POST", "/quit", bad, nil).fails(t, 400, "/quit with "+bad)
	}
	quit := func(body string) {
		t.Helper()
		a := w.ask(control, "POST", "/quit", body, nil)
		same(t, "/quit with "+body, a.status, 202)
		fits(t, "/quit", `{"pid": "number"}`, a.body)
		w.daemon.ends(t, fine)
	}
	quit(`{"restart": true}`)
	w.startDaemon(t)
	s.call(t, "2", "echo", "{}")
	same(t, "its servers", servers(project), []int{before})
	quit(`{"restart": false}`)
	gone(t, before)
	check(t, s.running(), "the wrapper ended: %s", s.err)
}

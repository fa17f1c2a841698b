//go:build contract && linux

package contract

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// is waits until the server with this member has a state, and returns what is said
// of it.
func (w *world) is(t testing.TB, state, member string, value any) (in object) {
	t.Helper()
	eventually(t, fmt.Sprintf("the server with the %s %v is %s", member, value, state), func() bool {
		in = w.find(member, value)
		return in["state"] == state
	})
	return in
}

// Each state of a server as JSON has it, and how the server is called.
func TestStates(t *testing.T) {
	check := func(pid int, state string, cause any, label string) {
		t.Helper()
		in := home.is(t, state, "pid", float64(pid))
		if in["cause"] != cause {
			t.Errorf("%v has the cause %v, want %v", in["label"], in["cause"], cause)
		}
		if in["label"] != fmt.Sprintf("%d - %s", pid, label) {
			t.Errorf("the label is %v, want %d - %s", in["label"], pid, label)
		}
	}
	green := startFound(t, "green")
	check(green.pid, "live_with_project", nil, "green")
	must(t, syscall.Kill(green.pid, syscall.SIGSTOP))
	check(green.pid, "zombie", "suspended", "green")
	must(t, syscall.Kill(green.pid, syscall.SIGCONT))
	check(green.pid, "live_with_project", nil, "green")

	yellow, err := home.startServer("")
	must(t, err)
	t.Cleanup(yellow.end)
	check(yellow.pid, "live_no_project", nil, "NO PROJECT")

	mute := home.project("silent")
	habits(t, mute, "mute")
	starting := home.start(nil, home.wrapped(mute))
	t.Cleanup(starting.end)
	home.is(t, "starting", "pid", float64(starting.pid()))

	other := home.start(nil, []string{home.path("bin", ledger), "serve"})
	t.Cleanup(other.end)
	check(other.pid(), "live", nil, "ledger")

	// One that was ended while its client stays keeps its id: an entry of that
	// project may still be there which was shown before the server had begun.
	project := home.project("parked")
	s := shimFor(t, project)
	s.call(t, "1", "echo", "{}")
	live := home.is(t, "live_with_project", "pid", float64(only(t, project)))
	home.does(t, fine, "stop", fmt.Sprint(live["id"]))
	parked := home.is(t, "parked", "id", live["id"])
	if parked["pid"] != nil || parked["port"] != nil || parked["label"] != "parked - parked" {
		t.Errorf("the parked one is %v", parked)
	}
	for path, method := range map[string]string{"kill": "POST", "get_tool_stats": "GET"} {
		checkFailure(t, ask(t, page, method, fmt.Sprintf(p+"instance/%v/%s", parked["id"], path), "", nil), 409, path+" of the parked one")
	}
	s.call(t, "2", "echo", "{}")
	if in := home.is(t, "live_with_project", "project_root", project); in["id"] == parked["id"] {
		t.Errorf("it has woken as %v", in)
	}
}

// What a server answers that cannot be used, or in time, has its own status.
func TestFaultsOfServers(t *testing.T) {
	habits(t, home.project("broken"), "broken")
	s := startFound(t, "broken")
	for path, status := range map[string]int{"get_tool_stats": 502, "get_tool_names": 504, "get_available_languages": 404} {
		checkFailure(t, get(t, fmt.Sprintf(p+"instance/%d/%s", s.pid, path)), status, path)
	}
}

// wakes waits until a call is answered by a server that has its project.
func (p *process) wakes(t *testing.T, project, id string) {
	t.Helper()
	n := 0
	eventually(t, "a call of "+id+" is answered for its project", func() bool {
		n++
		return strings.Contains(p.call(t, id+strconv.Itoa(n), "get_current_config", "{}"), "Active project: "+project+",")
	})
}

// A project that was away for a moment is served again when it is back: a
// server that came up without it is not kept, for old clients and new ones.
func TestProjectAway(t *testing.T) {
	project := home.project("away")
	old := shimFor(t, project)
	old.wakes(t, project, "1")
	home.does(t, fine, "stop", strconv.Itoa(only(t, project)), "--force") // parks it
	elsewhere := project + "-elsewhere"
	must(t, os.Rename(project, elsewhere))
	if said := old.call(t, "20", "get_current_config", "{}"); strings.Contains(said, "Active project: "+project) {
		t.Errorf("while it is away: %s", said)
	}
	must(t, errors.Join(os.RemoveAll(project), os.Rename(elsewhere, project))) // somebody may have made it again
	old.wakes(t, project, "3")
	fresh := home.wrapper(project)
	defer fresh.end()
	fresh.greet(t)
	fresh.wakes(t, project, "4")
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
		write(t, dir+"/server.json", "{}")
		must(t, os.Chmod(dir, mode))
	}
	// Root may read and remove everything, unless it has given that up.
	bound := func(line ...string) []string {
		return append([]string{"setpriv", "--bounding-set=-all", "--inh-caps=-all", "--"}, line...)
	}
	daemon := w.start(nil, bound(lamplighter("run")...))
	eventually(t, "it serves", func() bool { return w.answers(socket) })
	project := w.project("readable")
	s := w.wrapper(project)
	s.greet(t)
	s.wakes(t, project, "1")
	if !daemon.running() {
		t.Error(daemon.err.String())
	}
	for dir, mode := range denied {
		for _, verb := range []string{"status", "doctor"} {
			eventually(t, verb+" names "+dir, func() bool {
				p := w.start(nil, bound(lamplighter(verb)...))
				p.status(t)
				return strings.Contains(p.out.String()+p.err.String(), dir)
			})
		}
		if info, err := os.Lstat(dir); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s does not stay: %v, %v", dir, info, err)
		}
	}
}

// A shared server is parked after the seconds that the environment names, which
// count before the settings, and wakes with the next call.
func TestIdleShutdownSeconds(t *testing.T) {
	w := another(t, "park_after_minutes: 60\n")
	w.env = append(w.env, "LAMPLIGHTER_IDLE_SHUTDOWN_SECS=1")
	must(t, w.startDaemon())
	project := w.project("idle")
	s := w.wrapper(project)
	s.greet(t)
	s.wakes(t, project, "1")
	gone(t, only(t, project))
	w.is(t, "parked", "project_root", project)
	s.wakes(t, project, "2")
}

// The daemon ends by order of our own programs: for another one, which takes
// the shared servers over, or for good.
func TestQuit(t *testing.T) {
	w := another(t, "")
	must(t, w.startDaemon())
	project := w.project("handed-over")
	s := w.wrapper(project)
	s.greet(t)
	s.call(t, "1", "echo", "{}")
	before := only(t, project)
	for _, bad := range with(`{}`, `{"restart": "true"}`, `{"restart": null}`, `{"restart": true, "force": true}`) {
		checkFailure(t, w.ask(t, socket, "POST", "/quit", bad, nil), 400, "/quit with "+bad)
	}
	quit := func(restart bool) {
		t.Helper()
		a := w.ask(t, socket, "POST", "/quit", fmt.Sprintf(`{"restart": %v}`, restart), nil)
		shape(`{"pid": "number"}`).check(t, "/quit", a.body)
		if w.daemon.ends(t, fine); a.status != http.StatusAccepted {
			t.Errorf("restart %v: %d %s", restart, a.status, a.body)
		}
	}
	quit(true)
	must(t, w.startDaemon())
	s.call(t, "2", "echo", "{}")
	if now := servers(project); !slices.Equal(now, []int{before}) {
		t.Errorf("the servers are %v, and was %d", now, before)
	}
	quit(false)
	gone(t, before)
	if !s.running() {
		t.Errorf("the wrapper ended: %s", s.err.String())
	}
}

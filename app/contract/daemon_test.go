//go:build contract && linux

package contract

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
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
	must(t, green.cmd.Process.Signal(syscall.SIGSTOP))
	states(green.pid(), "zombie", "suspended", "green")
	must(t, green.cmd.Process.Signal(syscall.SIGCONT))
	states(green.pid(), "live_with_project", nil, "green")
	states(home.start(t, nil, home.httpServer("")...).pid(), "live_no_project", nil, "NO PROJECT")
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

	same(t, "what a restart does to its client", woken["restart"], "kept")
	home.does(t, fine, "restart", woken["id"].(string))
	restarted := home.is(t, "live_with_project", "project_root", project)
	check(t, restarted["id"] != woken["id"], "it was not restarted: %v", restarted)
	s.call(t, "3", "echo", "{}")
	same(t, "the only server", float64(only(t, project)), restarted["pid"])
}

// What a server answers that cannot be used, or in time, has its own status.
func TestFaultsOfServers(t *testing.T) {
	pid := startFound(t, "broken", "broken").pid()
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
	apptest.Eventually(t, "it serves", func() bool { return w.health(control)["ready"] == true })
	project := w.project(t, "readable")
	w.wrapper(t, w.stdioServer(project)...).wakes(t, project, "1")
	check(t, daemon.running(), "it has ended: %s", daemon.err)
	for dir, mode := range denied {
		for _, verb := range []string{"status", "doctor"} {
			apptest.Eventually(t, verb+" names "+dir, func() bool {
				return strings.Contains(start(verb).ends(t, fine), dir)
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

// A mistake in the settings is told with its line and the nearest known name,
// and the last good settings stay.
func TestSettings(t *testing.T) {
	good := read(home.settings())
	defer func() {
		write(t, home.settings(), good)
		apptest.Eventually(t, "the settings are good again", func() bool { return fmt.Sprint(home.health(control)["warnings"]) == "[]" })
	}()
	for i, row := range []struct {
		text string
		line int
		told string // the nearest known name, or the setting
	}{
		{"web_dashboard_global_por: 25300\n", 1, "web_dashboard_global_port"},
		{"\n\nidle_shutdown_minutes: 0\n", 3, "idle_shutdown_minutes"},
		{"tray_icon: [\n", 1, ""},
		{"servers:\n  - {name: all, program: python, arguments: []}\n", 2, "servers"},
	} {
		write(t, home.settings(), strings.Repeat("\n", 10*i)+row.text) // each has lines of its own
		place := home.settings() + ":" + strconv.Itoa(10*i+row.line) + ":"
		apptest.Eventually(t, fmt.Sprintf("%q is told with its line", row.text), func() bool { return strings.Contains(fmt.Sprint(home.health(control)["warnings"]), place) })
		_, told, _ := strings.Cut(fmt.Sprint(home.health(control)["warnings"]), place)
		apptest.Contains(t, told, row.told)
	}
	apptest.Contains(t, home.does(t, fine, "status"), home.settings())
	apptest.Contains(t, home.does(t, failed, "doctor"), home.settings())
	same(t, "with the last good settings", get(p+"instances").status, 200)
}

// Where the environment names a place, that is used and the usual one is not. A
// flag counts before our file, and that before Serena's. While our file is broken,
// which is told, nobody knows what it spares, and no policy ends anything.
func TestPlaces(t *testing.T) {
	w := another(t, "")
	place := func(name string) string { return w.path("places", name) }
	w.env = append(w.env, "LAMPLIGHTER_CONFIG="+place("c.yaml"), "LAMPLIGHTER_STATE_DIR="+place("state"), "SERENA_HOME="+place("serena"),
		"LAMPLIGHTER_CONTROL_SOCKET="+place("c"), "LAMPLIGHTER_SOCKET="+place("s"))
	must(t, os.Remove(w.settings()))
	write(t, place("serena/serena_config.yml"), "unknown: true\nweb_dashboard_global_port: 20001\nidle_shutdown_minutes: 77\n")
	for _, row := range []struct {
		ours string
		idle any // minutes
		told string
	}{
		{"web_dashboard_global_port: 20002\nidle_shutdown_minutes: 66\n", 66.0, ""},
		{"web_dashboard_global_port: 20002\n", 77.0, ""},
		{"idle_shutdown_minutes: 66\ncolour: red\n", nil, "c.yaml:2"},
	} {
		write(t, place("c.yaml"), row.ours)
		daemon := w.start(t, nil, lamplighter("run", "--web-dashboard-global-port", strconv.Itoa(w.page))...)
		apptest.Eventually(t, "it serves on the port of the flag", func() bool { return w.health(page)["ready"] == true })
		apptest.Eventually(t, fmt.Sprintf("idle servers end after %v min", row.idle), func() bool {
			rules := w.ask(page, "GET", p+"policy", "", nil).list("rules")
			return slices.ContainsFunc(rules, func(rule object) bool { return rule["name"] == "idle" && rule["minutes"] == row.idle })
		})
		apptest.Contains(t, string(w.ask(page, "GET", p+"status", "", nil).body), row.told)
		for _, name := range []string{"c", "s", "state/events.jsonl", "state/lamplighter.log", "serena/instances.json"} {
			apptest.Eventually(t, name+" is there", func() bool { _, err := os.Stat(place(name)); return err == nil })
		}
		w.does(t, fine, "session", "list", "--json")                // finds it
		s := w.wrapper(t, w.stdioServer(w.project(t, "placed"))...) // and so does this
		s.in.Close()
		s.ends(t, fine)
		daemon.end()
	}
	exists(t, false, w.settings(), w.state(), w.socket("control"), w.socket("share"), w.path(".serena"))
}

// Nobody else may read what we write or talk to our sockets.
func TestModes(t *testing.T) {
	for path, mode := range map[string]fs.FileMode{
		filepath.Dir(home.socket("control")): 0o700 | fs.ModeDir,
		home.socket("control"):               0o600 | fs.ModeSocket,
		home.socket("share"):                 0o600 | fs.ModeSocket,
		home.state():                         0o700 | fs.ModeDir,
		home.state("events.jsonl"):           0o600,
		home.state("lamplighter.log"):        0o600,
		home.state("servers"):                0o700 | fs.ModeDir,
		home.state("workspaces"):             0o700 | fs.ModeDir,
	} {
		info, err := os.Lstat(path)
		must(t, err)
		same(t, path, info.Mode(), mode)
	}
}

// Each event is a line of JSON, and in the order in which they happened.
func TestEventLines(t *testing.T) {
	s := startFound(t, "passing")
	s.end()
	kinds := ""
	apptest.Eventually(t, "its end is written", func() bool {
		kinds = ""
		lines := strings.Split(read(home.state("events.jsonl")), "\n")
		for _, line := range lines[:len(lines)-1] { // the last is being written
			fits(t, "an event", "event", []byte(line))
			var event object
			must(t, json.Unmarshal([]byte(line), &event))
			if event["pid"] == float64(s.pid()) {
				kinds += event["kind"].(string) + " "
			}
		}
		return strings.HasSuffix(kinds, "stopped ")
	})
	same(t, "what happened of one server", kinds, "started project_activated stopped ")
}

// The registry has R3's fields and no others, each of the three states, and
// leaves alone what other programs have written.
func TestRegistry(t *testing.T) {
	path := home.path(".serena", "instances.json")
	registry := func() (list map[string]object) {
		var file struct{ Instances map[string]object }
		if text := read(path); text != "" {
			must(t, json.Unmarshal([]byte(text), &file)) // always whole
		}
		return file.Instances
	}
	without, ill := home.start(t, nil, home.httpServer("")...), startFound(t, "ill")
	must(t, ill.cmd.Process.Signal(syscall.SIGSTOP))
	for pid, state := range map[int]string{alpha.pid(): "live_with_project", without.pid(): "live_no_project", ill.pid(): "zombie"} {
		apptest.Eventually(t, state+" is registered", func() bool { return registry()[strconv.Itoa(pid)]["state"] == state })
	}
	text := read(path)
	fits(t, path, "registry", []byte(text))
	for pid, entry := range registry() {
		compare(t, pid, "@registered", any(entry))
		same(t, "its pid", fmt.Sprint(entry["pid"]), pid)
	}
	in := registry()[strconv.Itoa(alpha.pid())]
	same(t, "of alpha is registered", []any{in["port"], in["project_name"], in["project_root"], in["context"]}, []any{float64(alpha.port), "alpha", alpha.project, "ide"})

	// Another program registers a server of its own, beside one that is dead.
	foreign := fmt.Sprintf(`"instances": {"%d": {"pid": %[1]d, "port": 1, "started_at": %.1[2]f, "last_heartbeat": %.1[2]f, "context": "theirs", "modes": [],
		"project_name": null, "project_root": null, "state": "live_no_project"},`, os.Getpid(), in["started_at"])
	write(t, path, strings.Replace(text, `"instances": {`, foreign, 1))
	must(t, ill.cmd.Process.Signal(syscall.SIGCONT))
	ill.end()
	apptest.Eventually(t, "the dead one is taken out", func() bool { return registry()[strconv.Itoa(ill.pid())] == nil })
	left := registry()
	check(t, left[strconv.Itoa(os.Getpid())]["context"] == "theirs" && left[strconv.Itoa(alpha.pid())] != nil, "left are %v", left)
}

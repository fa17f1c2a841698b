//go:build contract && linux

package contract

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

const registered = shape(`{"pid": "number", "port": "number?", "started_at": "number", "last_heartbeat": "number", "context": "text?", "modes": ["text"],
	"project_name": "text?", "project_root": "text?", "state": "=live_no_project|=live_with_project|=zombie"}`)

// warnings are what the daemon warns of.
func (w *world) warnings(t testing.TB) string {
	t.Helper()
	var health struct{ Warnings []string }
	w.ask(t, socket, "GET", "/health", "", nil).into(t, &health)
	return strings.Join(health.Warnings, "\n")
}

// A mistake in the settings is told with its line and the nearest known name,
// and the last good settings stay.
func TestSettings(t *testing.T) {
	good, err := os.ReadFile(home.settings())
	must(t, err)
	defer func() {
		write(t, home.settings(), string(good))
		eventually(t, "the settings are good again", func() bool { return home.warnings(t) == "" })
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
		eventually(t, fmt.Sprintf("%q is told with its line", row.text), func() bool { return strings.Contains(home.warnings(t), place) })
		if _, told, _ := strings.Cut(home.warnings(t), place); !strings.Contains(told, row.told) {
			t.Errorf("%q: %s", row.text, told)
		}
	}
	for verb, status := range map[string]int{"status": fine, "doctor": failed} {
		if said := home.does(t, status, verb); !strings.Contains(said, home.settings()) {
			t.Errorf("%s: %s", verb, said)
		}
	}
	if a := get(t, p+"instances"); a.status != http.StatusOK {
		t.Error("the last good settings did not stay")
	}
}

// The page's port by a flag counts before our file, that before Serena's, and
// that before the default. Broken settings at the start leave the defaults.
func TestWhichSettingCounts(t *testing.T) {
	w := another(t, "")
	flag, file, serena := freePort(t), freePort(t), freePort(t)
	set := func(port int) string { return fmt.Sprintf("web_dashboard_global_port: %d\n", port) }
	const ours = "session_port: 0\n"
	for _, row := range []struct {
		port         int
		ours, serena string
		args         []string
	}{
		{flag, ours + set(file), set(serena), []string{"--web-dashboard-global-port", strconv.Itoa(flag)}},
		{file, ours + set(file), set(serena), nil},
		{serena, ours, "unknown: true\n" + set(serena), nil},
		{serena, "colour: red\n" + ours + set(file), set(serena), nil},
	} {
		write(t, w.settings(), row.ours)
		write(t, w.path(".serena", "serena_config.yml"), row.serena)
		w.page = row.port
		p := w.start(nil, lamplighter(append([]string{"run"}, row.args...)...))
		eventually(t, fmt.Sprintf("the page is served on %d", row.port), func() bool { return w.answers(page) })
		p.end()
	}
}

// Where the environment names a place, that is used and the usual one is not.
func TestPlaces(t *testing.T) {
	w := another(t, "")
	place := func(name string) string { return w.path("places", name) }
	must(t, errors.Join(os.MkdirAll(place(""), 0o700), os.Rename(w.settings(), place("c.yaml"))))
	w.env = append(w.env, "LAMPLIGHTER_CONFIG="+place("c.yaml"), "LAMPLIGHTER_STATE_DIR="+place("state"), "SERENA_HOME="+place("serena"),
		"LAMPLIGHTER_CONTROL_SOCKET="+place("c"), "LAMPLIGHTER_SOCKET="+place("s"))
	w.start(nil, lamplighter("run"))
	eventually(t, "it serves on the port of the settings named", func() bool { return w.answers(page) })
	for _, name := range []string{"c", "s", "state/events.jsonl", "state/lamplighter.log", "serena/instances.json"} {
		eventually(t, name+" is there", func() bool { _, err := os.Stat(place(name)); return err == nil })
	}
	exists(t, false, w.settings(), w.state(), w.controlSocket(), w.shareSocket(), w.path(".serena"))
	w.does(t, fine, "session", "list", "--json") // finds it
	s := w.wrapper(w.project("placed"))          // and so does this
	s.in.Close()
	s.ends(t, fine)
}

// Nobody else may read what we write or talk to our sockets.
func TestModes(t *testing.T) {
	for path, mode := range map[string]fs.FileMode{
		filepath.Dir(home.controlSocket()): 0o700 | fs.ModeDir,
		home.controlSocket():               0o600 | fs.ModeSocket,
		home.shareSocket():                 0o600 | fs.ModeSocket,
		home.state():                       0o700 | fs.ModeDir,
		home.state("events.jsonl"):         0o600,
		home.state("lamplighter.log"):      0o600,
		home.state("servers"):              0o700 | fs.ModeDir,
		home.state("workspaces"):           0o700 | fs.ModeDir,
	} {
		info, err := os.Lstat(path)
		must(t, err)
		if info.Mode() != mode {
			t.Errorf("%s: %v", path, info.Mode())
		}
	}
}

// Each event is a line of JSON, and in the order in which they happened.
func TestEventLines(t *testing.T) {
	s := startFound(t, "passing")
	s.end()
	kinds := ""
	eventually(t, "its end is written", func() bool {
		text, err := os.ReadFile(home.state("events.jsonl"))
		must(t, err)
		kinds = ""
		for line := range strings.Lines(string(text)) {
			if !strings.HasSuffix(line, "\n") {
				return false // it is being written
			}
			shape(event1).check(t, "an event", []byte(line))
			var event struct {
				PID  int
				Kind string
			}
			must(t, json.Unmarshal([]byte(line), &event))
			if event.PID == s.pid {
				kinds += event.Kind + " "
			}
		}
		return strings.HasSuffix(kinds, "stopped ")
	})
	if kinds != "started project_activated stopped " {
		t.Errorf("of one server happened %q", kinds)
	}
}

// The registry has R3's fields and no others, each of the three states, and
// leaves alone what other programs have written.
func TestRegistry(t *testing.T) {
	without, err := home.startServer("")
	must(t, err)
	defer without.end()
	ill := startFound(t, "ill")
	_ = ill.cmd.Process.Signal(syscall.SIGSTOP) // it runs
	path := home.path(".serena", "instances.json")
	type registry struct{ Instances map[string]object }
	read := func() (list registry, text []byte) {
		text, err := os.ReadFile(path)
		if err == nil {
			must(t, json.Unmarshal(text, &list)) // always whole
		}
		return list, text
	}
	entry := func(pid int) object {
		list, _ := read()
		return list.Instances[strconv.Itoa(pid)]
	}
	for pid, state := range map[int]string{alpha.pid: "live_with_project", without.pid: "live_no_project", ill.pid: "zombie"} {
		eventually(t, state+" is registered", func() bool { return entry(pid)["state"] == state })
	}
	list, text := read()
	shape(`{"instances": {}}`).check(t, path, text)
	for pid, entry := range list.Instances {
		one, err := json.Marshal(entry)
		must(t, err)
		if registered.check(t, pid, one); fmt.Sprint(entry["pid"]) != pid {
			t.Errorf("%s is %v", pid, entry)
		}
	}
	if in := entry(alpha.pid); in["port"] != float64(alpha.port) || in["project_name"] != "alpha" || in["project_root"] != alpha.project || in["context"] != "ide" {
		t.Errorf("of alpha is registered %v", in)
	}
	// Another program registers a server of its own, beside one that is dead.
	foreign := fmt.Sprintf(`"instances": {"%d": {"pid": %[1]d, "port": 1, "started_at": %.1[2]f, "last_heartbeat": %.1[2]f, "context": "theirs", "modes": [],
		"project_name": null, "project_root": null, "state": "live_no_project"},`, os.Getpid(), entry(alpha.pid)["started_at"])
	write(t, path, strings.Replace(string(text), `"instances": {`, foreign, 1))
	_ = ill.cmd.Process.Signal(syscall.SIGCONT) // it runs
	ill.end()
	eventually(t, "the dead one is taken out", func() bool { return entry(ill.pid) == nil })
	if entry(os.Getpid())["context"] != "theirs" || entry(alpha.pid) == nil {
		list, _ := read()
		t.Errorf("left are %v", list)
	}
}

//go:build contract && linux

package contract

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"lamplighter/app/apptest"
)

// Each event is a line of JSON, and in the order in which they happened.
func TestEventLines(t *testing.T) {
	s := home.startFound(t, "passing")
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
	without, ill := home.start(t, nil, home.httpServer("")...), home.startFound(t, "ill")
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

package config

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lamplighter/monitor/rules"
)

func TestSetIdle(t *testing.T) {
	for name, c := range map[string]struct {
		before   string
		after    time.Duration
		attached bool
		want     string // of the file; of an error a part, after "!"
	}{
		"no file yet":         {"", 30 * time.Minute, false, "idle_shutdown_minutes: 30\n"},
		"another value":       {"# mine\nidle_shutdown_minutes: 10  # short\ntray_icon: light\n", 90 * time.Second, false, "# mine\nidle_shutdown_minutes: 1.5  # short\ntray_icon: light\n"},
		"with its clients":    {"tray_icon: light", time.Hour, true, "tray_icon: light\nidle_shutdown_minutes: 60\nidle_shutdown_attached: stop\n"},
		"off":                 {"idle_shutdown_minutes: 10\r\nidle_shutdown_attached: stop\r\n", 0, false, "idle_shutdown_minutes: none\r\nidle_shutdown_attached: notify\r\n"},
		"a rule of its own":   {"policies:\n  - project: a\n    idle_shutdown_minutes: 5\n", 10 * time.Minute, false, "policies:\n  - project: a\n    idle_shutdown_minutes: 5\nidle_shutdown_minutes: 10\n"},
		"another way":         {"{tray_icon: light}\n", time.Minute, false, "!line"},
		"off, and with REPL":  {"idle_shutdown_minutes: 10\nidle_shutdown_repl: true\n", 0, false, "!idle_shutdown_repl"},
		"it is wrong already": {"tray_icon: purple\n", time.Minute, false, "!tray_icon"},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "config.yml")
			if c.before != "" {
				if err := os.WriteFile(file, []byte(c.before), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			err := SetIdle(file, c.after, c.attached)
			text, readErr := os.ReadFile(file)
			want, wrong := strings.CutPrefix(c.want, "!")
			switch {
			case wrong && (err == nil || string(text) != c.before):
				t.Errorf("%v, and the file is %q", err, text)
			case !wrong && (err != nil || readErr != nil || string(text) != want):
				t.Errorf("%v: %q, want %q", err, text, want)
			}
		})
	}
}

// A rule is written before the others, and nothing else changes.
func TestAddServer(t *testing.T) {
	rule := rules.Rule{Name: "my \"notes\"", Program: "node", Arguments: []string{"work/notes.js", "serve"}, Hidden: true}
	const item = "- name: \"my \\\"notes\\\"\"\n%[1]s  program: \"node\"\n%[1]s  arguments: [\"work/notes.js\", \"serve\"]\n%[1]s  hidden: true\n"
	for name, c := range map[string]struct{ before, after string }{
		"no file":           {"", "servers:\n  " + fmt.Sprintf(item, "  ")},
		"no servers":        {"log_level: debug # mine", "log_level: debug # mine\nservers:\n  " + fmt.Sprintf(item, "  ")},
		"others":            {"servers: # known\n\n  # first\n  - name: a\n    program: acme-mcp\nlog_level: debug\n", "servers: # known\n\n  # first\n  " + fmt.Sprintf(item, "  ") + "  - name: a\n    program: acme-mcp\nlog_level: debug\n"},
		"at the margin":     {"servers:\n- name: a\n  program: acme-mcp\n", "servers:\n" + fmt.Sprintf(item, "") + "- name: a\n  program: acme-mcp\n"},
		"on one line":       {"servers: [{name: a, program: acme-mcp}]\n", ""},
		"of that name":      {"servers:\n  - name: my \"notes\"\n    program: acme-mcp\n", ""},
		"a broken file":     {"servers: [\n", ""},
		"an empty list":     {"servers: []\n", ""},
		"null in its place": {"servers:\n", ""},
	} {
		path := filepath.Join(t.TempDir(), "config.yaml")
		if name != "no file" {
			if err := os.WriteFile(path, []byte(c.before), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		err := AddServer(path, rule)
		text, _ := os.ReadFile(path)
		switch {
		case c.after == "" && (err == nil || string(text) != c.before):
			t.Errorf("%s: %v, wrote\n%s", name, err, text)
		case c.after != "" && (err != nil || string(text) != c.after):
			t.Errorf("%s: %v, wrote\n%s\nwant\n%s", name, err, text, c.after)
		}
	}
}

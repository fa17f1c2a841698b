package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
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

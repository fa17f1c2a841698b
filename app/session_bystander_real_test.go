//go:build real && linux

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"lamplighter/app/apptest"
	"lamplighter/monitor/programtest"
	"lamplighter/monitor/serena/serenatest"
)

// TestSessionSparesWhatPeopleWorkIn: a browser that a shell command of Serena has
// started goes on when the session ends, however that comes. Any other program
// that was started in the same way does not.
func TestSessionSparesWhatPeopleWorkIn(t *testing.T) {
	for _, c := range []struct {
		name string
		end  func(t *testing.T, m *manager, s asked)
	}{
		{"released", func(t *testing.T, m *manager, s asked) { m.release(t, s) }},
		{"stopped", func(t *testing.T, m *manager, s asked) {
			if code, out, said := m.does(t, "stop", "--force", strconv.Itoa(s.ID)); code != 0 {
				t.Errorf("stop: %d, %s%s", code, out, said)
			}
		}},
		{"quit", func(t *testing.T, m *manager, _ asked) { m.ends(t, syscall.SIGTERM) }},
		{"killed", func(t *testing.T, m *manager, _ asked) { m.ends(t, syscall.SIGKILL) }},
		{"killed with the keepers", func(t *testing.T, m *manager, _ asked) {
			suspend(t, m.run.cmd.Process.Pid)
			for _, pid := range m.running("lamplighter-connect") {
				if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
					t.Fatal(err)
				}
			}
			m.ends(t, syscall.SIGKILL)
			m.begin(t) // which clears away
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := serenaHome(t)
			m.initialised(t)
			m.set(t, patientStart)
			m.begin(t)
			dir := t.TempDir()
			sleep, err := exec.LookPath("sleep")
			if err != nil {
				t.Fatal(err)
			}
			program, err := os.ReadFile(sleep)
			if err != nil {
				t.Fatal(err)
			}
			browser, ordinary := filepath.Join(dir, "firefox"), filepath.Join(dir, "ordinary")
			if err := errors.Join(programtest.WriteFile(browser, program, 0o700), programtest.WriteFile(ordinary, program, 0o700)); err != nil {
				t.Fatal(err)
			}
			s := m.request(t, serenatest.GoProject(t, "alpha"))
			session := s.connect(t)
			for _, path := range []string{browser, ordinary} {
				for _, how := range []string{"", "setsid "} {
					calls(t, session, "execute_shell_command", map[string]any{"command": fmt.Sprintf("%s%s 600 >/dev/null 2>&1 &", how, path)})
				}
			}
			// The shells that become them have their names on the command line, too.
			runs := func(path string) (n int) {
				for _, line := range m.servers() {
					if strings.HasPrefix(line, path) {
						n++
					}
				}
				return n
			}
			apptest.Eventually(t, "the shells have become two and two of them", func() bool { return runs(browser) == 2 && runs(ordinary) == 2 })
			c.end(t, m, s)
			apptest.Eventually(t, "only the browsers are left", func() bool {
				all := m.servers()
				for _, line := range all {
					if !strings.HasPrefix(line, browser) {
						return false
					}
				}
				return len(all) <= 2
			})
			if left := m.running(browser); len(left) != 2 {
				t.Errorf("browsers: %v", left)
			}
		})
	}
}

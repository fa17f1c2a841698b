//go:build real && linux

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lamplighter/app/apptest"
	"lamplighter/monitor/serena/serenatest"
)

// poorHome is what a desktop gives its programs: a short PATH, and no shell
// that has read anybody's profile. Serena is in a virtual environment that only
// its owner knows, whose folder of programs is returned.
func poorHome(t *testing.T) (m *manager, programs string) {
	t.Helper()
	m = managerHome(t)
	m.initialised(t)
	if err := errors.Join(os.MkdirAll(m.path("work"), 0o700), os.Symlink(filepath.Join(serenatest.Tools(t), "venv"), m.path("work", "tools"))); err != nil {
		t.Fatal(err)
	}
	m.env = append(m.env, "PATH=/usr/bin:/bin", "SHELL=/bin/sh", "SERENA_USAGE_REPORTING=false", "CI=true", "UV_OFFLINE=1", "UV_PYTHON_DOWNLOADS=never")
	return m, m.path("work", "tools", "bin")
}

// refusal asks for a session that cannot be given, and returns why.
func (m *manager) refusal(t *testing.T, project string) string {
	t.Helper()
	status, answer, err := post(t.Context(), m.at("/request-session"), requestBody(project))
	var failure map[string]string
	if err != nil || status != http.StatusInternalServerError || json.Unmarshal([]byte(answer), &failure) != nil || len(failure) != 1 {
		t.Fatalf("%d %s, %v", status, answer, err)
	}
	m.nothingLeft(t)
	t.Log(failure["error"])
	return failure["error"]
}

// works asks for a session, makes a call and releases it, as soon as the
// settings are taken in.
func (m *manager) works(t *testing.T, project string) {
	t.Helper()
	var s asked
	apptest.Eventually(t, "a session is given", func() bool {
		var err error
		s, err = m.tries(t.Context(), project)
		return err == nil
	})
	apptest.Contains(t, calls(t, s.connect(t), "get_current_config", nil), filepath.Base(project))
	m.release(t, s)
	m.nothingLeft(t)
}

// The causes, in our words.
const (
	noSerena = `it has no module "serena"`
	noFile   = "is in none of the"
)

// TestLaunchInAPoorEnvironment: what cannot work is explained, each candidate
// with its own reason, and one line of the settings puts it right.
func TestLaunchInAPoorEnvironment(t *testing.T) {
	t.Parallel()
	m, programs := poorHome(t)
	m.set(t, patientStart)
	m.begin(t)
	project := serenatest.GoProject(t, "alpha")
	apptest.Contains(t, m.refusal(t, project), noFile, "PATH of this process: /usr/bin, /bin", "PATH of the login shell", "uvx", "/usr/bin/python3", noSerena)

	code, out, said := m.does(t, "doctor")
	if code != 1 || said != "" {
		t.Errorf("doctor: %d, %q", code, said)
	}
	apptest.Contains(t, out, "✗", "PATH of the background process", noFile, "uvx", "/usr/bin/python3", noSerena, "session_command")

	command, err := json.Marshal([]string{filepath.Join(programs, "serena")})
	if err != nil {
		t.Fatal(err)
	}
	m.set(t, patientStart+"session_command: "+string(command)+"\n")
	m.works(t, project)
	code, out, said = m.does(t, "doctor")
	if code != 0 || said != "" {
		t.Errorf("doctor: %d, %q\n%s", code, said, out)
	}
	apptest.Contains(t, out, "✓", filepath.Join(programs, "serena"), serenatest.Version)
}

// TestLaunchByTheLoginShell: what the user's own shell finds is found.
func TestLaunchByTheLoginShell(t *testing.T) {
	t.Parallel()
	m, programs := poorHome(t)
	// A profile may chat, too.
	m.write(t, fmt.Sprintf("echo Welcome to the lamps\nPATH=%s:$PATH\n", programs), ".profile")
	m.set(t, patientStart)
	m.begin(t)
	m.works(t, serenatest.GoProject(t, "alpha"))
	code, out, _ := m.does(t, "doctor")
	if code != 0 {
		t.Errorf("doctor: %d\n%s", code, out)
	}
	apptest.Contains(t, out, "login shell", filepath.Join(programs, "serena"))
}

// trapped makes a Go project in which Python modules of the names that a server
// imports lie about, each of which leaves a mark when it runs.
func trapped(t *testing.T) (project, mark string) {
	t.Helper()
	project, mark = serenatest.GoProject(t, "alpha"), filepath.Join(t.TempDir(), "ran")
	code := fmt.Sprintf("open(%q, 'a').write(__file__ + '\\n')\n", mark)
	for _, name := range []string{"mcp.py", "click.py", "sitecustomize.py", "serena/__init__.py", "serena/mcp.py", "serena/cli.py", "src/serena/__init__.py", "src/serena/mcp.py", "src/mcp.py"} {
		path := filepath.Join(project, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(code), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	return project, mark
}

// TestLaunchOfTheFailedAttempt is R2's list, as far as it goes on Linux: each
// way works or is refused with its own cause, and none runs what lies in the
// project.
func TestLaunchOfTheFailedAttempt(t *testing.T) {
	t.Parallel()
	project, mark := trapped(t)
	module := []string{"python3", "-m", "serena.mcp"}
	for _, test := range []struct {
		name    string
		command []string
		env     []string
		inside  bool // started in the project
		want    []string
	}{
		{"the command is not on the PATH", []string{"serena-mcp-server"}, nil, false, []string{"serena-mcp-server", noFile}},
		{"another interpreter than the one that has it", module, nil, false, []string{"/usr/bin/python3", noSerena}},
		{"PYTHONPATH", module, []string{"PYTHONPATH=src"}, false, []string{"/usr/bin/python3", noSerena}},
		{"working directory", module, nil, true, []string{"/usr/bin/python3", noSerena}},
		{"both", module, []string{"PYTHONPATH=src"}, true, []string{"/usr/bin/python3", noSerena}},
		{"found by itself", nil, []string{"PYTHONPATH=src:."}, true, []string{"/usr/bin/python3", noSerena}},
	} {
		t.Run(test.name, func(t *testing.T) {
			m, _ := poorHome(t)
			m.env = append(m.env, test.env...)
			settings := patientStart
			if test.command != nil {
				text, err := json.Marshal(test.command)
				if err != nil {
					t.Fatal(err)
				}
				settings += "session_command: " + string(text) + "\n"
			}
			m.set(t, settings)
			dir := m.dir
			if test.inside {
				m.dir = project // where it is started
			}
			m.run = m.start(t, "run")
			m.dir = dir
			m.ready(t)
			apptest.Contains(t, m.refusal(t, project), test.want...)
			code, out, _ := m.does(t, "doctor")
			if code != 1 {
				t.Errorf("doctor: %d\n%s", code, out)
			}
			apptest.Contains(t, out, test.want...)
			if text, err := os.ReadFile(mark); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("what lies in the project has run: %s, %v", text, err)
			}
		})
	}
	// A module that starts nothing, of the right interpreter: Serena's own program
	// beside that is taken, and the doctor says what is wrong with the settings.
	t.Run("a module that starts nothing", func(t *testing.T) {
		m, programs := poorHome(t)
		m.set(t, patientStart+fmt.Sprintf("session_command: [%q, -m, serena.cli]\n", filepath.Join(programs, "python")))
		m.begin(t)
		m.works(t, project)
		code, out, _ := m.does(t, "doctor")
		if code != 0 {
			t.Errorf("doctor: %d", code)
		}
		apptest.Contains(t, out, "-m serena.cli", "starts nothing", filepath.Join(programs, "serena"))
	})
	t.Run("the right interpreter", func(t *testing.T) {
		m, programs := poorHome(t)
		m.set(t, patientStart+fmt.Sprintf("session_command: [%q, -c, \"from serena.cli import top_level; top_level()\"]\n", filepath.Join(programs, "python")))
		m.begin(t)
		m.works(t, project)
		if text, err := os.ReadFile(mark); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("what lies in the project has run: %s, %v", text, err)
		}
	})
}

// A virtual environment of the project itself is named, and runs only when the
// settings say so.
func TestLaunchFromTheProjectItself(t *testing.T) {
	t.Parallel()
	m, _ := poorHome(t)
	project := serenatest.GoProject(t, "alpha")
	if err := os.Symlink(filepath.Join(serenatest.Tools(t), "venv"), filepath.Join(project, ".venv")); err != nil {
		t.Fatal(err)
	}
	m.set(t, patientStart)
	m.begin(t)
	own := filepath.Join(project, ".venv", "bin", "serena")
	apptest.Contains(t, m.refusal(t, project), own)
	m.set(t, patientStart+fmt.Sprintf("session_command: [%q]\n", own))
	m.works(t, project)
}

// Doctor runs what it finds, and leaves everything as it was. Without a
// lamplighter of its own it would wonder about those of other tests.
func TestDoctorChangesNothing(t *testing.T) {
	m, programs := poorHome(t)
	m.set(t, fmt.Sprintf("session_command: [%q]\n", filepath.Join(programs, "serena")))
	contents := func() []string {
		var all []string
		err := filepath.WalkDir(m.dir, func(path string, entry fs.DirEntry, err error) error {
			if err == nil {
				info, statErr := entry.Info()
				all, err = append(all, fmt.Sprint(path, " ", info.Mode(), " ", info.Size(), " ", info.ModTime())), statErr
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	before := contents()
	code, out, said := m.does(t, "doctor", "--json")
	if !json.Valid([]byte(out)) || !strings.Contains(out, serenatest.Version) {
		t.Errorf("doctor --json: %s", out)
	}
	if after := contents(); code != 0 || said != "" || !slices.Equal(before, after) {
		t.Errorf("doctor: %d, %q, %s\nand changed\n%s\nto\n%s", code, said, out, strings.Join(before, "\n"), strings.Join(after, "\n"))
	}
}

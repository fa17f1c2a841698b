//go:build real

package watch

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/process"
	"lamplighter/monitor/serena"
	"lamplighter/monitor/serena/serenatest"
)

// gopls is a language server that starts only while it may: a script in front of the
// real one, which looks for a file.
type gopls struct{ gate, path string }

func gatedGopls(t *testing.T) gopls {
	t.Helper()
	dir := t.TempDir()
	g := gopls{gate: filepath.Join(dir, "gate"), path: filepath.Join(dir, "bin")}
	real := filepath.Join(serenatest.Tools(t), "bin")
	script := "#!/bin/sh\n[ -e '" + g.gate + "' ] || { echo 'may not start' >&2; exit 1; }\nexec '" + filepath.Join(real, "gopls") + "' \"$@\"\n"
	if err := errors.Join(os.Mkdir(g.path, 0o700), os.WriteFile(filepath.Join(g.path, "gopls"), []byte(script), 0o700)); err != nil {
		t.Fatal(err)
	}
	g.path += ":" + real + ":" + os.Getenv("PATH")
	return g
}

func (g gopls) may(t *testing.T, start bool) {
	t.Helper()
	err := os.Remove(g.gate)
	if start {
		err = os.WriteFile(g.gate, nil, 0o600)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
}

// signalBelow sends a signal to everything below a server.
func signalBelow(t *testing.T, server monitor.Identity, sig syscall.Signal) {
	t.Helper()
	tree, err := process.Tree(server)
	if err != nil || len(tree) < 2 {
		t.Fatalf("nothing is below it: %v, %v", tree, err)
	}
	for _, p := range tree[1:] {
		if err := syscall.Kill(p.PID, sig); err != nil && !errors.Is(err, syscall.ESRCH) {
			t.Fatal(err)
		}
	}
}

// TestRealLanguageServer: one that cannot start, is killed, cannot be started again,
// and is stopped, below a real Serena of each version. Nothing else turns red.
func TestRealLanguageServer(t *testing.T) {
	for _, version := range serenatest.Versions {
		t.Run(version, func(t *testing.T) { testLanguageServer(t, version, false) })
	}
	// A tool that runs blocks it, and its log file is closed.
	t.Run("1.7.0 over HTTP", func(t *testing.T) { testLanguageServer(t, serenatest.Version17, true) })
}

func testLanguageServer(t *testing.T, version string, http bool) {
	t.Parallel()
	g := gatedGopls(t)
	project, other := serenatest.GoProject(t, "alpha"), t.TempDir()
	s := serenatest.Start(t, serenatest.Options{
		Version: version, Project: project, Context: "desktop-app", HTTP: http, Args: []string{"--tool-timeout", "30"}, Env: []string{"PATH=" + g.path},
	})
	var mu sync.Mutex
	told := map[int][]string{} // by pid: when it became red, and well again
	w := New(Options{Record: func(e monitor.Event) {
		mu.Lock()
		defer mu.Unlock()
		if cause, _, _ := strings.Cut(e.Detail, ":"); e.Kind == monitor.EventZombieDetected || e.Kind == monitor.EventHeartbeatRestored {
			told[e.PID] = append(told[e.PID], cause)
		}
	}})
	serveAsEver(t, w) // in shorter ticks too little CPU is used for a call over HTTP to show
	s.WaitReady(t)
	s.Initialize(t)
	symbol := map[string]any{"name_path": "greet", "relative_path": "main.go"}
	call := func() string { return s.Try(t, "find_referencing_symbols", symbol) }
	is := func(kind monitor.ProblemKind) func(*monitor.Instance) bool {
		return func(in *monitor.Instance) bool {
			if kind == "" {
				return inState(monitor.StateProject, "")(in) && in.Problem == nil && in.ProjectName == "alpha" && !*in.Busy
			}
			return in != nil && in.Cause == monitor.CauseLanguageServer && in.Problem.Kind == kind
		}
	}
	see := func(what string, kind monitor.ProblemKind) monitor.Identity {
		t.Helper()
		in := await(t, w, s.ServerPID, what, patience, is(kind))
		t.Logf("%s: %s", what, in.Reason)
		if kind != "" && (in.Problem.Language != "go" || len(in.Problem.Evidence) == 0 || !strings.Contains(in.Reason, "go")) {
			t.Errorf("%s: %+v, %q", what, in.Problem, in.Reason)
		}
		return in.Identity
	}
	server := see("it may not start", monitor.StartFailed)
	if text := call(); strings.Contains(text, "main.go") {
		t.Errorf("answered: %s", text)
	}
	see("a call has failed", monitor.StartFailed)

	g.may(t, true)
	activate := func(dir string) { s.Call(t, "activate_project", map[string]any{"project": dir, "session": "test"}) }
	activate(other)
	activate(project)
	call()
	see("the project was activated again", "")

	signalBelow(t, server, syscall.SIGKILL)
	if text := call(); !strings.Contains(text, "main.go") {
		t.Errorf("not started again: %s", text)
	}
	see("killed, and started again in the call", "")

	g.may(t, false)
	signalBelow(t, server, syscall.SIGKILL)
	call()
	see("killed, and may not start", monitor.RestartFailed)
	g.may(t, true)
	call()
	see("it may start again", "")

	signalBelow(t, server, syscall.SIGSTOP)
	call()
	see("stopped, and a call has waited", monitor.Hangs)
	signalBelow(t, server, syscall.SIGCONT)
	call()
	see("continued", "")

	mu.Lock()
	defer mu.Unlock()
	if got := strings.Join(told[server.PID], ", "); got != strings.TrimSuffix(strings.Repeat("language_server, was language_server, ", 3), ", ") {
		t.Errorf("told: %s", got)
	}
}

// TestRealLostDashboard: a real Serena has chosen the port of its dashboard, and before
// it listens there another one does.
func TestRealLostDashboard(t *testing.T) {
	t.Parallel()
	home, late, gate := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "gate")
	code := "import os, time, flask\nrun = flask.Flask.run\ndef late(*args, **more):\n    while not os.path.exists('" + gate + "'): time.sleep(0.05)\n    run(*args, **more)\nflask.Flask.run = late\n"
	if err := os.WriteFile(filepath.Join(late, "sitecustomize.py"), []byte(code), 0o600); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	loser := serenatest.Start(t, serenatest.Options{
		Command: []string{filepath.Join(serenatest.Tools(t), "venv", "bin", "serena"), "start-mcp-server", "--open-web-dashboard", "false"},
		Home:    home, Env: []string{"PYTHONPATH=" + late},
	})
	serenas := filepath.Join(home, ".serena")
	waitFor(t, "it has chosen a port", func() bool {
		c, err := serena.ReadClaim(serenas, loser.PID, began)
		return err == nil && c.Port != 0
	})
	winner := serenatest.Start(t, serenatest.Options{})
	winner.WaitReady(t)
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	w := New(Options{SerenaHome: serenas})
	serve(t, w)
	in := await(t, w, loser.PID, "it has lost its dashboard", patience, inState(monitor.StateZombie, monitor.CauseNoDashboard))
	if p := in.Problem; p.Port != winner.DashboardPort || p.Owner.PID != winner.ServerPID || in.Port != 0 {
		t.Errorf("%+v, %+v", in, p)
	}
	t.Log(in.Reason)
	await(t, w, winner.ServerPID, "the winner is well", patience, inState(monitor.StateNoProject, ""))
}

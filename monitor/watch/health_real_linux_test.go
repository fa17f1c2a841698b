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

	"lamplighter/monitor"
	"lamplighter/monitor/process"
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
// and is stopped, below a real Serena. Nothing else turns red.
func TestRealLanguageServer(t *testing.T) { testLanguageServer(t, serenatest.Version, false) }

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
				return inState(monitor.StateProject, "")(in) && in.Problem == nil && in.ProjectName == "alpha" && in.Busy != nil && !*in.Busy
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

	signalBelow(t, server, syscall.SIGSTOP)
	noted := await(t, w, server.PID, "stopped, and no call waits", patience, func(in *monitor.Instance) bool { return in != nil && in.Problem != nil })
	if t.Logf("noted: %s", noted.Reason); noted.State != monitor.StateProject || noted.Problem.Kind != monitor.Suspended {
		t.Errorf("%+v, %+v", noted, noted.Problem)
	}
	signalBelow(t, server, syscall.SIGCONT)
	see("continued again", "")

	mu.Lock()
	defer mu.Unlock()
	if got := strings.Join(told[server.PID], ", "); got != strings.TrimSuffix(strings.Repeat("language_server, was language_server, ", 3), ", ") {
		t.Errorf("told: %s", got)
	}
}

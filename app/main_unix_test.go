//go:build unix

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"lamplighter/app/apptest"
	"lamplighter/monitor/programtest"
)

// binary is the program, built once. Beside it lies lamplighter-connect, which
// it looks for there.
var binary string

func TestMain(m *testing.M) {
	// Where the tests themselves run under nohup, what they start would ignore
	// the hangup too. A signal that is handled here is reset for a child.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "lamplighter-test")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		binary = filepath.Join(dir, "lamplighter")
		// How fast it ends is no matter of these tests, but that it does so cleanly.
		const linked = "-X main.version=1.2.3-test -X main.stamp=lamplighter-version=1.2.3-test; -X lamplighter/app/cli.slack=10s"
		for program, pkg := range map[string]string{binary: ".", binary + "-connect": "./connect"} {
			build := exec.Command("go", "build", "-buildvcs=false", "-ldflags", linked, "-o", program, pkg)
			if out, err := build.CombinedOutput(); err != nil {
				fmt.Fprintf(os.Stderr, "%v\n%s", err, out)
				return 1
			}
		}
		return m.Run()
	}())
}

// patience is how long a test waits before it gives up; no test measures time.
const patience = 2 * time.Minute

// home is one user's world: nothing outside of it is read or written, there is
// no desktop, and a browser only writes down what it was asked to open.
type home struct {
	dir string
	env []string
}

func newHome(t *testing.T) *home {
	t.Helper()
	// A short path, since a socket's path is limited.
	dir, err := os.MkdirTemp("", "lamp")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	for _, sub := range []string{"run", "bin"} {
		if err := os.Mkdir(filepath.Join(dir, sub), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	browser := "#!/bin/sh\necho \"$1\" >>\"$HOME/opened\"\necho noise\necho noise >&2\n"
	if err := programtest.WriteFile(filepath.Join(dir, "bin", "xdg-open"), []byte(browser), 0o700); err != nil {
		t.Fatal(err)
	}
	return &home{dir: dir, env: []string{
		"HOME=" + dir, "XDG_RUNTIME_DIR=" + filepath.Join(dir, "run"), "PATH=" + filepath.Join(dir, "bin"), "LANG=C.UTF-8",
	}}
}

func (h *home) path(elem ...string) string { return filepath.Join(append([]string{h.dir}, elem...)...) }

func (h *home) socket() string { return h.path("run", "lamplighter", "control.sock") }
func (h *home) state() string  { return h.path(".local", "state", "lamplighter") }

// write makes a file, or another of it at once, as editors do: nobody sees an empty
// one.
func (h *home) write(t *testing.T, text string, elem ...string) {
	t.Helper()
	name := h.path(elem...)
	aside := filepath.Join(filepath.Dir(name), ".aside")
	if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(aside, []byte(text), 0o600), os.Rename(aside, name)); err != nil {
		t.Fatal(err)
	}
}

// process is the program, running.
type process struct {
	cmd      *exec.Cmd
	out, err apptest.Buffer
	ended    chan struct{}
}

func (h *home) start(t *testing.T, args ...string) *process {
	t.Helper()
	return h.startAs(t, binary, args...)
}

func (h *home) startAs(t *testing.T, program string, args ...string) *process {
	t.Helper()
	p := &process{cmd: exec.Command(program, args...), ended: make(chan struct{})}
	p.cmd.Env, p.cmd.Dir, p.cmd.Stdout, p.cmd.Stderr = h.env, h.dir, &p.out, &p.err
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(p.ended)
		_ = p.cmd.Wait() // the status is read from ProcessState
	}()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill() // it may have ended
		<-p.ended
	})
	return p
}

// status waits for the end and returns the exit status.
func (p *process) status(t *testing.T) int {
	t.Helper()
	select {
	case <-p.ended:
	case <-time.After(patience):
		t.Fatalf("%v does not end; it said %q", p.cmd.Args[1:], p.err.String())
	}
	return p.cmd.ProcessState.ExitCode()
}

func (p *process) running() bool {
	select {
	case <-p.ended:
		return false
	default:
		return true
	}
}

// says waits until a process that goes on has said each part: it may serve before its
// words have come through the pipe.
func (p *process) says(t *testing.T, parts ...string) {
	t.Helper()
	for _, part := range parts {
		apptest.Eventually(t, fmt.Sprintf("it says %q", part), func() bool { return strings.Contains(p.err.String(), part) })
	}
}

// does runs a verb to its end.
func (h *home) does(t *testing.T, args ...string) (status int, out, err string) {
	t.Helper()
	p := h.start(t, args...)
	status = p.status(t)
	return status, p.out.String(), p.err.String()
}

// background starts the background process and waits until it serves.
func (h *home) background(t *testing.T, args ...string) *process {
	t.Helper()
	p := h.start(t, args...)
	apptest.Eventually(t, "the control socket is there", func() bool {
		if !p.running() {
			t.Fatalf("it has ended with %d: %s", p.cmd.ProcessState.ExitCode(), p.err.String())
		}
		return h.answers()
	})
	return p
}

func (h *home) log(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(h.state(), "lamplighter.log"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return string(text)
}

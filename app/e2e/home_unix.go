//go:build unix

package e2e

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lamplighter/app/api"
	"lamplighter/app/apptest"
	"lamplighter/monitor/programtest"
)

// Patience is how long a test waits before it gives up; no test measures time.
const Patience = 2 * time.Minute

// Home is one user's world: nothing outside of it is read or written, there is
// no desktop, and a browser only writes down what it was asked to open.
type Home struct {
	Dir string
	Env []string
}

func NewHome(t *testing.T) *Home {
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
	return &Home{Dir: dir, Env: []string{
		"HOME=" + dir, "XDG_RUNTIME_DIR=" + filepath.Join(dir, "run"), "PATH=" + filepath.Join(dir, "bin"), "LANG=C.UTF-8",
	}}
}

func (h *Home) Path(elem ...string) string { return filepath.Join(append([]string{h.Dir}, elem...)...) }

func (h *Home) Socket() string { return h.Path("run", "lamplighter", "control.sock") }

func (h *Home) State() string { return h.Path(".local", "state", "lamplighter") }

// Write makes a file, or another of it at once, as editors do: nobody sees an empty
// one.
func (h *Home) Write(t *testing.T, text string, elem ...string) {
	t.Helper()
	name := h.Path(elem...)
	aside := filepath.Join(filepath.Dir(name), ".aside")
	if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(aside, []byte(text), 0o600), os.Rename(aside, name)); err != nil {
		t.Fatal(err)
	}
}

// Process is the program, running.
type Process struct {
	Cmd      *exec.Cmd
	Out, Err apptest.Buffer
	Ended    chan struct{}
}

func (h *Home) Start(t *testing.T, args ...string) *Process {
	t.Helper()
	return h.StartAs(t, Program, args...)
}

func (h *Home) StartAs(t *testing.T, program string, args ...string) *Process {
	t.Helper()
	p := &Process{Cmd: exec.Command(program, args...), Ended: make(chan struct{})}
	p.Cmd.Env, p.Cmd.Dir, p.Cmd.Stdout, p.Cmd.Stderr = h.Env, h.Dir, &p.Out, &p.Err
	if err := p.Cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(p.Ended)
		_ = p.Cmd.Wait() // the status is read from ProcessState
	}()
	t.Cleanup(func() {
		_ = p.Cmd.Process.Kill() // it may have ended
		<-p.Ended
	})
	return p
}

// Status waits for the end and returns the exit status.
func (p *Process) Status(t *testing.T) int {
	t.Helper()
	select {
	case <-p.Ended:
	case <-time.After(Patience):
		t.Fatalf("%v does not end; it said %q", p.Cmd.Args[1:], p.Err.String())
	}
	return p.Cmd.ProcessState.ExitCode()
}

func (p *Process) Running() bool {
	select {
	case <-p.Ended:
		return false
	default:
		return true
	}
}

// Says waits until a process that goes on has said each part: it may serve before its
// words have come through the pipe.
func (p *Process) Says(t *testing.T, parts ...string) {
	t.Helper()
	for _, part := range parts {
		apptest.Eventually(t, fmt.Sprintf("it says %q", part), func() bool { return strings.Contains(p.Err.String(), part) })
	}
}

// Does runs a verb to its end.
func (h *Home) Does(t *testing.T, args ...string) (status int, out, err string) {
	t.Helper()
	p := h.Start(t, args...)
	status = p.Status(t)
	return status, p.Out.String(), p.Err.String()
}

// Background starts the background process and waits until it has looked for servers:
// what is there before that was found, and has not started.
func (h *Home) Background(t *testing.T, args ...string) *Process {
	t.Helper()
	p := h.Start(t, args...)
	apptest.Eventually(t, "it has looked for servers", func() bool {
		if !p.Running() {
			t.Fatalf("it has ended with %d: %s", p.Cmd.ProcessState.ExitCode(), p.Err.String())
		}
		return h.Health(t).Ready
	})
	return p
}

// Health is what the background process says of itself, the zero value while none does.
func (h *Home) Health(t *testing.T) api.Health {
	t.Helper()
	client, health, err := api.Dial(t.Context(), h.Socket())
	if err == nil {
		client.Close()
	}
	return health
}

func (h *Home) Log(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(h.State(), "lamplighter.log"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return string(text)
}

// TakesClients waits until lamplighter listens on the share socket, which it does
// some time after it listens on the control socket.
func (h *Home) TakesClients(t *testing.T) {
	t.Helper()
	apptest.Eventually(t, "clients can connect", func() bool {
		conn, err := net.Dial("unix", filepath.Join(filepath.Dir(h.Socket()), "share.sock"))
		if err == nil {
			conn.Close()
		}
		return err == nil
	})
}

func (p *Process) Signal(t *testing.T, s os.Signal) {
	t.Helper()
	if err := p.Cmd.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
}

func ModeOf(t *testing.T, path string) fs.FileMode {
	t.Helper()
	info, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Mode().Perm()
}

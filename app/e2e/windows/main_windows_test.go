package windows

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"
	"unicode/utf16"
	"unsafe"

	"golang.org/x/sys/windows"

	"lamplighter/app/apptest"
)

// console and gui are the two programs, which differ in nothing but whether
// Windows gives them a console. Beside them lies lamplighter-connect.exe, which
// they look for there.
var console, gui string

// helperMode makes the test binary a helper program.
const helperMode = "LAMPLIGHTER_APP_TEST_HELPER"

func TestMain(m *testing.M) {
	if os.Getenv(helperMode) != "" {
		os.Exit(fakeSerena())
	}
	os.Exit(func() int {
		// Under Wine there is no Go to build them with.
		dir := os.Getenv("LAMPLIGHTER_TEST_PROGRAMS")
		if dir == "" {
			var err error
			if dir, err = os.MkdirTemp("", "lamplighter-test"); err != nil {
				fmt.Fprintln(os.Stderr, err)
				return 1
			}
			defer os.RemoveAll(dir)
		}
		console, gui = filepath.Join(dir, "lamplighter.exe"), filepath.Join(dir, "lamplighter-tray.exe")
		const noConsole = " -H=windowsgui"
		for _, p := range []struct{ program, flags, pkg string }{
			{console, "", "lamplighter/app"}, {gui, noConsole, "lamplighter/app"}, {filepath.Join(dir, "lamplighter-connect.exe"), noConsole, "lamplighter/app/connect"},
		} {
			if _, err := os.Stat(p.program); err == nil {
				continue
			}
			build := exec.Command("go", "build", "-buildvcs=false", "-ldflags", "-X main.version=1.2.3-test -X main.stamp=lamplighter-version=1.2.3-test;"+p.flags, "-o", p.program, p.pkg)
			if out, err := build.CombinedOutput(); err != nil {
				fmt.Fprintf(os.Stderr, "%v\n%s", err, out)
				return 1
			}
		}
		return m.Run()
	}())
}

// patience is how long a test waits before it gives up; no test measures time.
const patience = time.Minute

// home is one user's world: what is read and written lies in it, and its
// control pipe is its own. Processes and the desktop are those of the machine.
type home struct {
	dir, pipe string
	env       []string
}

func newHome(t *testing.T) *home {
	t.Helper()
	h := &home{dir: t.TempDir(), pipe: `\\.\pipe\lamplighter-test-` + rand.Text()}
	h.env = append(os.Environ(),
		"LAMPLIGHTER_STATE_DIR="+h.path("state"), "LAMPLIGHTER_CONTROL_SOCKET="+h.pipe, "SERENA_HOME="+h.path("serena"), "XDG_CONFIG_HOME="+h.path("config"))
	return h
}

func (h *home) path(elem ...string) string { return filepath.Join(append([]string{h.dir}, elem...)...) }

func (h *home) log(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(h.path("state", "lamplighter.log"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return string(text)
}

// process is a program, running.
type process struct {
	name     string
	pid      int
	out, err apptest.Buffer
	ended    chan struct{}
	state    *os.ProcessState // once it has ended
}

// start starts a program with pipes for its output.
func (h *home) start(t *testing.T, program string, args ...string) *process {
	t.Helper()
	p := &process{name: filepath.Base(program), ended: make(chan struct{})}
	cmd := exec.Command(program, args...)
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = h.env, h.dir, &p.out, &p.err
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p.pid = cmd.Process.Pid
	go func() {
		defer close(p.ended)
		_ = cmd.Wait() // the status is read from its state
		p.state = cmd.ProcessState
	}()
	p.killAtEnd(t, cmd.Process)
	return p
}

// startBare starts a program as Explorer does: with nothing to write to.
func (h *home) startBare(t *testing.T, program string, args ...string) *process {
	t.Helper()
	line, err := windows.UTF16PtrFromString(windows.ComposeCommandLine(append([]string{program}, args...)))
	if err != nil {
		t.Fatal(err)
	}
	var environment []uint16
	for _, variable := range h.env {
		environment = append(append(environment, utf16.Encode([]rune(variable))...), 0)
	}
	environment = append(environment, 0)
	dir, err := windows.UTF16PtrFromString(h.dir)
	if err != nil {
		t.Fatal(err)
	}
	startup := windows.StartupInfo{Cb: uint32(unsafe.Sizeof(windows.StartupInfo{}))}
	var info windows.ProcessInformation
	if err := windows.CreateProcess(nil, line, nil, nil, false, windows.CREATE_UNICODE_ENVIRONMENT, &environment[0], dir, &startup, &info); err != nil {
		t.Fatal(err)
	}
	running, err := os.FindProcess(int(info.ProcessId))
	windows.CloseHandle(info.Thread)
	windows.CloseHandle(info.Process)
	if err != nil {
		t.Fatal(err)
	}
	p := &process{name: filepath.Base(program), pid: running.Pid, ended: make(chan struct{})}
	go func() {
		defer close(p.ended)
		p.state, _ = running.Wait()
	}()
	p.killAtEnd(t, running)
	return p
}

func (p *process) killAtEnd(t *testing.T, running *os.Process) {
	t.Cleanup(func() {
		_ = running.Kill() // it may have ended
		<-p.ended
	})
}

// status waits for the end and returns the exit status.
func (p *process) status(t *testing.T) int {
	t.Helper()
	select {
	case <-p.ended:
	case <-time.After(patience):
		t.Fatalf("%s does not end; it said %q", p.name, p.err.String())
	}
	return p.state.ExitCode()
}

func (p *process) running() bool {
	select {
	case <-p.ended:
		return false
	default:
		return true
	}
}

// does runs a verb to its end.
func (h *home) does(t *testing.T, args ...string) (status int, out, err string) {
	t.Helper()
	p := h.start(t, console, args...)
	status = p.status(t)
	return status, p.out.String(), p.err.String()
}

// served waits until a background process serves.
func (h *home) served(t *testing.T, p *process) *process {
	t.Helper()
	apptest.Eventually(t, "the control pipe is there", func() bool {
		if !p.running() {
			t.Fatalf("%s has ended with %d: %s", p.name, p.state.ExitCode(), p.err.String())
		}
		status, _, said := h.does(t, "status")
		return status == 0 && said == ""
	})
	return p
}

// end asks a program with a window to end, as taskkill does unless forced.
func (p *process) end(t *testing.T) {
	t.Helper()
	if out, err := exec.Command("taskkill.exe", "/PID", strconv.Itoa(p.pid)).CombinedOutput(); err != nil {
		t.Fatalf("taskkill: %v: %s", err, out)
	}
}

// kill ends a process without asking.
func (p *process) kill(t *testing.T) {
	t.Helper()
	running, err := os.FindProcess(p.pid)
	if err == nil {
		err = running.Kill()
	}
	if err != nil {
		t.Fatal(err)
	}
	<-p.ended
}

//go:build unix

package main

import (
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"lamplighter/app/apptest"
)

func modeOf(t *testing.T, path string) fs.FileMode {
	t.Helper()
	info, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Mode().Perm()
}

func TestStateDirectoryUnusable(t *testing.T) {
	for name, spoil := range map[string]func(t *testing.T, h *home){
		// A file in the place of a directory stops root too.
		"a file": func(t *testing.T, h *home) { h.write(t, "", ".local", "state") },
		"proc":   func(_ *testing.T, h *home) { h.env = append(h.env, "LAMPLIGHTER_STATE_DIR=/proc/self/fdinfo/x") },
		"no home": func(_ *testing.T, h *home) {
			h.env = append(h.env, "HOME=", "XDG_STATE_HOME=", "XDG_CONFIG_HOME=")
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHome(t)
			spoil(t, h)
			p := h.background(t)
			p.says(t, "the state directory cannot be used", "going on without a log file")
			if n := strings.Count(p.err.String(), "state directory"); n != 1 {
				t.Errorf("said %d times: %s", n, p.err.String())
			}
			// The views have it with the first snapshot.
			apptest.Eventually(t, "status says so", func() bool {
				_, _, said := h.does(t, "status")
				return strings.Contains(said, "the state directory cannot be used")
			})
			status, _, said := h.does(t, "run")
			if status != 0 {
				t.Errorf("a second run: %d", status)
			}
			apptest.Contains(t, said, "it already runs "+pidOf(p))
			p.signal(t, syscall.SIGTERM)
			if got := p.status(t); got != 0 {
				t.Errorf("exit status %d", got)
			}
		})
	}
}

// The lock may be held, and its file may name a process, that is no
// lamplighter: nobody is to be told to end that one.
func TestLockHeldByAnotherProgram(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.write(t, "", ".local", "state", "lamplighter", "lamplighter.lock")
	path := filepath.Join(h.state(), "lamplighter.lock")
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := file.WriteString(strconv.Itoa(os.Getpid())); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		t.Fatal(err)
	}
	status, _, said := h.does(t, "run")
	if status != 1 || strings.Contains(said, "pid") {
		t.Errorf("%d, %q", status, said)
	}
	apptest.Contains(t, said, "another program holds the lock "+path, "no lamplighter answers")
}

func TestPipesInThePlaceOfLogAndLock(t *testing.T) {
	for name, want := range map[string]string{
		"lamplighter.log":  "the log cannot be written (%s: it is a pipe, not a file; remove it); going on without a log file",
		"lamplighter.lock": "the single-instance lock cannot be taken: %s: it is a pipe, not a file; remove it; going on with ",
	} {
		t.Run(name, func(t *testing.T) {
			h := newHome(t)
			path := filepath.Join(h.state(), name)
			if err := errors.Join(os.MkdirAll(h.state(), 0o700), syscall.Mkfifo(path, 0o600)); err != nil {
				t.Fatal(err)
			}
			p := h.background(t)
			p.says(t, strings.Replace(want, "%s", path, 1))
			status, _, said := h.does(t, "run")
			if status != 0 {
				t.Errorf("a second run: %d", status)
			}
			apptest.Contains(t, said, "it already runs "+pidOf(p))
			p.signal(t, syscall.SIGTERM)
			if got := p.status(t); got != 0 {
				t.Errorf("exit status %d", got)
			}
			if n := strings.Count(p.err.String(), "a pipe"); n != 1 {
				t.Errorf("said %d times: %s", n, p.err.String())
			}
		})
	}
}

func TestNoPlaceAtAll(t *testing.T) {
	h := newHome(t)
	h.env = []string{"PATH=" + h.path("bin")}
	p := h.start(t)
	apptest.Eventually(t, "it says so", func() bool {
		return strings.Contains(p.err.String(), "set LAMPLIGHTER_CONTROL_SOCKET") && strings.Contains(p.err.String(), "headless")
	})
	p.signal(t, syscall.SIGTERM)
	if got := p.status(t); got != 0 {
		t.Errorf("exit status %d: %s", got, p.err.String())
	}
}

func TestRuntimeDirectoryMissing(t *testing.T) {
	h := newHome(t)
	h.env = append(h.env, "XDG_RUNTIME_DIR=")
	p := h.start(t)
	socket := filepath.Join(h.state(), "run", "control.sock")
	apptest.Eventually(t, "the socket is in the state directory", func() bool {
		conn, err := net.Dial("unix", socket)
		if err == nil {
			conn.Close()
		}
		return err == nil
	})
	if dir := modeOf(t, filepath.Dir(socket)); dir != 0o700 {
		t.Errorf("mode %o", dir)
	}
	if _, _, said := h.does(t, "run"); !strings.Contains(said, "it already runs "+pidOf(p)) {
		t.Error(said)
	}
}

func TestControlSocketUnusable(t *testing.T) {
	t.Parallel()
	foreign := newHome(t)
	listener, err := net.Listen("unix", foreign.path("s"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			_, _ = io.WriteString(conn, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
			conn.Close()
		}
	}()
	for name, test := range map[string]struct{ path, want string }{
		"served by another program": {foreign.path("s"), "a live process already serves it; stop that process or set LAMPLIGHTER_CONTROL_SOCKET"},
		"too long":                  {foreign.path(strings.Repeat("x", 120)), "too long for a socket"},
		"a directory":               {foreign.path("bin"), "not a socket"},
		"abstract":                  {"@lamplighter", "control socket @lamplighter: its path does not begin with /"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			h.env = append(h.env, "LAMPLIGHTER_CONTROL_SOCKET="+test.path)
			p := h.start(t)
			apptest.Eventually(t, "it goes on", func() bool { return strings.Contains(p.err.String(), "headless") })
			p.says(t, test.want, "going on without it")
			status, _, said := h.does(t, "run")
			if status != 1 {
				t.Errorf("a second run: %d", status)
			}
			apptest.Contains(t, said, "it already runs "+pidOf(p)+", but does not answer")
			p.signal(t, syscall.SIGTERM)
			if got := p.status(t); got != 0 {
				t.Errorf("exit status %d", got)
			}
		})
	}
}

//go:build unix

package desktop

import (
	"errors"
	"fmt"
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
	"lamplighter/app/e2e"
)

func pidOf(p *e2e.Process) string { return "(pid " + strconv.Itoa(p.Cmd.Process.Pid) + ")" }

// endsCleanly sends a signal to the background process, which ends with nothing
// left to complain of.
func endsCleanly(t *testing.T, h *e2e.Home, p *e2e.Process, s syscall.Signal) {
	t.Helper()
	p.Signal(t, s)
	if got := p.Status(t); got != 0 {
		t.Errorf("%v: exit status %d: %s", s, got, p.Err.String())
	}
	if log := h.Log(t); strings.Contains(log, "in time") {
		t.Errorf("%v: not clean: %s", s, log)
	}
	if _, err := os.Lstat(h.Socket()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v: the socket is left: %v", s, err)
	}
}

// Without a desktop it serves all the same, and each signal that may end it does,
// while somebody reads its stream. One that it was started to ignore does not.
func TestSignalsEndIt(t *testing.T) {
	h := e2e.NewHome(t)
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP} {
		p := h.Background(t, "run")
		p.Says(t, "lamplighter: headless: ")
		watch := h.Start(t, "status", "--watch", "--json")
		apptest.Eventually(t, "the first line", func() bool { return strings.Contains(watch.Out.String(), "\n") })
		endsCleanly(t, h, p, s)
		if n := strings.Count(p.Err.String(), "\n"); n != 1 {
			t.Errorf("%v: said %d lines: %s", s, n, p.Err.String())
		}
		// The reader goes on by itself, and an interrupt is its normal end.
		watch.Signal(t, syscall.SIGINT)
		if got := watch.Status(t); got != 0 {
			t.Errorf("%v: status --watch: %d: %s", s, got, watch.Err.String())
		}
	}
	apptest.Contains(t, h.Log(t), "msg=started version=1.2.3-test", "headless", "msg=stopped")

	p := h.StartAs(t, "/bin/sh", "-c", `trap "" HUP; exec "$0"`, e2e.Program)
	apptest.Eventually(t, "it answers", func() bool { return h.Health(t).Ready })
	p.Signal(t, syscall.SIGHUP)
	if status, _, said := h.Does(t, "run"); status != 0 || !strings.Contains(said, "it already runs "+pidOf(p)) {
		t.Errorf("%d, %q", status, said)
	}
	endsCleanly(t, h, p, syscall.SIGTERM)
}

// There is one at a time, whoever starts it and however the last one ended.
func TestOneAtATime(t *testing.T) {
	t.Parallel()
	h := e2e.NewHome(t)
	all := []*e2e.Process{h.Start(t), h.Start(t, "run"), h.Start(t, "run")}
	var stay *e2e.Process
	apptest.Eventually(t, "all but one end", func() bool {
		n := 0
		for _, p := range all {
			if p.Running() {
				stay = p
				n++
			}
		}
		return n == 1
	})
	for _, p := range all {
		if p == stay {
			continue
		}
		if got := p.Status(t); got != 0 {
			t.Errorf("exit status %d", got)
		}
		apptest.Contains(t, p.Err.String(), "it already runs "+pidOf(stay))
	}
	apptest.Eventually(t, "the one that stays answers", func() bool { return h.Health(t).Ready })

	stay.Signal(t, syscall.SIGSTOP)
	apptest.Eventually(t, "it hangs", func() bool {
		var how syscall.WaitStatus
		pid, err := syscall.Wait4(stay.Cmd.Process.Pid, &how, syscall.WUNTRACED|syscall.WNOHANG, nil)
		return err == nil && pid > 0 && how.Stopped()
	})
	status, _, said := h.Does(t, "run")
	if status != 1 {
		t.Errorf("beside one that hangs: exit status %d", status)
	}
	apptest.Contains(t, said, "it already runs "+pidOf(stay)+", but does not answer", "end that process")

	stay.Signal(t, syscall.SIGKILL)
	<-stay.Ended
	if _, err := os.Lstat(h.Socket()); err != nil {
		t.Fatalf("the test wants a stale socket: %v", err)
	}
	if status, _, said := h.Does(t, "status"); status != 0 || said != "" {
		t.Errorf("status beside a stale socket: %d, %q", status, said)
	}
	endsCleanly(t, h, h.Background(t), syscall.SIGTERM)

	// The lock may be held, and its file may name a process, that is no
	// lamplighter: nobody is to be told to end that one.
	path := filepath.Join(h.State(), "lamplighter.lock")
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	_, err = file.WriteString(strconv.Itoa(os.Getpid()))
	if err := errors.Join(err, syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)); err != nil {
		t.Fatal(err)
	}
	if status, _, said = h.Does(t, "run"); status != 1 || strings.Contains(said, "pid") {
		t.Errorf("%d, %q", status, said)
	}
	apptest.Contains(t, said, "another program holds the lock "+path, "no lamplighter answers")
}

// Where a place cannot be used it says so once, and goes on without it.
func TestPlacesThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	foreign := e2e.NewHome(t)
	listener, err := net.Listen("unix", foreign.Path("s"))
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
	with := func(variable string) func(t *testing.T, h *e2e.Home) {
		return func(_ *testing.T, h *e2e.Home) { h.Env = append(h.Env, variable) }
	}
	pipe := func(name string) func(t *testing.T, h *e2e.Home) {
		return func(t *testing.T, h *e2e.Home) {
			path := filepath.Join(h.State(), name)
			if err := errors.Join(os.MkdirAll(h.State(), 0o700), syscall.Mkfifo(path, 0o600)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, test := range map[string]struct {
		spoil func(t *testing.T, h *e2e.Home)
		want  string
		mute  bool // its control socket is the place
	}{
		// A file in the place of a directory stops root too.
		"a file for the state":    {func(t *testing.T, h *e2e.Home) { h.Write(t, "", ".local", "state") }, "the state directory cannot be used", false},
		"no home":                 {with("HOME="), "the state directory cannot be used", false},
		"a pipe for the log":      {pipe("lamplighter.log"), "it is a pipe, not a file; remove it); going on without a log file", false},
		"a pipe for the lock":     {pipe("lamplighter.lock"), "it is a pipe, not a file; remove it; going on with ", false},
		"another one's socket":    {with("LAMPLIGHTER_CONTROL_SOCKET=" + foreign.Path("s")), "a live process already serves it; stop that process or set LAMPLIGHTER_CONTROL_SOCKET", true},
		"a directory as a socket": {with("LAMPLIGHTER_CONTROL_SOCKET=" + foreign.Path("bin")), "not a socket", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := e2e.NewHome(t)
			test.spoil(t, h)
			p := h.Start(t)
			p.Says(t, "headless", test.want)
			if n := strings.Count(p.Err.String(), test.want); n != 1 {
				t.Errorf("said %d times: %s", n, p.Err.String())
			}
			wantStatus := 0
			if test.mute {
				wantStatus = 1
			} else {
				apptest.Eventually(t, "it answers", func() bool { return h.Health(t).Ready })
			}
			if status, _, said := h.Does(t, "run"); status != wantStatus || !strings.Contains(said, "it already runs "+pidOf(p)) {
				t.Errorf("a second run: %d, %s", status, said)
			}
			p.Signal(t, syscall.SIGTERM)
			if got := p.Status(t); got != 0 {
				t.Errorf("exit status %d: %s", got, p.Err.String())
			}
		})
	}
}

// What a client was started with counts until lamplighter ends, and others are
// told of it.
func TestFlagsOfClients(t *testing.T) {
	h := e2e.NewHome(t)
	h.Background(t)
	h.TakesClients(t)
	first, second := apptest.FreePort(t), apptest.FreePort(t)
	direct := func(port int) string {
		t.Helper()
		// A command that cannot be shared, so that it runs here.
		status, out, errs := h.Does(t, "connect", fmt.Sprintf("--web-dashboard-global-port=%d", port), "--", "/bin/echo", "alone")
		if status != 0 || out != "alone\n" {
			t.Errorf("%d, %q, %q", status, out, errs)
		}
		return errs
	}
	apptest.Contains(t, direct(first), fmt.Sprintf("=%d: the global dashboard is served there now", first))
	if said := direct(first); strings.Contains(said, strconv.Itoa(first)) {
		t.Errorf("who wants what holds is told %q", said)
	}
	apptest.Contains(t, direct(second), fmt.Sprintf("=%d is not used: this lamplighter runs with %d; the first wins", second, first))
	e2e.Serves(t, e2e.PageAt(first))
}

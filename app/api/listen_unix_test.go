//go:build unix

package api

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"lamplighter/app/apptest"
	"lamplighter/monitor/programtest"
)

func modeOf(t *testing.T, path string) fs.FileMode {
	t.Helper()
	info, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Mode().Perm()
}

func TestSocketIsPrivate(t *testing.T) {
	srv := serve(t, newModel(), shower{}, nil)
	if dir, socket := modeOf(t, filepath.Dir(srv.path)), modeOf(t, srv.path); dir != 0o700 || socket != 0o600 {
		t.Errorf("directory %o, socket %o", dir, socket)
	}
	srv.stop(t)
	if _, err := os.Lstat(srv.path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("after the end the socket is still there (%v)", err)
	}
}

func TestOwnDirectoryIsTightened(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "lamplighter")
	if err := errors.Join(os.Mkdir(dir, 0o700), os.Chmod(dir, 0o777)); err != nil {
		t.Fatal(err)
	}
	start(t, Options{Path: filepath.Join(dir, "s"), Handler: Handler(parts(newModel(), shower{})), Log: quiet()})
	if mode := modeOf(t, dir); mode != 0o700 {
		t.Errorf("mode %o", mode)
	}
}

func TestRemovedSocketComesBack(t *testing.T) {
	m := newModel()
	var log apptest.Buffer
	srv := serve(t, m, shower{}, func(o *Options) {
		o.CheckEvery = time.Millisecond
		o.Log = slog.New(slog.NewTextHandler(&log, nil))
	})
	before := srv.dial(t)
	// In one step: while it is emptied the server would fill it again at times.
	dir := filepath.Dir(srv.path)
	if err := os.Rename(dir, dir+".removed"); err != nil {
		t.Fatal(err)
	}
	apptest.Eventually(t, "the socket is back", func() bool {
		c, _, err := Dial(t.Context(), srv.path)
		if err == nil {
			c.Close()
		}
		return err == nil
	})
	if _, err := before.Instances(t.Context()); err != nil {
		t.Errorf("an open connection did not survive: %v", err)
	}
	if n := strings.Count(log.String(), "made again"); n != 1 {
		t.Errorf("said %d times: %s", n, log.String())
	}
	srv.stop(t)
	if _, err := os.Lstat(srv.path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("after the end the socket is still there (%v)", err)
	}
}

func TestReplacedSocketIsLeftAlone(t *testing.T) {
	var log apptest.Buffer
	srv := serve(t, newModel(), shower{}, func(o *Options) {
		o.CheckEvery = time.Millisecond
		o.Log = slog.New(slog.NewTextHandler(&log, nil))
	})
	// In one step: between a removal and a new socket the server would be
	// quicker at times.
	other, err := net.Listen("unix", srv.path+".other")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if err := os.Rename(srv.path+".other", srv.path); err != nil {
		t.Fatal(err)
	}
	apptest.Eventually(t, "the server says so", func() bool { return strings.Contains(log.String(), "cannot be made again") })
	srv.stop(t)
	if _, err := os.Lstat(srv.path); err != nil {
		t.Errorf("the other one's socket is gone: %v", err)
	}
	if n := strings.Count(log.String(), "cannot be made again"); n != 1 {
		t.Errorf("said %d times", n)
	}
}

// As root, a real other user tries; otherwise the kernel keeps that user away
// from the socket already, which TestSocketIsPrivate sees.
func TestAnotherRealUserIsRefused(t *testing.T) {
	if os.Getuid() != 0 {
		return
	}
	dir := strangersDir(t)
	srv := serve(t, newModel(), shower{}, func(o *Options) { o.Path = filepath.Join(dir, "s") })
	if err := os.Chmod(srv.path, 0o777); err != nil {
		t.Fatal(err)
	}
	if out, err := asStranger(t, dir, helper(t, "connect-unix", srv.path)).CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
	srv.dial(t) // we are still served
}

// strangersDir has the test program, opened wide on purpose, so that only the
// guard is left.
func strangersDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "stranger")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	program := filepath.Join(dir, "test")
	self, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Chmod(dir, 0o755), programtest.WriteFile(program, self, 0o700), os.Chmod(program, 0o755)); err != nil {
		t.Fatal(err)
	}
	return dir
}

// asStranger makes a helper run as another user of the machine.
func asStranger(t *testing.T, dir string, cmd *exec.Cmd) *exec.Cmd {
	t.Helper()
	cmd.Path, cmd.Dir = filepath.Join(dir, "test"), dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	return cmd
}

// As root, a real other user has the port at [::1], or asks there.
func TestAnotherRealUserAtIPv6(t *testing.T) {
	if os.Getuid() != 0 {
		return
	}
	dir := strangersDir(t)
	taken := holdPortWith(t, asStranger(t, dir, helper(t, "hold", "[::1]:0")))
	s := serveWeb(t, http.NotFoundHandler(), func(w *Web) { w.Set(true, taken) })
	if got := s.port(t); got <= taken || got > taken+morePorts {
		t.Errorf("serves on %d, and another user has %d at [::1]", got, taken)
	}
	if !strings.HasPrefix(s.URL(), "http://127.0.0.1:") {
		t.Errorf("the page is at %s", s.URL())
	}
	at := fmt.Sprintf("[::1]:%d", s.port(t))
	if out, err := asStranger(t, dir, helper(t, "connect-tcp6", at)).CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
	apptest.Eventually(t, "it is told", func() bool { return strings.Contains(s.log.String(), "another user's program connects") })
	// The same program as our user is let in.
	if out, err := helper(t, "connect-tcp6", at).CombinedOutput(); err == nil || !strings.Contains(string(out), "404 Not Found") {
		t.Errorf("ours: %v: %s", err, out)
	}
}

// foreign is a socket at which another program answers each request, or greets
// before one, with text, and then closes.
func foreign(t *testing.T, greets bool, text string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	t.Cleanup(func() { l.Close(); all.Wait() })
	all.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() {
				defer conn.Close()
				if !greets {
					if _, err := conn.Read(make([]byte, 4096)); err != nil {
						return
					}
				}
				if _, err := io.WriteString(conn, text); err != nil {
					return
				}
				if greets {
					_, _ = io.Copy(io.Discard, conn) // until the client gives up
				}
			})
		}
	})
	return path
}

// What goes wrong is told in our words, not in those of the libraries.
func TestDial(t *testing.T) {
	answer := func(body string) string { return "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + body }
	none := filepath.Join(t.TempDir(), "none")
	for name, test := range map[string]struct{ path, want string }{
		"no place":      {"", "no place without a home directory"},
		"nothing there": {none, "connecting to " + none + ": no such file or directory"},
		"too long":      {"/" + strings.Repeat("x", 200), "too long for a socket"},
		"abstract":      {"@abstract", "does not begin with /; set LAMPLIGHTER_CONTROL_SOCKET"},
		"a greeting":    {foreign(t, true, "220 mail\r\n"), "another program serves "},
		"garbage":       {foreign(t, false, "\x00\x01\x02\x03"), "another program serves "},
		"not JSON":      {foreign(t, false, answer("hello")), "another program serves "},
		"other JSON":    {foreign(t, false, answer(`["hello"]`)), "another program serves "},
		"another name":  {foreign(t, false, answer(`{"program":"x"}`)), "another program serves "},
		"not found":     {foreign(t, false, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"), "another program serves "},
		"half":          {foreign(t, false, answer(`{"program":`)), "was closed before it answered"},
		"closes":        {foreign(t, false, ""), "was closed before it answered"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := Dial(t.Context(), test.path)
			if !errors.Is(err, ErrUnreachable) || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("got %v", err)
			}
			for _, raw := range []string{"http", "%!", "Peek", "EOF", "dial"} {
				if strings.Contains(err.Error(), raw) {
					t.Errorf("%q is in %v", raw, err)
				}
			}
		})
	}
}

// Nobody serves the socket any more.
func TestDialOfAStaleSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Dial(t.Context(), path); !errors.Is(err, ErrUnreachable) || !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("the client says %v", err)
	}
	start(t, Options{Path: path, LockHeld: true, Handler: Handler(parts(newModel(), shower{})), Log: quiet()})
}

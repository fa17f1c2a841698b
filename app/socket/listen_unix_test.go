//go:build unix

package socket

import (
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"lamplighter/app/apptest"
)

// listenAt makes a socket that ends with the test.
func listenAt(t *testing.T, path string) Listener {
	t.Helper()
	l, err := Listen(Share(path), true, quiet())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func TestListenRefuses(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	open := filepath.Join(dir, "open")
	if err := errors.Join(os.WriteFile(file, nil, 0o600), os.Mkdir(open, 0o700), os.Chmod(open, 0o777)); err != nil {
		t.Fatal(err)
	}
	live := filepath.Join(dir, "live")
	listenAt(t, live)
	for name, test := range map[string]struct {
		path string
		want error
		text string // with the variable of the place for ENV
	}{
		"no place":             {"", ErrNoPlace, "set ENV"},
		"too long":             {filepath.Join(dir, strings.Repeat("x", 120)), ErrPathTooLong, "set ENV to a shorter one"},
		"abstract":             {"@abstract", ErrNotAbsolute, "set ENV to one that does"},
		"relative":             {"s", ErrNotAbsolute, "set ENV to one that does"},
		"a file is there":      {file, ErrUnsafe, "not a socket lies there; remove it or set ENV"},
		"writable by others":   {filepath.Join(open, "s"), ErrUnsafe, "chmod go-w on it, or set ENV"},
		"served":               {live, ErrInUse, "stop that process or set ENV"},
		"directory is a file":  {filepath.Join(file, "s"), syscall.ENOTDIR, "directory cannot be made"},
		"directory impossible": {"/proc/self/fdinfo/lamplighter/s", nil, "directory cannot be made"},
	} {
		for _, place := range []Place{Control(test.path), Share(test.path)} {
			t.Run(name+" "+place.Name, func(t *testing.T) {
				l, err := Listen(place, true, quiet())
				if err == nil {
					l.Close()
					t.Fatal("it listens")
				}
				text := strings.ReplaceAll(test.text, "ENV", place.Env)
				if test.want != nil && !errors.Is(err, test.want) || !strings.Contains(err.Error(), text) || !strings.Contains(err.Error(), place.Name) {
					t.Errorf("got %v", err)
				}
			})
		}
	}
	if _, err := os.Stat(file); err != nil {
		t.Errorf("what lay at the path is gone: %v", err)
	}
}

func TestNamesOfPlaces(t *testing.T) {
	for got, want := range map[string]string{
		Control("/c").String(): "control socket /c", Control("").Env: "LAMPLIGHTER_CONTROL_SOCKET",
		Share("/s").String(): "share socket /s", Share("").Env: "LAMPLIGHTER_SOCKET",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// leaveStale makes a socket file that nobody serves.
func leaveStale(t *testing.T, path string) {
	t.Helper()
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestStaleSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	leaveStale(t, path)
	if _, err := Listen(Share(path), false, quiet()); err == nil || !strings.Contains(err.Error(), "remove it") {
		t.Errorf("without the lock: %v", err)
	}
	if _, err := os.Lstat(path); err != nil {
		t.Errorf("without the lock the file was removed: %v", err)
	}
	if _, err := Dial(t.Context(), Share(path)); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("Dial says %v", err)
	}
	listenAt(t, path)
	conn, err := Dial(t.Context(), Share(path))
	if err != nil {
		t.Fatal(err)
	}
	conn.Close()
}

// Whoever touches the file leaves it what it is; a new one is another.
func TestTouchedSocketIsTheSame(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	l := listenAt(t, path)
	if l.Gone() {
		t.Error("the socket is gone at once")
	}
	later := time.Now().Add(time.Second)
	if err := os.Chtimes(path, later, later); err != nil {
		t.Fatal(err)
	}
	if l.Gone() {
		t.Error("a touched socket counts as another")
	}
	for range 100 { // until a file system would give its number to another file
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		leaveStale(t, path)
		if !l.Gone() {
			t.Fatal("another socket counts as ours")
		}
	}
}

func TestOtherUsersAreRefused(t *testing.T) {
	var log apptest.Buffer
	path := filepath.Join(t.TempDir(), "s")
	l, err := Listen(Share(path), true, slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	// To a guard that serves another user we are the stranger.
	guard := l.(*socket)
	guard.uid++
	accepted := make(chan error, 1)
	go func() {
		conn, err := guard.Accept()
		if err == nil {
			conn.Close()
		}
		accepted <- err
	}()
	for range 3 {
		conn, err := net.Dial("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		if n, err := conn.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
			t.Errorf("read %d, %v; want a closed connection", n, err)
		}
		conn.Close()
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-accepted; !errors.Is(err, net.ErrClosed) {
		t.Errorf("Accept gave %v", err)
	}
	if n := strings.Count(log.String(), "connection to the share socket from another user"); n != 2 || strings.Contains(log.String(), "error=") { // the first and the second
		t.Errorf("logged %d times: %s", n, log.String())
	}
}

func TestPeerIsSeen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	l := listenAt(t, path)
	theirs, err := Dial(t.Context(), Share(path))
	if err != nil {
		t.Fatal(err)
	}
	ours, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer ours.Close()
	if pid, err := PeerPID(ours); err != nil || pid != os.Getpid() {
		t.Errorf("%d, %v; we are %d", pid, err, os.Getpid())
	}
	if _, err := PeerPID(nil); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("of no socket: %v", err)
	}
	theirs.Close()
	if _, err := ours.Write([]byte("x")); !HungUp(err) {
		t.Errorf("the other end has gone: %v", err)
	}
}

// serveNames accepts connections, and says to each what it is.
func serveNames(t *testing.T, l net.Listener, name string) {
	t.Helper()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = io.WriteString(conn, name)
			conn.Close()
		}
	}()
	t.Cleanup(func() { l.Close(); <-ended })
}

// whoServes is what serveNames of the process that serves a path says; "" where
// nobody does.
func whoServes(path string) string {
	conn, err := net.Dial("unix", path)
	if err != nil {
		return ""
	}
	defer conn.Close()
	text, _ := io.ReadAll(conn)
	return string(text)
}

func TestStandingSocketComesBack(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "lamplighter")
	path := filepath.Join(dir, "s")
	var log apptest.Buffer
	s, err := Stand(Options{Place: Share(path), LockHeld: true, Log: slog.New(slog.NewTextHandler(&log, nil)), CheckEvery: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	serveNames(t, s, "ours")
	if got := whoServes(path); got != "ours" {
		t.Fatalf("%q serves", got)
	}
	for _, aside := range []string{".first", ".second"} {
		// In one step: it would be made again between the removal of what is in there
		// and that of the directory.
		if err := os.Rename(dir, dir+aside); err != nil {
			t.Fatal(err)
		}
		apptest.Eventually(t, "the socket is back", func() bool { return whoServes(path) == "ours" })
	}
	if n := strings.Count(log.String(), "made again"); n != 2 {
		t.Errorf("said %d times: %s", n, log.String())
	}
	info, err := os.Lstat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	for range 2 {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("after the end the socket is still there (%v)", err)
	}
}

func TestStandingLeavesWhatReplacesItAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	var log apptest.Buffer
	s, err := Stand(Options{Place: Share(path), LockHeld: true, Log: slog.New(slog.NewTextHandler(&log, nil)), CheckEvery: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	serveNames(t, s, "ours")
	other, err := net.Listen("unix", path+".other")
	if err != nil {
		t.Fatal(err)
	}
	serveNames(t, other, "theirs")
	if err := os.Rename(path+".other", path); err != nil {
		t.Fatal(err)
	}
	apptest.Eventually(t, "it says so", func() bool { return strings.Contains(log.String(), "cannot be made again") })
	s.Close()
	if got := whoServes(path); got != "theirs" {
		t.Errorf("%q serves", got)
	}
	if n := strings.Count(log.String(), "cannot be made again"); n != 1 {
		t.Errorf("said %d times: %s", n, log.String())
	}
}

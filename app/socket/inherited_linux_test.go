package socket

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// heir is the test program, not started yet, which takes over sockets as from
// systemd, and whose socket should be at path.
func heir(t *testing.T, names, path string, files ...*os.File) *exec.Cmd {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", `LISTEN_PID=$$ exec "$0" "$@"`, os.Args[0], path)
	cmd.Env = append(os.Environ(), helperTask+"=inherit", "LISTEN_FDNAMES="+names, "LISTEN_FDS="+string(rune('0'+len(files))))
	cmd.ExtraFiles = files
	return cmd
}

// passed makes a socket and its descriptor, to pass on.
func passed(t *testing.T, path string) *os.File {
	t.Helper()
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	defer l.Close()
	file, err := l.File()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	return file
}

func TestInheritedSocketServes(t *testing.T) {
	for name, test := range map[string]struct{ names, file string }{
		"by its name": {"other:share", "elsewhere"},
		"by its path": {"other:lamplighter.socket", "s"},
		"no names":    {"", "s"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, test.file)
			socket := passed(t, path)
			if err := os.Chmod(path, 0o666); err != nil { // as systemd makes it
				t.Fatal(err)
			}
			cmd := heir(t, test.names, filepath.Join(dir, "s"), passed(t, filepath.Join(dir, "o")), socket)
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			line, err := bufio.NewReader(out).ReadString('\n')
			if line != "inherited "+path+"   \n" { // and its variables are gone
				t.Fatalf("it says %q, %v", line, err)
			}
			if got := whoServes(path); got != "served\n" {
				t.Errorf("got %q", got)
			}
			if err := cmd.Wait(); err != nil {
				t.Error(err)
			}
			info, err := os.Lstat(path)
			if err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("the file is %v, %v; want it to be there, for us alone", info, err)
			}
		})
	}
}

func TestInheritedIsRefused(t *testing.T) {
	dir := t.TempDir()
	open := filepath.Join(dir, "open")
	if err := errors.Join(os.Mkdir(open, 0o700), os.Chmod(open, 0o777)); err != nil {
		t.Fatal(err)
	}
	tcp, err := net.ListenTCP("tcp4", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer tcp.Close()
	overTCP, err := tcp.File()
	if err != nil {
		t.Fatal(err)
	}
	defer overTCP.Close()
	packets, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: filepath.Join(dir, "g"), Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer packets.Close()
	datagrams, err := packets.File()
	if err != nil {
		t.Fatal(err)
	}
	defer datagrams.Close()
	plain, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	abstract := passed(t, "@lamplighter-test-"+filepath.Base(dir))
	for name, test := range map[string]struct {
		names string
		file  *os.File
		want  string
	}{
		"TCP":                {"share", overTCP, "no Unix stream socket"},
		"datagrams":          {"share", datagrams, "it is no"},
		"a file":             {"share", plain, "it is no socket"},
		"another":            {"web", passed(t, filepath.Join(dir, "w")), `neither called "share" nor at `},
		"everybody's":        {"share", abstract, "does not begin with /"},
		"a public directory": {"share", passed(t, filepath.Join(open, "s")), "others may write to"},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := heir(t, test.names, filepath.Join(dir, "s"), test.file).CombinedOutput()
			if err == nil || !strings.Contains(string(out), test.want) {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
}

// What was meant for another process is not taken, nor passed on.
func TestInheritedIsForAnother(t *testing.T) {
	for name, variables := range map[string]map[string]string{
		"nothing":         {},
		"another process": {"LISTEN_PID": "1", "LISTEN_FDS": "1", "LISTEN_FDNAMES": "share"},
		"garbage":         {"LISTEN_PID": "x", "LISTEN_FDS": "-5", "LISTEN_FDNAMES": ":::"},
	} {
		t.Run(name, func(t *testing.T) {
			for variable, value := range variables {
				t.Setenv(variable, value)
			}
			l, err := Inherited(Share(filepath.Join(t.TempDir(), "s")), quiet())
			if l != nil || err != nil {
				t.Errorf("%v, %v", l, err)
			}
			if os.Getenv("LISTEN_PID")+os.Getenv("LISTEN_FDS") != "" {
				t.Error("the variables are passed on")
			}
		})
	}
}

// The file of an inherited socket is made anew by us when it is gone.
func TestInheritedSocketComesBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	first, err := adopt(passed(t, path), Share(path), quiet())
	if err != nil {
		t.Fatal(err)
	}
	s, err := Stand(Options{Place: Share(path), LockHeld: true, Log: quiet(), First: first, CheckEvery: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	serveNames(t, s, "ours")
	if got := whoServes(path); got != "ours" {
		t.Fatalf("%q serves", got)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	conn, err := Dial(t.Context(), Share(path))
	for err != nil { // until it is there again; a connection to it waits to be accepted
		conn, err = Dial(t.Context(), Share(path))
	}
	defer conn.Close()
	if text, err := io.ReadAll(conn); string(text) != "ours" {
		t.Errorf("%q, %v", text, err)
	}
}

// Whoever passed a socket on holds it too, so that nobody but us can be reached
// there when we serve it a second time.
func TestInheritedSocketServesAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	file := passed(t, path)
	first, err := adopt(file, Share(path), quiet())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { first.Close() })
	for _, name := range []string{"once", "again"} {
		s, err := Stand(Options{Place: Share(path), LockHeld: true, Log: quiet(), First: first})
		if err != nil {
			t.Fatal(err)
		}
		serveNames(t, s, name)
		if got := whoServes(path); got != name {
			t.Errorf("%q serves", got)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	s, err := Stand(Options{Place: Share(path), LockHeld: true, Log: quiet(), First: first})
	if err != nil {
		t.Fatal(err)
	}
	serveNames(t, s, "anew")
	if got := whoServes(path); got != "anew" {
		t.Errorf("%q serves", got)
	}
}

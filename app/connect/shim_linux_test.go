package main

import (
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"lamplighter/app/apptest"
	"lamplighter/app/config"
	"lamplighter/app/share/wire"
)

// TestTerminated: a signal ends it in every state, while its input is open.
func TestTerminated(t *testing.T) {
	// nohup ignores it, and what it runs would inherit that.
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	defer signal.Stop(hangups)
	for name, reach := range map[string]func(*fake, *client){
		"before the welcome": func(f *fake, _ *client) { f.conn().hello() },
		"open": func(f *fake, c *client) {
			conn, _ := f.welcome(wire.Shared, "")
			c.write(request(1))
			conn.accept(1)
		},
		"lost": func(f *fake, c *client) {
			conn, _ := f.welcome(wire.Shared, "")
			c.write(request(1))
			conn.accept(1)
			f.close()
			conn.close()
		},
		"a client that does not read": func(f *fake, c *client) {
			conn, _ := f.welcome(wire.Shared, "")
			conn.send(wire.Deliver, 0, string(make([]byte, 1<<20)))
			conn.send(wire.Say, 0, "")
		},
		"a background process that does not read": func(f *fake, c *client) {
			f.welcome(wire.Shared, "")
			c.write(string(make([]byte, 1<<20)))
			c.write(request(2))
		},
	} {
		for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP} {
			t.Run(name+"/"+sig.String(), func(t *testing.T) {
				f := newFake(t)
				c := connectTo(t, f.path, nil, "serena")
				reach(f, c)
				if err := c.cmd.Process.Signal(sig); err != nil {
					t.Fatal(err)
				}
				if status := c.status(t); status != 0 {
					t.Errorf("exit status %d", status)
				}
			})
		}
	}
}

// TestClientReadsNoMore: a client that has closed its end is gone, whether
// something is to be printed or not.
func TestClientReadsNoMore(t *testing.T) {
	f := newFake(t)
	c := connectTo(t, f.path, nil, "serena")
	conn, _ := f.welcome(wire.Shared, "")
	c.outEnd.Close()
	if status := c.status(t); status != 0 {
		t.Errorf("exit status %d", status)
	}
	conn.closed()
}

// TestInputThatDoesNotWait: somebody else may have set that for our input.
func TestInputThatDoesNotWait(t *testing.T) {
	f := newFake(t)
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_NONBLOCK|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	ours, theirs := os.NewFile(uintptr(fds[0]), "ours"), os.NewFile(uintptr(fds[1]), "theirs")
	defer ours.Close()
	cmd := exec.Command(program, "connect", "--socket", f.path, "--", "serena")
	cmd.Stdin, cmd.Stdout = theirs, theirs
	// A file that package os knows as one that does not wait would be changed.
	r := startProgram(t, cmd)
	if err := syscall.SetNonblock(fds[1], true); err != nil {
		t.Fatal(err)
	}
	theirs.Close()
	conn, _ := f.welcome(wire.Shared, "")
	large := string(make([]byte, 4<<20))
	together(func() {
		if _, err := ours.WriteString(large + "\n"); err != nil {
			t.Error(err)
		}
	}, func() {
		if got := conn.accept(1); got != large {
			t.Errorf("%d bytes arrived", len(got))
		}
	})
	together(func() { conn.send(wire.Deliver, 0, large) }, func() {
		left := len(large) + 1
		for chunk := make([]byte, 1<<20); left > 0; {
			n, err := ours.Read(chunk)
			if err != nil {
				t.Error(err)
				return
			}
			left -= n
		}
	})
	ours.Close()
	r.status(t)
}

// TestSocketOfAnotherUser: what it says is not heard.
func TestSocketOfAnotherUser(t *testing.T) {
	us := uint32(os.Geteuid())
	if err := errors.Join(checkUID(us), checkUID(0)); err != nil {
		t.Error(err)
	}
	if checkUID(us+1) == nil {
		t.Error("a stranger is welcome")
	}
}

// TestFindSocket: where config.Find looks.
func TestFindSocket(t *testing.T) {
	dir := t.TempDir()
	for _, environment := range []map[string]string{
		{},
		{"LAMPLIGHTER_SOCKET": dir + "/s"},
		{"XDG_RUNTIME_DIR": dir},
		{"XDG_RUNTIME_DIR": "relative"},
		{"LAMPLIGHTER_STATE_DIR": dir + "/state"},
		{"LAMPLIGHTER_STATE_DIR": "state", "XDG_STATE_HOME": dir},
		{"HOME": dir},
	} {
		var args []string
		for name, value := range environment {
			args = append(args, name+"="+value)
		}
		cmd := exec.Command(testBinary(t))
		cmd.Env = append([]string{helperMode + "=places"}, args...)
		out, err := cmd.Output()
		if err != nil || len(out) == 0 {
			t.Fatalf("%v, %q", err, out)
		}
		if string(out) != "same\n" {
			t.Errorf("%v: %s", environment, out)
		}
	}
}

// helpPlaces compares the two in its own environment: the library behind
// config.Find reads it once.
func helpPlaces() string {
	theirs := config.Find("", os.Getenv, config.SystemBase()).ShareSocket
	if ours := findSockets(""); theirs != "" && !slices.Contains(ours, theirs) {
		return strings.Join(ours, " and ") + ", not " + strconv.Quote(theirs)
	}
	return "same"
}

// TestNoSocket: the system's own words would mislead.
func TestNoSocket(t *testing.T) {
	t.Parallel() // it waits
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{file: "no socket", "/" + strings.Repeat("x", 108): "at most 107 bytes"} {
		c := connectTo(t, path, nil, "serena")
		c.in.Close()
		c.nothingMore(exitUnavailable)
		apptest.Contains(t, c.errs.String(), want)
	}
}

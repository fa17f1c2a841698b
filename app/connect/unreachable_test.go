package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"lamplighter/app/apptest"
	"lamplighter/app/share/wire"
)

// TestNoBackgroundProcess: the client gets an error for its first request, and
// is told what to do.
func TestNoBackgroundProcess(t *testing.T) {
	t.Parallel() // it waits
	path := fakePath(t)
	c := connectTo(t, path, nil, "serena")
	c.write(`{"method":"notifications/early"}`)
	c.write("garbage")
	c.write(`{"jsonrpc":"2.0","id":"d","method":"server/discover"}`)
	c.write(`{"jsonrpc":"2.0","id":1.50,"method":"initialize"}`)
	c.refused(`"d"`, "-32601")
	c.refused("1.50", "-32000", "lamplighter")
	c.nothingMore(exitUnavailable)
	apptest.Contains(t, c.errs.String(), filepath.Base(path), "start it with: lamplighter run", "--or-direct")
	if n := strings.Count(c.errs.String(), "\n"); n != 1 {
		t.Errorf("it complained %q", c.errs.String())
	}
}

// TestNobodyAsks: it ends also when the client says nothing.
func TestNobodyAsks(t *testing.T) {
	t.Parallel() // it waits
	c := connectTo(t, fakePath(t), nil, "serena")
	c.nothingMore(exitUnavailable)
}

// TestBackgroundProcessThatIsNone: whoever hangs up, or talks another language,
// is no background process, and nobody waits for it for long.
func TestBackgroundProcessThatIsNone(t *testing.T) {
	t.Parallel() // it waits
	for name, answer := range map[string]string{"hangs up": "", "another language": "HTTP/1.1 400 Bad Request\r\n\r\n"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			listener, conns := f.listener, f.conns
			done := make(chan struct{})
			go func() {
				defer close(done)
				for c := range conns {
					_, _ = c.conn.Write([]byte(answer))
					c.conn.Close()
				}
			}()
			c := connectTo(t, f.path, nil, "serena")
			c.write(request(1))
			c.refused("1")
			c.nothingMore(exitUnavailable)
			listener.Close()
			<-done
		})
	}
}

// TestSuspended: the system accepts connections in the name of a background
// process that does nothing.
func TestSuspended(t *testing.T) {
	f := newFake(t)
	hasty := func(arguments ...string) *client {
		cmd := exec.Command(testBinary(t), append([]string{"connect", "--socket", f.path}, arguments...)...)
		cmd.Env = append(os.Environ(), helperMode+"=hasty")
		return startClient(t, cmd)
	}
	c := hasty("--", "serena")
	c.write(request(1))
	direct := hasty("--or-direct", "--", testBinary(t)) // both wait at once
	c.refused("1", "suspended")
	c.nothingMore(exitUnavailable)
	apptest.Contains(t, c.errs.String(), "suspended", "--or-direct")
	direct.wants("hello")
	direct.nothingMore(3)
}

// TestNotWelcome: a background process that says why is quoted, and not tried
// again.
func TestNotWelcome(t *testing.T) {
	f := newFake(t)
	c := connectTo(t, f.path, nil, "serena")
	c.write(request(1))
	conn := f.conn()
	conn.hello()
	conn.send(wire.Bye, 0, "\x07it is another version")
	c.refused("1", "it is another version")
	c.nothingMore(7)
	apptest.Contains(t, c.errs.String(), "it is another version")
}

// TestLateBackgroundProcess: one that starts at the same time is waited for.
func TestLateBackgroundProcess(t *testing.T) {
	f := newFake(t)
	f.close()
	c := connectTo(t, f.path, nil, "serena")
	c.write(request(1))
	f.listen()
	conn, _ := f.welcome(wire.Shared, "")
	conn.accept(1)
	// It may take as long as it wants with its welcome, and die before that.
	f.close()
	conn.close()
	c.wants(lost(1))
	f.listen()
	conn = f.conn()
	conn.hello()
	conn.close()
	f.welcome(wire.Shared, "")
	c.in.Close()
	c.nothingMore(0)
}

// TestOrDirectOfNothing: a command that is missing is no server either.
func TestOrDirectOfNothing(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing")
	c := connectTo(t, fakePath(t), []string{"--or-direct"}, missing)
	c.nothingMore(exitNotFound)
	apptest.Contains(t, c.errs.String(), "without", "missing")
}

// TestConnectWrongUsage: nothing is started.
func TestConnectWrongUsage(t *testing.T) {
	cmd := exec.Command(program, "connect", "--colour", "serena")
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState.ExitCode() != 2 || !strings.Contains(string(out), "usage: ") {
		t.Errorf("%v, %q", err, out)
	}
}

// TestUsage is for people, so that it says nothing of what is only for ourselves.
func TestUsage(t *testing.T) {
	for _, args := range []string{"--help", "-h", "help", "connect -h", "connect --or-direct --help"} {
		out, err := exec.Command(program, strings.Fields(args)...).Output()
		if err != nil || !strings.HasPrefix(string(out), "usage: lamplighter-connect connect ") || strings.Contains(string(out), "keep") {
			t.Errorf("%s: %v, %q", args, err, out)
		}
	}
	for _, arg := range []string{"version", "--version"} {
		if out, err := exec.Command(program, arg).Output(); err != nil || string(out) != "lamplighter-connect "+programVersion+"\n" {
			t.Errorf("%s: %v, %q", arg, err, out)
		}
	}
}

// TestWrongSocket: what cannot be one is said in words.
func TestWrongSocket(t *testing.T) {
	t.Setenv("LAMPLIGHTER_SOCKET", "relative/s")
	for _, args := range []string{"connect -- serena", "connect --socket s -- serena"} {
		cmd := exec.Command(program, strings.Fields(args)...)
		out, err := cmd.CombinedOutput()
		if cmd.ProcessState.ExitCode() != 2 || !strings.Contains(string(out), "absolute path") {
			t.Errorf("%s: %v, %q", args, err, out)
		}
	}
}

// TestUsualSocket: the path need not be given.
func TestUsualSocket(t *testing.T) {
	f := newFake(t)
	cmd := exec.Command(program, "connect", "--", "serena")
	cmd.Env = append(os.Environ(), "LAMPLIGHTER_SOCKET="+f.path)
	c := startClient(t, cmd)
	f.welcome(wire.Shared, "")
	c.in.Close()
	c.nothingMore(0)
}

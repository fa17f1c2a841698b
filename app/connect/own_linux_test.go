package main

import (
	"errors"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"lamplighter/app/apptest"
	"lamplighter/app/share/wire"
	"lamplighter/monitor/command"
	"lamplighter/monitor/process"
)

// own starts a shim that runs a script itself.
func ownScript(t *testing.T, f *fake, script string) (*client, *fakeConn, process.Stat) {
	t.Helper()
	c := connectTo(t, f.path, nil, "/bin/sh", "-c", script)
	conn, _ := f.welcome(wire.Own, "it is a script")
	return c, conn, statOf(t, conn.want(wire.Ran, 0))
}

// statOf is the process of an identity as in Ran.
func statOf(t *testing.T, identity string) process.Stat {
	t.Helper()
	p := parseServer(identity)
	s, err := process.ReadStat(p.pid)
	if err != nil || s.Identity.Start != p.start {
		t.Fatalf("%q is %+v, %v", identity, s, err)
	}
	return s
}

func TestOwn(t *testing.T) {
	f := newFake(t)
	c, conn, s := ownScript(t, f, `echo "$0 $$ $PPID"; echo complaint >&2; while read -r line; do echo "got $line"; done; exit 5`)
	keeper, err := process.Read(s.Parent)
	if err != nil || keeper.Parent != c.cmd.Process.Pid || !command.IsShim(keeper.Exe, keeper.Args) {
		t.Errorf("%+v is below %+v, %v", s, keeper, err)
	}
	c.wants("/bin/sh " + strconv.Itoa(s.PID) + " " + strconv.Itoa(keeper.PID))
	c.write("one \\ two")
	c.wants("got one \\ two")
	conn.send(wire.Say, 0, "something")
	apptest.Eventually(t, "the user is told", func() bool {
		return c.errs.String() == "lamplighter-connect: this server is not shared with other clients: it is a script\ncomplaint\nlamplighter-connect: something\n"
	})
	c.in.Close()
	c.nothingMore(5)
	conn.closed()
}

// TestOwnOutlivesTheBackgroundProcess: the next one learns what runs.
func TestOwnOutlivesTheBackgroundProcess(t *testing.T) {
	f := newFake(t)
	c, conn, s := ownScript(t, f, `while read -r line; do echo "got $line"; done`)
	for range 3 {
		f.close()
		conn.close()
		c.write("x")
		c.wants("got x")
		f.listen()
		var g wire.Greeting
		conn, g = f.welcome(wire.Own, "")
		if statOf(t, g.Own).Identity != s.Identity {
			t.Errorf("it says %q", g.Own)
		}
	}
	conn.send(wire.Bye, 0, "\x01no more")
	conn.closed()
	c.write("y")
	c.wants("got y")
	c.in.Close()
	c.nothingMore(0)
}

func TestOwnThatCannotRun(t *testing.T) {
	f := newFake(t)
	c := connectTo(t, f.path, nil, "there-is-no-such-program")
	c.write(request(1))
	conn, _ := f.welcome(wire.Own, "")
	if got := conn.want(wire.Ran, 0); got != "" {
		t.Errorf("it ran %q", got)
	}
	c.refused("1", "there-is-no-such-program")
	c.nothingMore(exitNotFound)
	c = connectTo(t, f.path, nil, t.TempDir())
	c.in.Close()
	conn, _ = f.welcome(wire.Own, "")
	conn.want(wire.Ran, 0)
	c.nothingMore(exitCannotRun)
}

// hardest are the servers that differ in what they take to be ended. The keeper
// is the one of TestNothingIsLeft, which has them all.
var hardest = []string{"ordinary", "ignores TERM", "forks twice and ignores TERM", "suspends what it left", "left one that starts its child again", "never the same process"}

// TestNothingIsLeftOfOwn: however it ends, nothing is left, and the exit status
// is that of the command.
func TestNothingIsLeftOfOwn(t *testing.T) {
	for _, server := range servers {
		if !slices.Contains(hardest, server.name) {
			continue
		}
		for name, end := range map[string]func(t *testing.T, c *client, s process.Stat){
			"terminated": func(t *testing.T, c *client, _ process.Stat) {
				if err := c.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) { // some have ended at once
					t.Error(err)
				}
			},
			"killed with its group": func(t *testing.T, c *client, _ process.Stat) {
				if err := syscall.Kill(-c.cmd.Process.Pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) { // some have ended at once
					t.Error(err)
				}
			},
			"terminated, and then killed": func(t *testing.T, c *client, s process.Stat) {
				_ = c.cmd.Process.Signal(syscall.SIGTERM)
				_ = c.cmd.Process.Kill() // it may have ended
			},
			"its keeper is killed": func(t *testing.T, c *client, s process.Stat) {
				if now, err := process.ReadStat(s.PID); err == nil && now.Identity == s.Identity && now.Parent != c.cmd.Process.Pid {
					_ = syscall.Kill(now.Parent, syscall.SIGKILL)
				}
			},
			"suspended, keeper and all, and then terminated": func(t *testing.T, c *client, s process.Stat) {
				if keeper, err := process.ReadStat(s.PID); err == nil && keeper.Identity == s.Identity {
					_ = syscall.Kill(keeper.Parent, syscall.SIGSTOP)
					_ = syscall.Kill(s.PID, syscall.SIGSTOP)
				}
				if err := c.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) { // some have ended at once
					t.Error(err)
				}
			},
			"the command is killed": func(t *testing.T, c *client, s process.Stat) {
				if h, err := process.Hold(s.Identity); err == nil { // some have ended at once
					_ = h.Kill()
					h.Close()
				}
			},
		} {
			t.Run(server.name+"/"+name, func(t *testing.T) {
				t.Parallel()
				f := newFake(t)
				w := newWorld(t)
				cmd := impatient("connect", "--socket", f.path, "--", "/bin/sh", "-c", server.script)
				cmd.Env = append(cmd.Env, w.mark)
				cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // as some clients do
				t.Cleanup(func() { w.killMarked(t) })
				c := startClient(t, cmd)
				conn, _ := f.welcome(wire.Own, "")
				var ran []byte
				if strings.HasSuffix(server.script, "exit 0") {
					_, ran, _ = conn.next() // its end is the end of all, and may come before it is told
				} else {
					ran = []byte(conn.want(wire.Ran, 0))
					c.wants("ready")
				}
				p := parseServer(string(ran))
				s := process.Stat{}
				s.Identity.PID, s.Identity.Start = p.pid, p.start
				end(t, c, s)
				c.status(t)
				if strings.HasSuffix(name, "killed with its group") || strings.HasSuffix(name, "then killed") {
					apptest.Eventually(t, "nothing is left", func() bool { return len(w.marked(t)) == 0 })
				} else if left := w.marked(t); len(left) != 0 {
					t.Errorf("still there: %v", left)
				}
			})
		}
	}
}

// TestOwnEndsWithItsClient: also one that ignores the end of its input.
func TestOwnEndsWithItsClient(t *testing.T) {
	t.Parallel() // it waits
	f := newFake(t)
	w := newWorld(t)
	cmd := exec.Command(testBinary(t), program, "connect", "--socket", f.path, "--", "/bin/sh", "-c", `trap "" TERM; while :; do sleep 600; done`)
	cmd.Env = append(os.Environ(), w.mark, helperMode+"=client")
	t.Cleanup(func() { w.killMarked(t) })
	c := startProgram(t, cmd)
	conn, _ := f.welcome(wire.Own, "")
	conn.want(wire.Ran, 0)
	c.kill()
	conn.closed()
	apptest.Eventually(t, "nothing is left", func() bool { return len(w.marked(t)) == 0 })
}

// TestOwnOutlivesItsStarter: whoever has started it may leave, as long as
// somebody holds the other end.
func TestOwnOutlivesItsStarter(t *testing.T) {
	f := newFake(t)
	cmd := exec.Command("/bin/sh", "-c", `exec 3<&0; "$0" "$@" <&3 3<&- & exit 0`, program, "connect", "--socket", f.path, "--", "/bin/sh", "-c",
		`while read -r line; do echo "got $line"; done`)
	c := startClient(t, cmd)
	conn, _ := f.welcome(wire.Own, "")
	command := statOf(t, conn.want(wire.Ran, 0))
	apptest.Eventually(t, "the starter has left", func() bool {
		s, err := process.ReadStat(command.Parent)
		return err == nil && s.Parent != c.cmd.Process.Pid
	})
	for range 100 {
		c.write("x")
		c.wants("got x")
	}
	c.in.Close()
	conn.closed()
}

// TestOwnThatIgnoresTheEndOfItsInput is ended some time after that, whether it
// came through a pipe or a socket of which only that half was closed.
func TestOwnThatIgnoresTheEndOfItsInput(t *testing.T) {
	for name, connect := range map[string]func(t *testing.T) (theirs *os.File, end func() error){
		"a pipe": func(t *testing.T) (*os.File, func() error) {
			read, write, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { write.Close() })
			return read, write.Close
		},
		"a socket": func(t *testing.T) (*os.File, func() error) {
			fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { syscall.Close(fds[0]) })
			return os.NewFile(uintptr(fds[1]), "theirs"), func() error { return syscall.Shutdown(fds[0], syscall.SHUT_WR) }
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			w := newWorld(t)
			theirs, end := connect(t)
			cmd := impatient("connect", "--socket", f.path, "--", "/bin/sh", "-c", `trap "" TERM; echo ready; while :; do sleep 600; done`)
			cmd.Env = append(cmd.Env, w.mark)
			cmd.Stdin = theirs
			t.Cleanup(func() { w.killMarked(t) })
			c := startProgram(t, cmd)
			theirs.Close()
			conn, _ := f.welcome(wire.Own, "")
			conn.want(wire.Ran, 0)
			apptest.Eventually(t, "it runs", func() bool { return c.out.String() == "ready\n" })
			if err := end(); err != nil {
				t.Fatal(err)
			}
			if status := c.status(t); status != 128+int(syscall.SIGKILL) {
				t.Errorf("exit status %d", status)
			}
			if left := w.marked(t); len(left) != 0 {
				t.Errorf("still there: %v", left)
			}
		})
	}
}

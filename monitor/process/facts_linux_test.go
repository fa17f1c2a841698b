package process

import (
	"bytes"
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"lamplighter/monitor"
)

func TestSharesPath(t *testing.T) {
	dir := t.TempDir()
	sleep := func(flags uintptr, script string) int {
		cmd := exec.Command("sh", "-c", script)
		cmd.Dir = dir
		cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: flags}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		pid := start(t, cmd)
		if _, err := out.Read(make([]byte, 1)); err != nil {
			t.Skipf("there can be no other mount namespace here: %v", err)
		}
		return pid
	}
	const waits = "echo; exec sleep 600"
	for _, test := range []struct {
		name   string
		flags  uintptr
		script string
		dir    string
		want   bool
	}{
		{"as we see it", 0, waits, dir, true},
		{"as we see it, under another name", 0, waits, "/nowhere", true}, // nobody doubts it
		{"in a namespace of its own", syscall.CLONE_NEWNS, waits, dir, true},
		{"another one is at the same path", syscall.CLONE_NEWNS, "mount -t tmpfs none . && cd . && cd \"$PWD\" && " + waits, dir, false},
		{"there is none here", syscall.CLONE_NEWNS, waits, "/nowhere", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.flags != 0 && os.Getuid() != 0 {
				t.Skip("needs root")
			}
			pid := sleep(test.flags, test.script)
			if same, err := SharesPath(pid, test.dir); same != test.want || err != nil {
				t.Errorf("%v, %v", same, err)
			}
		})
	}
	if _, err := SharesPath(1<<30, dir); err == nil {
		t.Error("of nobody")
	}
}

func TestMainThreadCPU(t *testing.T) {
	if _, err := Local().MainThreadCPU(os.Getpid()); err != nil {
		t.Error(err)
	}
	cmd := exec.Command("true")
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	if used, err := Local().MainThreadCPU(cmd.Process.Pid); err == nil {
		t.Errorf("of a process that has ended: %v", used)
	}
}

// One process is as we are, each of the others has one thing of its own.
func TestContained(t *testing.T) {
	for _, own := range []uintptr{0, syscall.CLONE_NEWNET, syscall.CLONE_NEWUTS, syscall.CLONE_NEWCGROUP} {
		cmd := exec.Command("sleep", "600")
		if own != 0 {
			cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: own}
			if os.Getuid() != 0 {
				cmd.SysProcAttr.Cloneflags = syscall.CLONE_NEWUSER
			}
		}
		pid := start(t, cmd)
		if contained, err := isContained(pid); contained != (own != 0) || err != nil {
			t.Errorf("with %#x of its own: %v, %v", own, contained, err)
		}
	}
	if contained, err := isContained(1 << 30); contained || err != nil {
		t.Errorf("of nobody: %v, %v", contained, err)
	}
}

// startAsAnother starts a program as a user that is not ours, and returns that
// user. Without the rights to, it is started as our own.
func startAsAnother(t *testing.T, command func() *exec.Cmd) (cmd *exec.Cmd, user int) {
	t.Helper()
	const somebody = 4242
	cmd = command()
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: somebody, Gid: somebody, NoSetGroups: true}}
	err := cmd.Start()
	if user = somebody; err != nil {
		if !errors.Is(err, fs.ErrPermission) && !errors.Is(err, syscall.EINVAL) {
			t.Fatal(err)
		}
		cmd, user = command(), os.Getuid()
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	return cmd, user
}

func TestSameUserOfAProcess(t *testing.T) {
	cmd, user := startAsAnother(t, func() *exec.Cmd { return exec.Command("sleep", "600") })
	if ours, err := SameUser(cmd.Process.Pid); ours != (user == os.Getuid()) || err != nil {
		t.Error(user, ours, err)
	}
	if ours, err := SameUser(unused(t)); ours || !errors.Is(err, ErrGone) {
		t.Error(ours, err)
	}
}

// TestSameUserInEveryRespect reads what processes of ours and of others show.
func TestSameUserInEveryRespect(t *testing.T) {
	f := newFakeProc(t, t.TempDir())
	for name, c := range map[string]struct {
		uid  string // as shown; o stands for our user, x for another
		want bool
	}{
		"ours": {"o o o o", true}, "started by another": {"x o o o", false}, "with another's rights": {"o x o x", false},
		"with a way back": {"o o x o", false}, "another's": {"x x x x", false}, "its files another's": {"o o o x", true},
	} {
		uid := strings.NewReplacer("o", strconv.Itoa(os.Getuid()), "x", strconv.Itoa(os.Getuid()+1), " ", "\t").Replace(c.uid)
		f.write(7, "status", "Name:\tx\nUid:\t"+uid+"\n")
		if got, err := (procfs{f.root}).sameUser(7); got != c.want || err != nil {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}

const mark = "LAMPLIGHTER_PROCESS_TEST_MARK"

// TestMarked finds what was started with a mark, wherever it has gone, and
// nothing else.
func TestMarked(t *testing.T) {
	value := rand.Text()
	start := func(value, script string) *exec.Cmd {
		cmd := exec.Command("sh", "-c", script)
		cmd.Env = append(os.Environ(), mark+"="+value)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
		if _, err := out.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		return cmd
	}
	plain := start(value, "echo; exec sleep 600")
	// A daemon: its parent has ended, and it is in a session of its own.
	daemon := start(value, "setsid sleep 600 >/dev/null 2>&1 & echo")
	ended := start(value, "echo; exit 0")
	daemon.Wait()
	eventually(t, "it has ended", func() bool {
		s, err := ReadStat(ended.Process.Pid)
		return err == nil && s.State == Unreaped
	})

	var found []monitor.Identity
	eventually(t, "both are found", func() bool {
		var err error
		if found, err = Marked(mark, value); err != nil {
			t.Fatal(err)
		}
		return len(found) == 2 && slices.ContainsFunc(found, func(id monitor.Identity) bool {
			info, err := Read(id.PID)
			return err == nil && id.PID != plain.Process.Pid && info.Name == "sleep"
		})
	})
	for _, id := range found {
		if s, err := ReadStat(id.PID); err != nil || s.Identity != id {
			t.Errorf("%v is %v, %v", id, s.Identity, err)
		}
		if id.PID != plain.Process.Pid {
			p, err := os.FindProcess(id.PID)
			if err != nil {
				t.Fatal(err)
			}
			p.Kill()
			p.Release() // a descriptor that the collector closes at some time disturbs who counts them
		}
	}
}

// TestMarkedSparesUsAndWhoStartedUs, although all of us have the mark.
func TestMarkedSparesUsAndWhoStartedUs(t *testing.T) {
	environ, err := os.ReadFile("/proc/self/environ")
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := bytes.Cut(environ, []byte{0})
	name, value, ok := strings.Cut(string(first), "=")
	if !ok {
		t.Fatalf("the environment begins with %q", first)
	}
	found, err := Marked(name, value)
	if err != nil {
		t.Fatal(err)
	}
	above, err := Above(Local(), os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range found {
		if id.PID == os.Getpid() || slices.Contains(above, id) {
			t.Errorf("%v is among %v", id, found)
		}
	}
}

// TestMarkedReadsOnlyWholeEntries, and no process of somebody else.
func TestMarkedReadsOnlyWholeEntries(t *testing.T) {
	for name, c := range map[string]struct {
		environ string
		want    bool
	}{
		"alone": {"M=1\x00", true}, "first": {"M=1\x00A=b\x00", true}, "last, not ended": {"A=b\x00M=1", true},
		"longer": {"M=12\x00", false}, "shorter": {"M=\x00", false}, "within": {"A=M=1\x00XM=1\x00", false}, "none": {"", false},
		"twice": {"M=2\x00M=1\x00", true},
	} {
		f := newFakeProc(t, t.TempDir())
		f.put(7, fakeProcess{start: 99})
		f.write(7, "environ", c.environ)
		id, marked, err := (procfs{f.root}).isMarked(7, "M=1")
		if err != nil || marked != c.want || marked && id != (monitor.Identity{PID: 7, Start: 99}) {
			t.Errorf("%s: %v, %v, %v", name, id, marked, err)
		}
	}
}

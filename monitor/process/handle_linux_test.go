package process

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"lamplighter/monitor"
	"lamplighter/monitor/programtest"
)

// bothWays runs a test with a pidfd and without one.
func bothWays(t *testing.T, test func(t *testing.T, hold func(monitor.Identity) *Handle)) {
	for name, pidfd := range map[string]bool{"pidfd": true, "start time": false} {
		t.Run(name, func(t *testing.T) {
			test(t, func(id monitor.Identity) *Handle {
				t.Helper()
				h, err := Hold(id)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(h.Close)
				if _, err := h.over(); err != nil {
					t.Fatal(err)
				}
				if !pidfd {
					h = unheld(id)
				}
				return h
			})
		})
	}
}

func TestHandleSignals(t *testing.T) {
	bothWays(t, func(t *testing.T, hold func(monitor.Identity) *Handle) {
		a, b := sleeper(t), sleeper(t)
		ha, hb := hold(a), hold(b)
		do(t, ha.Suspend)
		waitForState(t, a.PID, Stopped)
		do(t, ha.Terminate)
		if ha.Ended() {
			t.Error("a suspended process handled SIGTERM")
		}
		do(t, ha.Continue)
		do(t, func() error { return ha.Wait(t.Context()) })
		do(t, hb.Kill)
		do(t, func() error { return hb.Wait(t.Context()) })
		for _, h := range []*Handle{ha, hb} {
			if !h.Ended() {
				t.Errorf("%v lives", h.id)
			}
			for what, send := range map[string]func() error{"Terminate": h.Terminate, "Suspend": h.Suspend, "Continue": h.Continue, "Kill": h.Kill} {
				if err := send(); !errors.Is(err, ErrGone) {
					t.Errorf("%s to a process that nobody has reaped: %v", what, err)
				}
			}
		}
	})
}

func TestWaitEndsWithItsContext(t *testing.T) {
	bothWays(t, func(t *testing.T, hold func(monitor.Identity) *Handle) {
		h := hold(sleeper(t))
		ctx, cancel := context.WithCancel(t.Context())
		waited := make(chan error, 2)
		for range 2 {
			go func() { waited <- h.Wait(ctx) }()
		}
		cancel()
		for range 2 {
			if err := <-waited; !errors.Is(err, context.Canceled) {
				t.Errorf("Wait: %v", err)
			}
		}
		if h.Ended() {
			t.Error("it ended")
		}
	})
}

func TestClosedHandleSendsNothing(t *testing.T) {
	id := sleeper(t)
	before := openDescriptors(t)
	h, err := Hold(id)
	if err != nil {
		t.Fatal(err)
	}
	h.Close()
	h.Close()
	if refused, err := Hold(monitor.Identity{PID: id.PID, Start: id.Start + 1}); !errors.Is(err, ErrGone) {
		t.Errorf("another process: %v, %v", refused, err)
	}
	if n := openDescriptors(t); n != before {
		t.Errorf("%d descriptors became %d", before, n)
	}
	if err := h.Kill(); err == nil || errors.Is(err, ErrGone) {
		t.Errorf("Kill: %v", err)
	}
	if h.Ended() {
		t.Error("it was killed")
	}
}

// TestReusedPidIsNotSignalled runs in a process namespace of its own, where it may choose
// the next pid.
func TestReusedPidIsNotSignalled(t *testing.T) {
	out, err := unshared(t, "reuse", "--pid", "--fork", "--kill-child", "--mount-proc").CombinedOutput()
	if err != nil || strings.TrimSpace(string(out)) != "as it should be" {
		t.Fatalf("%v\n%s", err, out)
	}
}

// helperReuse lets a pid be reused while handles of its first owner are held.
func helperReuse() {
	fail := func(what string, args ...any) {
		fmt.Printf(what+"\n", args...)
		os.Exit(1)
	}
	first := exec.Command("sleep", "600")
	if err := first.Start(); err != nil {
		fail("%v", err)
	}
	pid := first.Process.Pid
	s, err := ReadStat(pid)
	if err != nil {
		fail("%v", err)
	}
	byFd, err := Hold(s.Identity)
	if err != nil {
		fail("%v", err)
	}
	byStart := unheld(s.Identity)
	first.Process.Kill()
	first.Wait()

	second := exec.Command("sleep", "600")
	var now Stat
	for second.Process == nil || now.PID != pid || now.Start == s.Start {
		if second.Process != nil {
			second.Process.Kill()
			second.Wait()
			second = exec.Command("sleep", "600")
		}
		if err := os.WriteFile("/proc/sys/kernel/ns_last_pid", []byte(strconv.Itoa(pid-1)), 0); err != nil {
			fail("choosing the next pid: %v", err)
		}
		if err := second.Start(); err != nil {
			fail("%v", err)
		}
		if now, err = ReadStat(second.Process.Pid); err != nil {
			fail("%v", err)
		}
	}
	for name, h := range map[string]*Handle{"pidfd": byFd, "start time": byStart} {
		if !h.Ended() {
			fail("%s: the first owner of pid %d seems to live", name, pid)
		}
		for _, send := range []func() error{h.Terminate, h.Suspend, h.Kill} {
			if err := send(); !errors.Is(err, ErrGone) {
				fail("%s: %v", name, err)
			}
		}
		h.Close()
	}
	if h, err := Hold(s.Identity); !errors.Is(err, ErrGone) {
		fail("the first owner is held again: %v, %v", h, err)
	}
	if now, err = ReadStat(pid); err != nil || now.State != Running {
		fail("the second owner was hit: %+v, %v", now, err)
	}
	fmt.Println("as it should be")
}

func TestSignallingAnotherUsersProcess(t *testing.T) {
	// Whoever runs this is a stranger to one of the two: the process of this
	// test, or that of somebody else who tries to signal it.
	cmd := helper("foreign")
	cmd.Stdin = strings.NewReader(sleeper(t).String())
	if os.Geteuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		cmd.Path = copyFor(t, cmd.Path)
	} else {
		cmd.Stdin = strings.NewReader(identityOf(t, 1).String())
	}
	out, err := cmd.CombinedOutput()
	if err != nil || strings.TrimSpace(string(out)) != "as it should be" {
		t.Fatalf("%v\n%s", err, out)
	}
}

// copyFor puts a program where everybody may run it.
func copyFor(t *testing.T, program string) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "lamp.")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	b, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	path := dir + "/program"
	if err := errors.Join(programtest.WriteFile(path, b, 0o755), os.Chmod(dir, 0o755)); err != nil {
		t.Fatal(err)
	}
	return path
}

// helperForeign tries to signal the process whose identity it reads.
func helperForeign() {
	var line string
	fmt.Scan(&line)
	id, err := monitor.ParseIdentity(line)
	if err != nil {
		fmt.Println(err)
		return
	}
	h, err := Hold(id)
	if err != nil {
		fmt.Println("holding:", err)
		return
	}
	for what, send := range map[string]func() error{"Terminate": h.Terminate, "Kill": h.Kill} {
		if err := send(); !errors.Is(err, fs.ErrPermission) {
			fmt.Println(what, err)
			return
		}
	}
	fmt.Println("as it should be")
}

func do(t testing.TB, what func() error) {
	t.Helper()
	if err := what(); err != nil {
		t.Fatal(err)
	}
}

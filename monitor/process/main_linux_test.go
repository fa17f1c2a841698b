package process

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"testing"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"lamplighter/monitor"
)

func TestMain(m *testing.M) {
	switch os.Getenv(helperMode) {
	case "":
		goleak.VerifyTestMain(m)
	case "listen":
		helperListen()
	case "reuse":
		helperReuse()
	case "foreign":
		helperForeign()
	case "link":
		helperLink()
	case "hung":
		helperHung()
	default:
		fmt.Fprintln(os.Stderr, "unknown helper")
		os.Exit(2)
	}
}

// helperListen listens on a wildcard address, says so and waits for its end.
func helperListen() {
	l, err := net.Listen("tcp4", "0.0.0.0:0")
	if err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
	fmt.Println(l.Addr().(*net.TCPAddr).Port)
	bufio.NewReader(os.Stdin).ReadString('\n')
}

// start runs a program until the test ends.
func start(t testing.TB, cmd *exec.Cmd) int {
	t.Helper()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	return cmd.Process.Pid
}

// startGroup is start with a process group of its own, all of which ends with the test.
func startGroup(t testing.TB, cmd *exec.Cmd) int {
	t.Helper()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	pid := start(t, cmd)
	t.Cleanup(func() { syscall.Kill(-pid, syscall.SIGKILL) }) // before start's own, so that the pid is still ours
	return pid
}

// sleeper runs a sleep until the test ends.
func sleeper(t testing.TB) monitor.Identity {
	t.Helper()
	return identityOf(t, start(t, exec.Command("sleep", "600")))
}

// idle runs a sleep, which nobody has reaped after its end.
func idle(t testing.TB) idler {
	t.Helper()
	id := sleeper(t)
	return idler{id, func() {
		t.Helper()
		kill(t, id.PID, syscall.SIGKILL)
		waitForState(t, id.PID, Unreaped)
	}}
}

// helper is this program as one of the helpers.
func helper(mode string, args ...string) *exec.Cmd {
	cmd := exec.Command("/proc/self/exe", args...)
	cmd.Env = append(os.Environ(), helperMode+"="+mode)
	return cmd
}

// unshared is a helper as root of namespaces of its own.
func unshared(t testing.TB, mode string, flags ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() != 0 {
		flags = append([]string{"--user", "--map-root-user"}, flags...)
	}
	cmd := exec.Command("unshare", append(flags, "--", self)...)
	cmd.Env = append(os.Environ(), helperMode+"="+mode)
	return cmd
}

func kill(t testing.TB, pid int, sig syscall.Signal) {
	t.Helper()
	if err := syscall.Kill(pid, sig); err != nil {
		t.Fatalf("signal %v to %d: %v", sig, pid, err)
	}
}

func waitForState(t testing.TB, pid int, want RunState) {
	t.Helper()
	eventually(t, fmt.Sprintf("%d is %v", pid, want), func() bool {
		s, err := ReadStat(pid)
		return err == nil && s.State == want
	})
}

// openDescriptors counts what this program has open, but for epolls: those of exit
// watches that other tests have dropped close whenever the garbage collector runs.
func openDescriptors(t testing.TB) int {
	t.Helper()
	fds, err := list("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(slices.DeleteFunc(fds, func(fd int) bool {
		is, _ := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", fd))
		return is == "anon_inode:[eventpoll]"
	}))
}

// limitDescriptors lets this program have no more than so many descriptors, until restore
// is called.
func limitDescriptors(t testing.TB, most uint64) (restore func()) {
	t.Helper()
	var old unix.Rlimit
	err := unix.Getrlimit(unix.RLIMIT_NOFILE, &old)
	if err == nil {
		err = unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: most, Max: old.Max})
	}
	if err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &old); err != nil {
			t.Fatal(err)
		}
	}
}

// unused is the pid of a process that has ended.
func unused(t testing.TB) int {
	t.Helper()
	cmd := exec.Command("true")
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	return cmd.Process.Pid
}

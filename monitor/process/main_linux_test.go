package process

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"lamplighter/monitor"
)

// helperMode makes the test binary one of the helper programs below.
const helperMode = "LAMPLIGHTER_PROCESS_TEST_HELPER"

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

// eventually waits until cond holds.
func eventually(t testing.TB, what string, cond func() bool) {
	t.Helper()
	deadline := time.NewTimer(time.Minute)
	defer deadline.Stop()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !cond() {
		select {
		case <-tick.C:
		case <-deadline.C:
			t.Fatalf("still not true: %s", what)
		}
	}
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

// sleeper runs a sleep until the test ends.
func sleeper(t testing.TB) monitor.Identity {
	t.Helper()
	return identityOf(t, start(t, exec.Command("sleep", "600")))
}

func identityOf(t testing.TB, pid int) monitor.Identity {
	t.Helper()
	s, err := ReadStat(pid)
	if err != nil {
		t.Fatal(err)
	}
	return s.Identity
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

// openDescriptors counts what this program has open, beside the runtime's own.
func openDescriptors(t testing.TB) int {
	t.Helper()
	fds, err := list(unix.AT_FDCWD, "/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(fds)
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

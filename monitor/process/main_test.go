package process

import (
	"io"
	"os/exec"
	"testing"
	"time"

	"lamplighter/monitor"
)

// helperMode makes the test binary one of the helper programs of its system.
const helperMode = "LAMPLIGHTER_PROCESS_TEST_HELPER"

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

func identityOf(t testing.TB, pid int) monitor.Identity {
	t.Helper()
	s, err := ReadStat(pid)
	if err != nil {
		t.Fatal(err)
	}
	return s.Identity
}

// pipes are what a program that is to be started reads and writes.
func pipes(t testing.TB, cmd *exec.Cmd) (in io.WriteCloser, out io.ReadCloser) {
	t.Helper()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if out, err = cmd.StdoutPipe(); err != nil {
		t.Fatal(err)
	}
	return in, out
}

// idler is a program that does nothing until its end, which the test may bring about.
type idler struct {
	monitor.Identity
	end func()
}

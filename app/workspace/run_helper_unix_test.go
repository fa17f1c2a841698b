//go:build unix

package workspace

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"testing"

	"lamplighter/app/apptest"
)

// runVariable makes the test binary run a job, its arguments, in the workspace
// that has that id in the store at the path behind a colon.
const runVariable = "LAMPLIGHTER_WORKSPACE_TEST_RUN"

func init() {
	if dir := os.Getenv(runVariable); dir != "" {
		os.Unsetenv(runVariable)
		m := New(Options{Dir: dir})
		status, _, err := m.Run(context.Background(), os.Args[1], Job{Command: os.Args[2:]})
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			status = 99
		}
		os.Exit(status)
	}
}

// running is another process of ours that runs a script as a job, which has said
// that it is ready. The job ends with stdin.
// It is apart from the terminal of the tests, if there is one.
func running(t *testing.T, l *lab, id, script string) (cmd *exec.Cmd, stdin io.Closer) {
	t.Helper()
	cmd = exec.Command(os.Args[0], id, "sh", "-c", script)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Env = append(os.Environ(), runVariable+"="+l.o.Dir, "GORACE=atexit_sleep_ms=0")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close() })
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
		t.Fatalf("%q, %v", line, err)
	}
	return cmd, in
}

// What would end our process is for the job, which decides, and is waited for.
func TestRunPassesSignalsOn(t *testing.T) {
	l := newLab(t)
	m := l.manager(nil)
	w := l.create(m, Request{})
	// Tests below nohup, or in the background of a shell, ignore some of them, and so
	// would the job, which cannot trap those then.
	heard := make(chan os.Signal, 1)
	signal.Notify(heard, syscall.SIGHUP, syscall.SIGINT)
	defer signal.Stop(heard)
	for sig, want := range map[syscall.Signal]int{syscall.SIGTERM: 7, syscall.SIGHUP: 8, syscall.SIGINT: 9} {
		cmd, _ := running(t, l, w.ID, `trap 'exit 7' TERM; trap 'exit 8' HUP; trap 'exit 9' INT; echo ready; while :; do sleep 0.01; done`)
		if err := cmd.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // the status tells
		if got := cmd.ProcessState.ExitCode(); got != want {
			t.Errorf("%v: status %d", sig, got)
		}
	}
}

// Whoever runs a job and is killed marks nothing any more.
func TestRunKilled(t *testing.T) {
	l := newLab(t)
	m := l.manager(nil)
	w := l.create(m, Request{Kind: Temp})
	cmd, stdin := running(t, l, w.ID, `echo ready; read line`)
	if users := m.jobs(w.ID); len(users) != 1 || users[0].PID != cmd.Process.Pid {
		t.Errorf("it runs: %+v", users)
	}
	if _, outcome, _ := sh(t, m, w.ID, Job{}, "true"); outcome != nil {
		t.Errorf("it runs: %+v", outcome)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	stdin.Close()
	apptest.Eventually(t, "the lock goes, a moment later than its process", func() bool { return len(m.jobs(w.ID)) == 0 })
	if _, outcome, _ := sh(t, m, w.ID, Job{}, "true"); outcome == nil || !outcome.Done {
		t.Errorf("it has gone: %+v", outcome)
	}
}

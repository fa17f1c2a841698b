package workspace

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A signal that the terminal sends to all reaches a job once, and so does one that
// is sent to us alone while we are in the foreground.
func TestRunOnTerminal(t *testing.T) {
	l := newLab(t)
	m := l.manager(nil)
	w := l.create(m, Request{Kind: Persistent})
	const script = `n=0; trap 'n=$((n+1)); echo got $n' INT QUIT; trap 'echo all $n; exit 0' TERM; echo ready; while :; do sleep 0.01; done`
	for what, send := range map[string]func(t *testing.T, cmd *exec.Cmd, keyboard *os.File){
		"typed": func(t *testing.T, _ *exec.Cmd, keyboard *os.File) {
			if _, err := keyboard.Write([]byte{3}); err != nil {
				t.Fatal(err)
			}
		},
		"typed to quit": func(t *testing.T, _ *exec.Cmd, keyboard *os.File) {
			if _, err := keyboard.Write([]byte{28}); err != nil {
				t.Fatal(err)
			}
		},
		"sent": func(t *testing.T, cmd *exec.Cmd, _ *os.File) {
			if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
				t.Fatal(err)
			}
		},
		"sent to quit": func(t *testing.T, cmd *exec.Cmd, _ *os.File) {
			if err := cmd.Process.Signal(syscall.SIGQUIT); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			keyboard, terminal := terminalPair(t)
			cmd := exec.Command(os.Args[0], w.ID, "sh", "-c", script)
			cmd.Env = append(os.Environ(), runVariable+"="+l.o.Dir, "GORACE=atexit_sleep_ms=0")
			cmd.Stdin, cmd.Stderr = terminal, os.Stderr
			cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			// One that nothing reaches says nothing.
			if err := out.(*os.File).SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
				t.Fatal(err)
			}
			lines := bufio.NewReader(out)
			says := func(want string) {
				t.Helper()
				if line, err := lines.ReadString('\n'); line != want+"\n" {
					t.Fatalf("%q, %v; want %q", line, err, want)
				}
			}
			says("ready")
			send(t, cmd, keyboard)
			says("got 1")
			// What came before it is passed on before it.
			if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			says("all 1")
			if err := cmd.Wait(); err != nil {
				t.Error(err)
			}
		})
	}
}

// terminalPair is a pseudo-terminal.
func terminalPair(t *testing.T) (keyboard, terminal *os.File) {
	t.Helper()
	keyboard, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { keyboard.Close() })
	if err := unix.IoctlSetPointerInt(int(keyboard.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetUint32(int(keyboard.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	terminal, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { terminal.Close() })
	return keyboard, terminal
}

//go:build !windows && !darwin

package tray

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"lamplighter/monitor"
)

// patience is how long a test waits for what must come.
const patience = 2 * time.Minute

func waitFor(t *testing.T, what string, f func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if f() {
			return
		}
	}
	t.Fatalf("waited in vain: %s", what)
}

// child is a tray in a process of its own.
type child struct {
	cmd   *exec.Cmd
	stdin io.WriteCloser
	mu    sync.Mutex
	out   strings.Builder
	done  chan struct{} // closed when it has ended
}

func startChild(t *testing.T, address string, first *monitor.Snapshot) *child {
	t.Helper()
	c := &child{cmd: exec.Command(os.Args[0]), done: make(chan struct{})}
	c.cmd.Env = append(os.Environ(), childEnv+"=auto", "DBUS_SESSION_BUS_ADDRESS="+address, "GORACE=exitcode=0")
	stdin, err := c.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.stdin = stdin
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.cmd.Stderr = c.cmd.Stdout
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(c.done)
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			c.mu.Lock()
			c.out.WriteString(lines.Text() + "\n")
			c.mu.Unlock()
		}
		c.cmd.Wait()
	}()
	t.Cleanup(func() {
		c.cmd.Process.Kill()
		<-c.done
		if race := c.ourRace(); race != "" {
			t.Errorf("the tray has a data race:\n%s", race)
		}
		if t.Failed() {
			t.Logf("the tray said:\n%s", c.said())
		}
	})
	c.send(t, first)
	return c
}

func (c *child) send(t *testing.T, snap *monitor.Snapshot) {
	t.Helper()
	data, err := json.Marshal(snap)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.stdin.Write(append(data, '\n')); err != nil {
		t.Fatal(err)
	}
}

// ourRace is the report of a data race between accesses of ours. The libraries
// have one of their own, which harms nothing: the icon, set while a panel's
// question for it is answered. That answer may mix two pictures, which have
// the same size, and the panel asks again.
func (c *child) ourRace() string {
	for _, report := range strings.Split(c.said(), "==================") {
		accesses, _, _ := strings.Cut(report, "\nGoroutine ")
		set := strings.Contains(accesses, "prop.(*Properties).set()") || strings.Contains(accesses, "systray.argbForImage()")
		answered := set && strings.Contains(accesses, "dbus/v5.(*Conn).handleCall()")
		if strings.Contains(accesses, "DATA RACE") && strings.Contains(accesses, "lamplighter/") && !answered {
			return report
		}
	}
	return ""
}

// style orders another style of the icon.
func (c *child) style(t *testing.T, style string) {
	t.Helper()
	if _, err := io.WriteString(c.stdin, "style "+style+"\n"); err != nil {
		t.Fatal(err)
	}
}

func (c *child) said() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.out.String()
}

// ends waits for the end and returns the exit status.
func (c *child) ends(t *testing.T) int {
	t.Helper()
	select {
	case <-c.done:
		return c.cmd.ProcessState.ExitCode()
	case <-time.After(patience):
		t.Fatal("the tray does not end")
		return -1
	}
}

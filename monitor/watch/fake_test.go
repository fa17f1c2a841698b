//go:build unix

package watch

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/process"
)

// fake is a running testdata/bin/serena.
type fake struct {
	cmd     *exec.Cmd
	pid     int // of the server
	port    int
	answers string
}

// answers is what a fake's dashboard says; see testdata/bin/serena.
type answers map[string]any

func task(name string) answers { return answers{"name": name, "is_running": false, "logged": true} }

// startFake starts a fake server, below the given wrapper command if any.
func startFake(t *testing.T, a answers, wrapper ...string) *fake {
	t.Helper()
	script, err := filepath.Abs("testdata/bin/serena")
	if err != nil {
		t.Fatal(err)
	}
	line := []string{"python3", "-Su", script, "start-mcp-server", "--context", "ide"}
	if len(wrapper) > 0 {
		line = append(wrapper, line...)
	}
	return startLine(t, a, line)
}

// startScript starts a script under Python that prints its port.
func startScript(t *testing.T, path string, a answers) *fake {
	t.Helper()
	return startLine(t, a, []string{"python3", "-Su", path})
}

func startLine(t *testing.T, a answers, line []string) *fake {
	t.Helper()
	return startCommand(t, a, exec.Command(line[0], line[1:]...))
}

// startCommand starts what prints a port, and before it the pid of the server unless it
// is that itself.
func startCommand(t *testing.T, a answers, cmd *exec.Cmd) *fake {
	t.Helper()
	f := &fake{cmd: cmd, answers: filepath.Join(t.TempDir(), "answers.json")}
	f.say(t, a)
	cmd.Env = append(os.Environ(), "FAKE_ANSWERS="+f.answers)
	first := f.start(t)
	if !strings.Contains(first, " ") {
		first = strconv.Itoa(cmd.Process.Pid) + " " + first
	}
	if _, err := fmt.Sscan(first, &f.pid, &f.port); err != nil {
		t.Fatal(err)
	}
	return f
}

// start starts the command in a process group that ends with the test, and
// returns its first line.
func (f *fake) start(t *testing.T) string {
	t.Helper()
	f.cmd.Stderr = os.Stderr
	f.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := f.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := f.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		syscall.Kill(-f.cmd.Process.Pid, syscall.SIGKILL)
		f.cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(line)
}

func (f *fake) say(t *testing.T, a answers) {
	t.Helper()
	data, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	// Renamed into place: the fake must never read half of it.
	if err := os.WriteFile(f.answers+".new", data, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(f.answers+".new", f.answers); err != nil {
		t.Fatal(err)
	}
}

func (f *fake) signal(t *testing.T, sig syscall.Signal) {
	t.Helper()
	if err := syscall.Kill(f.pid, sig); err != nil {
		t.Fatal(err)
	}
}

// watching runs a Watch for the length of the test.
func watching(t *testing.T) *Watch {
	t.Helper()
	w := New(Options{})
	serve(t, w)
	return w
}

// serve runs w for the length of the test. It looks as often as it can without
// keeping the machine busy.
func serve(t *testing.T, w *Watch) {
	t.Helper()
	w.o.limits = limits{tick: 20 * time.Millisecond, starting: 20 * time.Millisecond, active: 100 * time.Millisecond, busy: 100 * time.Millisecond, probe: 2 * time.Second, answer: 10 * time.Second}
	serveAsEver(t, w)
}

// serveAsEver runs w for the length of the test.
func serveAsEver(t *testing.T, w *Watch) {
	t.Helper()
	done := make(chan error, 1)
	ctx := t.Context()
	go func() { done <- w.Serve(ctx) }()
	t.Cleanup(func() { <-done }) // t.Context has ended by then
}

// await waits until the instance of pid is as wanted; nil stands for one that
// is not shown.
func await(t *testing.T, w *Watch, pid int, what string, limit time.Duration, want func(*monitor.Instance) bool) *monitor.Instance {
	t.Helper()
	snapshots, cancel := w.Subscribe()
	defer cancel()
	deadline := time.After(limit)
	var last *monitor.Instance
	for {
		select {
		case s := <-snapshots:
			last = nil
			for _, in := range s.Instances {
				if in.Identity.PID == pid {
					last = in
				}
			}
			if want(last) {
				return last
			}
		case <-deadline:
			t.Fatalf("%s: not seen within %v, last %+v", what, limit, last)
		}
	}
}

// awaitAt waits for the instance whose dashboard has a port.
func awaitAt(t *testing.T, w *Watch, port int, what string, want func(*monitor.Instance) bool) *monitor.Instance {
	t.Helper()
	var found *monitor.Instance
	waitFor(t, what, func() bool {
		for _, in := range w.Snapshot().Instances {
			if in.Port == port && want(in) {
				found = in
				return true
			}
		}
		return false
	})
	return found
}

// tracking is the instance that a process of pid is part of, or that client
// holds.
func tracking(t *testing.T, l *loop, pid, client int) *tracked {
	t.Helper()
	found := l.findInstance(func(tr *tracked) bool {
		return slices.Contains(pidsOf(tr.tree), pid) || tr.in.Client != nil && tr.in.Client.PID == client
	})
	if found == nil {
		t.Fatalf("pid %d is not tracked", pid)
	}
	return found
}

func waitFor(t *testing.T, what string, fine func() bool) {
	t.Helper()
	again := time.NewTicker(2 * time.Millisecond)
	defer again.Stop()
	for deadline := time.Now().Add(patience); !fine(); <-again.C {
		if time.Now().After(deadline) {
			t.Fatalf("never: %s", what)
		}
	}
}

// driven is a watch for which time goes by when the test says so: what takes a real
// one many seconds to judge, it does not wait for.
type driven struct {
	*Watch
	t     *testing.T
	loop  *loop
	exits *process.ExitWatch
	now   time.Time
}

// drive makes a watch of its own time, and real processes.
func drive(t *testing.T) *driven {
	t.Helper()
	d := &driven{Watch: New(Options{}), t: t, exits: process.NewExitWatch(), now: time.Now()}
	d.loop = d.begin(d.exits)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- d.exits.Serve(ctx) }()
	t.Cleanup(func() {
		cancel()
		d.loop.probes.Wait()
		<-ended
	})
	return d
}

// tick does what Serve does from one tick to the next, whose answers it waits for.
func (d *driven) tick() {
	for len(d.exits.Exits()) > 0 {
		d.loop.noteExit(<-d.exits.Exits(), d.now)
	}
	d.loop.tick(d.t.Context(), d.now)
	for d.loop.inFlight > 0 {
		d.loop.absorb(<-d.loop.results, d.now)
	}
	d.publish(d.loop, d.now)
	d.now = d.now.Add(d.loop.interval())
}

// await lets time go by until the instance of pid is as wanted; nil stands for one
// that is not shown.
func (d *driven) await(pid int, what string, want func(*monitor.Instance) bool) (in *monitor.Instance) {
	d.t.Helper()
	waitFor(d.t, what, func() bool {
		d.tick()
		in = nil
		for _, found := range d.Snapshot().Instances {
			if found.Identity.PID == pid {
				in = found
			}
		}
		return want(in)
	})
	return in
}

func inState(st monitor.State, cause monitor.Cause) func(*monitor.Instance) bool {
	return func(in *monitor.Instance) bool { return in != nil && in.State == st && in.Cause == cause }
}

func gone(in *monitor.Instance) bool { return in == nil }

// withPID are the instances with this pid.
func withPID(s *monitor.Snapshot, pid int) (found []*monitor.Instance) {
	for _, in := range s.Instances {
		if in.Identity.PID == pid {
			found = append(found, in)
		}
	}
	return found
}

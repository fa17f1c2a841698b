package main

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"lamplighter/app/apptest"
)

// running is a program that a test has started.
type running struct {
	cmd   *exec.Cmd
	out   apptest.Buffer
	ended chan struct{}
}

// startProgram runs a program until the test ends, however that ends.
func startProgram(t testing.TB, cmd *exec.Cmd) *running {
	t.Helper()
	r := &running{cmd: cmd, ended: make(chan struct{})}
	if cmd.Stdout == nil {
		cmd.Stdout = &r.out
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(r.ended)
		_ = cmd.Wait() // the status is read from its state
	}()
	t.Cleanup(func() { r.kill() })
	return r
}

func (r *running) kill() {
	_ = r.cmd.Process.Kill() // it may have ended
	<-r.ended
}

func (r *running) isRunning() bool {
	select {
	case <-r.ended:
		return false
	default:
		return true
	}
}

// status waits for the end.
func (r *running) status(t testing.TB) int {
	t.Helper()
	apptest.Eventually(t, r.cmd.Path+" ends", func() bool { return !r.isRunning() })
	return r.cmd.ProcessState.ExitCode()
}

// helper runs a helper program.
func helper(t testing.TB, mode string, args ...string) *running {
	t.Helper()
	cmd := exec.Command(testBinary(t), args...)
	cmd.Env = append(os.Environ(), helperMode+"="+mode)
	cmd.Stderr = os.Stderr
	r := startProgram(t, cmd)
	apptest.Eventually(t, "the helper is ready", func() bool { return strings.HasPrefix(r.out.String(), "ready") })
	return r
}

func testBinary(t testing.TB) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// impatient is ourselves, but all that we end has little time for it: for tests of
// what is left, which take many servers that do not end when they are asked to.
// Others have the program as it is.
func impatient(args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), helperMode+"=impatient", "GORACE=atexit_sleep_ms=0")
	return cmd
}

// world is where a keeper lives: its directory and the lock.
type world struct {
	dir, alive string
	mark       string // KEY=VALUE in the environment of the keeper and of all below it
	impatient  bool   // the keeper gives less time to what it ends
}

func newWorld(t testing.TB) *world {
	t.Helper()
	dir := t.TempDir()
	w := &world{dir: filepath.Join(dir, "launch"), alive: filepath.Join(dir, "alive.lock"), mark: markName + "=" + rand.Text()}
	if err := errors.Join(os.Mkdir(w.dir, 0o700), os.WriteFile(w.alive, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	return w
}

// markName is what the launcher sets for each launch.
const markName = "LAMPLIGHTER_LAUNCH"

// own starts a program that holds the lock as the background process does.
func (w *world) own(t testing.TB) *running {
	t.Helper()
	return helper(t, "own", w.alive)
}

// keeper is a running keeper.
type keeper struct {
	*running
	w *world
}

// keeperCommand is the keeper above a command, as the launcher runs it.
func (w *world) keeperCommand(options []string, command ...string) *exec.Cmd {
	args := append([]string{"keep", "--dir", w.dir, "--alive", w.alive}, options...)
	args = append(append(args, "--"), command...)
	cmd := exec.Command(program, args...)
	if w.impatient {
		cmd = impatient(args...)
	}
	cmd.Env = append(cmd.Environ(), w.mark)
	cmd.SysProcAttr = apart()
	return cmd
}

// The options of both lifetimes.
var (
	session = []string{"--lifetime", "session"}
	shared  = []string{"--lifetime", "shared", "--linger", "1"}
)

func (w *world) keep(t testing.TB, options []string, command ...string) *keeper {
	t.Helper()
	return w.run(t, w.keeperCommand(options, command...))
}

// keepHelper keeps one of the helper programs.
func (w *world) keepHelper(t testing.TB, options []string, mode string) *keeper {
	t.Helper()
	cmd := w.keeperCommand(options, testBinary(t))
	cmd.Env = append(cmd.Env, helperMode+"="+mode)
	return w.run(t, cmd)
}

func (w *world) run(t testing.TB, cmd *exec.Cmd) *keeper {
	t.Helper()
	t.Cleanup(func() { w.killMarked(t) })
	return &keeper{startProgram(t, cmd), w}
}

// log is what the log holds.
func (w *world) log(t testing.TB) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(w.dir, "output.log"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return string(text)
}

// prints waits until the server has printed a text.
func (k *keeper) prints(t testing.TB, text string) {
	t.Helper()
	apptest.Eventually(t, "the server prints "+strconv.Quote(text), func() bool {
		if strings.Contains(k.w.log(t), text) {
			return true
		}
		if !k.isRunning() {
			t.Fatalf("the keeper has ended; it said %q", k.out.String())
		}
		return false
	})
}

// said is the last line of that kind, without its first word.
func (k *keeper) said(kind string) (string, bool) {
	found, ok := "", false
	for line := range strings.Lines(k.out.String()) {
		if rest, is := strings.CutPrefix(line, kind+" "); is && strings.HasSuffix(line, "\n") {
			found, ok = strings.TrimSuffix(rest, "\n"), true
		}
	}
	return found, ok
}

// says waits for a line of that kind, and returns the rest of it.
func (k *keeper) says(t testing.TB, kind string) string {
	t.Helper()
	apptest.Eventually(t, "the keeper says "+kind, func() bool { _, ok := k.said(kind); return ok })
	rest, _ := k.said(kind)
	return rest
}

// server is the pid of the direct child.
func (k *keeper) server(t testing.TB) int {
	t.Helper()
	text, _, _ := strings.Cut(k.says(t, "started"), " ")
	pid, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

// finished waits for the end, and checks that all was said as promised: what
// the server printed last, and how its direct child has ended.
func (k *keeper) finished(t testing.TB) (output, exited string) {
	t.Helper()
	if status := k.status(t); status != 0 {
		t.Errorf("exit status %d; it said %q", status, k.out.String())
	}
	var kinds []string
	for line := range strings.Lines(k.out.String()) {
		kind, _, _ := strings.Cut(line, " ")
		kinds = append(kinds, kind)
	}
	if got := strings.Join(kinds, " "); got != "started exited output" {
		t.Fatalf("it said %s", got)
	}
	quoted, _ := k.said("output")
	output, err := strconv.Unquote(quoted)
	if err != nil {
		t.Errorf("the output is %s", quoted)
	}
	exited, _ = k.said("exited")
	pid, exited, _ := strings.Cut(exited, " ")
	if started := strconv.Itoa(k.server(t)); pid != started {
		t.Errorf("%s has ended, %s was started", pid, started)
	}
	return output, exited
}

//go:build contract && linux

package contract

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"lamplighter/app/apptest"
)

// world is one user's home and what runs in it. Nothing outside is read or
// written, there is no desktop, and the browser only writes down in "opened"
// what it was asked to open.
type world struct {
	page, sessions int // ports
	dir            string
	env            []string
	daemon         *process
}

// newWorld makes a home with these ports and settings. Its daemon has not been
// started.
func newWorld(t testing.TB, page, sessions int, settings string) *world {
	t.Helper()
	dir, err := os.MkdirTemp("", "c") // short, since a socket's path is limited
	must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) }) // something may still write into it
	w := &world{page: page, sessions: sessions, dir: dir}
	w.env = []string{
		"HOME=" + dir, "PATH=" + w.path("bin") + ":/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8", "CI=true",
		"XDG_RUNTIME_DIR=" + w.path("run"), "TMPDIR=" + w.path("tmp"),
	}
	for _, sub := range []string{"run", "bin", "above", "outputs", "tmp"} {
		must(t, os.Mkdir(w.path(sub), 0o700))
	}
	for _, program := range []string{w.path("bin", serena), w.path("bin", ledger), w.path("above", launcherName), w.path("above", clientName)} {
		must(t, os.Link(self, program))
	}
	must(t, os.WriteFile(w.path("bin", "xdg-open"), []byte("#!/bin/sh\necho \"$1\" >>"+w.path("opened")+"\n"), 0o700))
	if page != 25282 {
		settings += fmt.Sprintf("web_dashboard_global_port: %d\nsession_port: %d\n", page, sessions)
	}
	write(t, w.settings(), settings+"servers:\n  - {name: ledger, program: "+ledger+", arguments: [serve]}\n")
	return w
}

// another is a second world, for what the one daemon cannot be asked: that it
// ends, that there is none.
func another(t testing.TB, settings string) *world {
	t.Helper()
	w := newWorld(t, freePort(t), freePort(t), settings)
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(read(w.state("lamplighter.log")))
		}
	})
	return w
}

func freePort(t testing.TB) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

func (w *world) path(elem ...string) string {
	return filepath.Join(append([]string{w.dir}, elem...)...)
}
func (w *world) settings() string { return w.path(".config", "lamplighter", "config.yaml") }
func (w *world) state(elem ...string) string {
	return w.path(append([]string{".local", "state", "lamplighter"}, elem...)...)
}
func (w *world) socket(name string) string { return w.path("run", "lamplighter", name+".sock") }

// project makes a project's directory and returns its path. Its stand-ins have
// these habits.
func (w *world) project(t testing.TB, name string, habits ...string) string {
	t.Helper()
	dir := w.path("projects", name)
	write(t, filepath.Join(dir, ".serena", "project.yml"), "project_name: "+name+"\n")
	write(t, filepath.Join(dir, habitsFile), strings.Join(habits, " "))
	return dir
}

// startDaemon starts `lamplighter run` and waits until it serves its sockets and
// these ports, and has looked for servers.
func (w *world) startDaemon(t testing.TB, ports ...door) {
	t.Helper()
	w.daemon = w.start(t, nil, lamplighter("run")...)
	apptest.Eventually(t, "the daemon is ready", func() bool {
		if !w.daemon.running() {
			t.Fatal("lamplighter run has ended: " + w.daemon.err.String())
		}
		c, err := net.Dial("unix", w.socket("share"))
		if err == nil {
			c.Close()
		}
		return err == nil && !slices.ContainsFunc(append(ports, control), func(d door) bool { return !w.ready(d) })
	})
}

// process is a program that runs.
type process struct {
	cmd      *exec.Cmd
	in       io.WriteCloser // open until the process ends
	out, err output
	done     chan struct{}
}

// output is the file that a process writes to.
type output string

func (o output) String() string { return read(string(o)) }

// lamplighter and connect are command lines of the two programs.
func lamplighter(args ...string) []string {
	return append([]string{filepath.Join(programs, "lamplighter")}, args...)
}

func connect(args ...string) []string {
	return append([]string{filepath.Join(programs, "lamplighter-connect"), "connect"}, args...)
}

// start starts a program, in the home itself unless change says otherwise. It ends
// with the test.
func (w *world) start(t testing.TB, change func(*exec.Cmd), line ...string) *process {
	t.Helper()
	p := &process{cmd: exec.Command(line[0], line[1:]...), done: make(chan struct{})}
	out, err := os.CreateTemp(w.path("outputs"), "out")
	must(t, err)
	defer out.Close()
	errs, err := os.Create(out.Name() + ".err")
	must(t, err)
	defer errs.Close()
	p.out, p.err = output(out.Name()), output(errs.Name())
	p.cmd.Env, p.cmd.Dir, p.cmd.Stdout, p.cmd.Stderr = slices.Clone(w.env), w.dir, out, errs
	if change != nil {
		change(p.cmd)
	}
	if p.cmd.Stdin == nil {
		p.in, err = p.cmd.StdinPipe()
		must(t, err)
	}
	must(t, p.cmd.Start())
	go func() {
		defer close(p.done)
		_ = p.cmd.Wait() // the status is in ProcessState
	}()
	t.Cleanup(p.end)
	return p
}

func (p *process) pid() int { return p.cmd.Process.Pid }

func (p *process) running() bool {
	select {
	case <-p.done:
		return false
	default:
		return true
	}
}

// end kills it, unless it has ended.
func (p *process) end() {
	_ = p.cmd.Process.Kill()
	<-p.done
}

func (p *process) signal(t testing.TB, s os.Signal) {
	t.Helper()
	must(t, p.cmd.Process.Signal(s))
}

// status waits for the end.
func (p *process) status(t testing.TB) int {
	t.Helper()
	select {
	case <-p.done:
	case <-time.After(time.Minute): // a test waits no longer; none measures time
		t.Fatalf("%q does not end; it printed %q", p.cmd.Args, p.err.String())
	}
	return p.cmd.ProcessState.ExitCode()
}

// ends waits for the end with this status, and returns all that was printed.
func (p *process) ends(t testing.TB, want int) (printed string) {
	t.Helper()
	status := p.status(t)
	printed = p.out.String() + p.err.String()
	check(t, status == want, "%q: exit status %d, want %d: %s", p.cmd.Args[1:], status, want, printed)
	return printed
}

// run starts a verb of lamplighter, without a terminal and with nothing on its
// standard input.
func (w *world) run(t testing.TB, args ...string) *process {
	t.Helper()
	return w.start(t, func(c *exec.Cmd) { c.Stdin = strings.NewReader("") }, lamplighter(args...)...)
}

// does runs a verb, which must end with this status, and returns all that it prints.
func (w *world) does(t testing.TB, want int, args ...string) (printed string) {
	t.Helper()
	return w.run(t, args...).ends(t, want)
}

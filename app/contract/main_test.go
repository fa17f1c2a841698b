//go:build contract && linux

package contract

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"lamplighter/app/apptest"
)

// programsVariable names a folder that has both programs already.
const programsVariable = "LAMPLIGHTER_TEST_PROGRAMS"

// programs is the folder of lamplighter and lamplighter-connect, and self this
// program, where it can be given other names: those of servers.
var programs, self string

// home is the world in which the one daemon runs that most tests ask, and
// alpha the Serena that it has found there.
var (
	home  *world
	alpha *server
)

func TestMain(m *testing.M) {
	if !becomeServer(filepath.Base(os.Args[0]), os.Args[1:]) {
		os.Exit(runAll(m))
	}
}

func runAll(m *testing.M) int {
	var cleanups []func()
	defer func() {
		for _, end := range slices.Backward(cleanups) {
			end()
		}
	}()
	t := stage{fail: func(args ...any) { panic(fmt.Sprint(args...)) }, cleanup: func(end func()) { cleanups = append(cleanups, end) }}
	must(t, json.Unmarshal([]byte(read("testdata/shapes.json")), &shapes))
	dir, err := os.MkdirTemp("", "contract")
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	self = filepath.Join(dir, "self")
	must(t, exec.Command("cp", os.Args[0], self).Run())
	if programs = os.Getenv(programsVariable); programs == "" {
		programs = filepath.Join(dir, "programs")
		for name, pkg := range map[string]string{"lamplighter": "lamplighter/app", "lamplighter-connect": "lamplighter/app/connect"} {
			build := exec.Command("go", "build", "-o", filepath.Join(programs, name), pkg)
			build.Stderr = os.Stderr
			must(t, build.Run())
		}
	}
	home = newWorld(t, newDirectory(t), 25282, 8888, "")
	home.startDaemon(t, page, sessions)
	alpha = home.startFound(t, "alpha")
	return m.Run()
}

// stage stands for a test where there is none: before the first, and in a script.
type stage struct {
	testing.TB
	fail    func(...any)
	cleanup func(func())
}

func (stage) Helper()                        {}
func (stage) Failed() bool                   { return false }
func (s stage) Fatal(args ...any)            { s.fail(args...) }
func (s stage) Fatalf(form string, a ...any) { s.fail(fmt.Sprintf(form, a...)) }
func (s stage) Errorf(form string, a ...any) { s.fail(fmt.Sprintf(form, a...)) }
func (s stage) Cleanup(end func())           { s.cleanup(end) }

// must ends a test in which something that it needs did not work.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// check says what is wrong unless it is right.
func check(t testing.TB, right bool, format string, args ...any) {
	t.Helper()
	if !right {
		t.Errorf(format, args...)
	}
}

// same compares what there is with what is wanted.
func same(t testing.TB, what string, got, want any) {
	t.Helper()
	check(t, reflect.DeepEqual(got, want), "%s: %v, want %v", what, got, want)
}

// write writes a file of the test.
func write(t testing.TB, path, text string) {
	t.Helper()
	must(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)))
}

// read is what a file has, nothing when there is none.
func read(path string) string {
	text, _ := os.ReadFile(path) // what is missing is missed by who reads it
	return string(text)
}

// table reads one of testdata: a row a line, with two spaces or more between its
// cells. What begins with # is a comment.
func table(t testing.TB, name string) (rows [][]string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	must(t, err)
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			rows = append(rows, regexp.MustCompile(`  +`).Split(line, -1))
		}
	}
	return rows
}

// cell is one of a row, nothing where it is left out or "-".
func cell(row []string, i int) string {
	if i >= len(row) || row[i] == "-" {
		return ""
	}
	return row[i]
}

// number is that in a cell.
func number(t testing.TB, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	must(t, err)
	return n
}

// fill puts what the test knows in the place of its names.
func fill(text string, known map[string]string) string {
	for name, value := range known {
		text = strings.ReplaceAll(text, "{"+name+"}", value)
	}
	return text
}

// jsonOf is a value as JSON has it.
func jsonOf(value any) string {
	encoded, _ := json.Marshal(value) // of what the tests have there is always one
	return string(encoded)
}

// world is one user's home and what runs in it. Nothing outside is read or
// written, there is no desktop, and the browser only writes down in "opened"
// what it was asked to open.
type world struct {
	page, sessions int // ports
	dir            string
	env            []string
	daemon         *process
}

// newDirectory makes one with a short name, since a socket's path is limited.
func newDirectory(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "c")
	must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) }) // something may still write into it
	return dir
}

// newWorld makes a directory a home with these ports and settings. Its daemon has
// not been started.
func newWorld(t testing.TB, dir string, page, sessions int, settings string) *world {
	t.Helper()
	w := &world{page: page, sessions: sessions, dir: dir}
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(read(w.state("lamplighter.log")))
		}
		for _, pid := range processesOf(dir + "/") { // what is shared outlives its daemon
			_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended
		}
	})
	w.env = []string{
		"HOME=" + dir, "PATH=" + w.path("bin") + ":/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8", "CI=true",
		"XDG_RUNTIME_DIR=" + w.path("run"), "TMPDIR=" + w.path("tmp"),
	}
	for _, sub := range []string{"run", "bin", "above", "outputs", "tmp"} {
		must(t, os.MkdirAll(w.path(sub), 0o700))
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
	return newWorld(t, newDirectory(t), apptest.FreePort(t), apptest.FreePort(t), settings)
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

// startDaemon starts `lamplighter run` and waits until it is ready.
func (w *world) startDaemon(t testing.TB, ports ...door) {
	t.Helper()
	w.daemon = w.start(t, nil, lamplighter("run")...)
	w.ready(t, append(ports, control)...)
}

// ready waits until the daemon serves its sockets and these ports, and has looked
// for servers.
func (w *world) ready(t testing.TB, doors ...door) {
	t.Helper()
	apptest.Eventually(t, "the daemon is ready", func() bool {
		if w.daemon != nil && !w.daemon.running() {
			t.Fatal("lamplighter run has ended: " + w.daemon.err.String())
		}
		c, err := net.Dial("unix", w.socket("share"))
		if err == nil {
			c.Close()
		}
		return err == nil && !slices.ContainsFunc(doors, func(d door) bool { return w.health(d)["ready"] != true })
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

func (p *process) pid() int      { return p.cmd.Process.Pid }
func (p *process) running() bool { return alive(p.pid()) }

// end kills it, unless it has ended.
func (p *process) end() {
	_ = p.cmd.Process.Kill()
	<-p.done
}

// ends waits for the end with this status, and returns all that was printed.
func (p *process) ends(t testing.TB, want int) (printed string) {
	t.Helper()
	select {
	case <-p.done:
	case <-time.After(time.Minute): // a test waits no longer; none measures time
		t.Fatalf("%q does not end; it printed %q", p.cmd.Args, p.err.String())
	}
	status := p.cmd.ProcessState.ExitCode()
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

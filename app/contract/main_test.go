//go:build contract && linux

package contract

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// programsVariable names a folder that has both programs already.
const programsVariable = "LAMPLIGHTER_TEST_PROGRAMS"

// patience is how long a test waits before it gives up. No test measures time.
const patience = time.Minute

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
	if becomeServer(filepath.Base(os.Args[0]), os.Args[1:]) {
		return
	}
	status, err := runAll(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "contract:", err)
		status = 1
	}
	os.Exit(status)
}

func runAll(m *testing.M) (int, error) {
	dir, err := os.MkdirTemp("", "contract")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	self = filepath.Join(dir, "self")
	if err := exec.Command("cp", os.Args[0], self).Run(); err != nil {
		return 0, err
	}
	if programs = os.Getenv(programsVariable); programs == "" {
		programs = filepath.Join(dir, "programs")
		for name, pkg := range map[string]string{"lamplighter": "lamplighter/app", "lamplighter-connect": "lamplighter/app/connect"} {
			if out, err := exec.Command("go", "build", "-o", filepath.Join(programs, name), pkg).CombinedOutput(); err != nil {
				return 0, fmt.Errorf("building %s: %w\n%s", name, err, out)
			}
		}
	}
	if home, err = newWorld(filepath.Join(dir, "h"), defaultPorts, ""); err != nil {
		return 0, err
	}
	defer home.close()
	if alpha, err = home.startServer(home.project("alpha")); err != nil {
		return 0, err
	}
	if err := errors.Join(home.startDaemon(page, sessions), home.waitFor(alpha)); err != nil {
		return 0, err
	}
	return m.Run(), nil
}

// ports are those of the page and of sessions.
type ports struct{ page, sessions int }

var defaultPorts = ports{25282, 8888}

// world is one user's home and what runs in it. Nothing outside is read or
// written, there is no desktop, and the browser only writes down in "opened"
// what it was asked to open.
type world struct {
	ports
	dir    string
	env    []string
	daemon *process
	began  []*process // all that still has to end
}

// newWorld makes a home with these settings. Its path must be short, since that
// of a socket is limited.
func newWorld(dir string, at ports, settings string) (*world, error) {
	w := &world{ports: at, dir: dir}
	w.env = []string{
		"HOME=" + dir, "PATH=" + w.path("bin") + ":/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8", "CI=true",
		"XDG_RUNTIME_DIR=" + w.path("run"), "TMPDIR=" + w.path("tmp"),
	}
	if at != defaultPorts {
		settings += fmt.Sprintf("web_dashboard_global_port: %d\nsession_port: %d\n", at.page, at.sessions)
	}
	settings += "servers:\n  - {name: ledger, program: " + ledger + ", arguments: [serve]}\n"
	for _, sub := range []string{"run", "bin", "above", "outputs", "tmp", ".config/lamplighter"} {
		if err := os.MkdirAll(w.path(sub), 0o700); err != nil {
			return nil, err
		}
	}
	browser := "#!/bin/sh\necho \"$1\" >>" + w.path("opened") + "\n"
	return w, errors.Join(
		os.WriteFile(w.settings(), []byte(settings), 0o600),
		os.WriteFile(w.path("bin", "xdg-open"), []byte(browser), 0o700),
		os.Link(self, w.path("bin", serena)),
		os.Link(self, w.path("bin", ledger)),
		os.Link(self, w.path("above", launcherName)),
		os.Link(self, w.path("above", clientName)),
	)
}

func (w *world) path(elem ...string) string {
	return filepath.Join(append([]string{w.dir}, elem...)...)
}
func (w *world) settings() string { return w.path(".config", "lamplighter", "config.yaml") }
func (w *world) state(elem ...string) string {
	return w.path(append([]string{".local", "state", "lamplighter"}, elem...)...)
}
func (w *world) controlSocket() string { return w.path("run", "lamplighter", "control.sock") }
func (w *world) shareSocket() string   { return w.path("run", "lamplighter", "share.sock") }

// project makes a project's directory and returns its path.
func (w *world) project(name string) string {
	dir := w.path("projects", name)
	err := os.MkdirAll(filepath.Join(dir, ".serena"), 0o700)
	if err := errors.Join(err, os.WriteFile(filepath.Join(dir, ".serena", "project.yml"), []byte("project_name: "+name+"\n"), 0o600)); err != nil {
		panic(err)
	}
	return dir
}

// startDaemon starts `lamplighter run` and waits until it serves its sockets and
// these ports.
func (w *world) startDaemon(ports ...door) error {
	w.daemon = w.start(nil, lamplighter("run"))
	return w.until("the daemon is ready", func() bool {
		if !w.daemon.running() {
			panic("lamplighter run has ended: " + w.daemon.err.String())
		}
		for _, d := range append(ports, socket) {
			if !w.answers(d) {
				return false
			}
		}
		c, err := net.Dial("unix", w.shareSocket())
		if err == nil {
			c.Close()
		}
		return err == nil
	})
}

// answers reports whether somebody serves there, and is ready.
func (w *world) answers(d door) bool {
	var health struct{ Ready bool }
	a, err := w.try(d, "GET", "/health", "", nil)
	return err == nil && json.Unmarshal(a.body, &health) == nil && health.Ready
}

// waitFor waits until the daemon knows the state of a server.
func (w *world) waitFor(s *server) error {
	return w.until("the daemon has found "+s.project, func() bool { return w.instance(s.pid)["state"] == "live_with_project" })
}

// instance is what the daemon says of a pid, nil: nothing.
func (w *world) instance(pid int) object { return w.find("pid", float64(pid)) }

// find is the first that the daemon lists with this member.
func (w *world) find(member string, value any) object {
	a, err := w.try(socket, "GET", p+"instances", "", nil)
	var list struct{ Instances []object }
	if err != nil || json.Unmarshal(a.body, &list) != nil {
		return nil
	}
	for _, in := range list.Instances {
		if in[member] == value {
			return in
		}
	}
	return nil
}

func (w *world) until(what string, ok func() bool) error {
	for end := time.Now().Add(patience); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			log, _ := os.ReadFile(w.state("lamplighter.log")) // there may be none
			return fmt.Errorf("never happened: %s\n%s", what, log)
		}
	}
	return nil
}

// must ends a test in which something that it needs did not work.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// write writes a file of the test.
func write(t testing.TB, path, text string) {
	t.Helper()
	must(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)))
}

// exists checks which of these files there are.
func exists(t testing.TB, want bool, paths ...string) {
	t.Helper()
	for _, path := range paths {
		if _, err := os.Lstat(path); (err == nil) != want {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// eventually waits until ok.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	must(t, home.until(what, ok))
}

// close ends all that runs in a world.
func (w *world) close() {
	for _, p := range slices.Backward(w.began) {
		p.end()
	}
}

// another is a second world, for what the one daemon cannot be asked: that it
// ends, that there is none. Its daemon has not been started.
func another(t *testing.T, settings string) *world {
	t.Helper()
	dir, err := os.MkdirTemp("", "c")
	must(t, err)
	w, err := newWorld(dir, ports{freePort(t), freePort(t)}, settings)
	must(t, err)
	t.Cleanup(func() {
		w.close()
		_ = os.RemoveAll(dir) // something may still write into it
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

// process is a program that runs.
type process struct {
	cmd      *exec.Cmd
	in       io.WriteCloser // open until the process ends
	out, err output
	done     chan struct{}
}

// lamplighter and connect are command lines of the two programs.
func lamplighter(args ...string) []string {
	return append([]string{filepath.Join(programs, "lamplighter")}, args...)
}

func connect(args ...string) []string {
	return append([]string{filepath.Join(programs, "lamplighter-connect"), "connect"}, args...)
}

// start starts a program, in the home itself unless change says otherwise.
func (w *world) start(change func(*exec.Cmd), line []string) *process {
	p := &process{cmd: exec.Command(line[0], line[1:]...), done: make(chan struct{})}
	out, err := os.CreateTemp(w.path("outputs"), "out")
	errs, err2 := os.CreateTemp(w.path("outputs"), "err")
	if err := errors.Join(err, err2); err != nil {
		panic(err)
	}
	defer out.Close()
	defer errs.Close()
	p.out, p.err = output(out.Name()), output(errs.Name())
	p.cmd.Env, p.cmd.Dir, p.cmd.Stdout, p.cmd.Stderr = slices.Clone(w.env), w.dir, out, errs
	if change != nil {
		change(p.cmd)
	}
	if p.cmd.Stdin == nil {
		p.in, _ = p.cmd.StdinPipe() // fails only where it was set
	}
	if err := p.cmd.Start(); err != nil {
		panic(err)
	}
	w.began = append(w.began, p)
	go func() {
		defer close(p.done)
		_ = p.cmd.Wait() // the status is in ProcessState
	}()
	return p
}

func (p *process) running() bool {
	select {
	case <-p.done:
		return false
	default:
		return true
	}
}

func (p *process) pid() int { return p.cmd.Process.Pid }

// end kills it, unless it has ended.
func (p *process) end() {
	_ = p.cmd.Process.Kill()
	<-p.done
}

// status waits for the end.
func (p *process) status(t testing.TB) int {
	t.Helper()
	select {
	case <-p.done:
	case <-time.After(patience):
		t.Fatalf("%q does not end; it printed %q", p.cmd.Args, p.err.String())
	}
	return p.cmd.ProcessState.ExitCode()
}

// run starts a verb of lamplighter in this world, without a terminal and with
// nothing on its standard input.
func (w *world) run(args ...string) *process {
	return w.start(func(c *exec.Cmd) { c.Stdin = strings.NewReader("") }, lamplighter(args...))
}

// does runs a verb, which must end with this status, and returns all that it prints.
func (w *world) does(t testing.TB, want int, args ...string) (printed string) {
	t.Helper()
	return w.run(args...).ends(t, want)
}

// ends waits for the end with this status, and returns all that was printed.
func (p *process) ends(t testing.TB, want int) (printed string) {
	t.Helper()
	status := p.status(t)
	printed = p.out.String() + p.err.String()
	if status != want {
		t.Errorf("%q: exit status %d, want %d: %s", p.cmd.Args[1:], status, want, printed)
	}
	return printed
}

// output is the file that a process writes to.
type output string

func (o output) String() string {
	text, _ := os.ReadFile(string(o)) // nothing is lost but the reason of a failure
	return string(text)
}

// door is a way to the daemon.
type door int

const (
	page     door = iota // 127.0.0.1:25282
	sessions             // 127.0.0.1:8888
	socket               // the control socket
)

func (d door) String() string { return []string{"page", "sessions", "socket"}[d] }

// header is what a request has besides the usual.
type header map[string]string

// with is a header with one more, or another.
func (h header) with(name, value string) header {
	more := maps.Clone(h)
	more[name] = value
	return more
}

// answer is what was answered to one request.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// try makes one request. A body is sent as application/json unless a header
// says otherwise; a header with the value "" is not sent, and Host counts too.
func (w *world) try(d door, method, path, body string, headers header) (*answer, error) {
	resp, err := w.open(d, method, path, body, headers)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return &answer{resp.StatusCode, resp.Header, text}, err
}

// open is try with the body still to be read, for streams.
func (w *world) open(d door, method, path, body string, headers header) (*http.Response, error) {
	network, address := "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(w.page))
	switch d {
	case sessions:
		address = net.JoinHostPort("127.0.0.1", strconv.Itoa(w.sessions))
	case socket:
		network, address = "unix", w.controlSocket()
	}
	req, err := http.NewRequest(method, "http://placeholder"+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	if req.Host = address; d == socket {
		req.Host = "lamplighter"
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for name, value := range headers {
		switch {
		case name == "Host":
			req.Host = value
		case value == "":
			req.Header.Del(name)
		default:
			req.Header.Set(name, value)
		}
	}
	transport := http.Transport{
		DisableKeepAlives: true, DisableCompression: true, ExpectContinueTimeout: patience,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, address)
		},
	}
	return transport.RoundTrip(req) // follows nothing
}

// ask is try in the test's own world, which fails where nothing is answered.
func ask(t testing.TB, d door, method, path, body string, headers header) *answer {
	t.Helper()
	return home.ask(t, d, method, path, body, headers)
}

func (w *world) ask(t testing.TB, d door, method, path, body string, headers header) *answer {
	t.Helper()
	a, err := w.try(d, method, path, body, headers)
	must(t, err)
	return a
}

// get asks the page's port.
func get(t testing.TB, path string) *answer {
	t.Helper()
	return ask(t, page, "GET", path, "", nil)
}

// into decodes a body that must be JSON.
func (a *answer) into(t testing.TB, v any) {
	t.Helper()
	if err := json.Unmarshal(a.body, v); err != nil {
		t.Fatalf("%d %q: %v", a.status, a.body, err)
	}
}

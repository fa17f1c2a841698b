package stop

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"lamplighter/monitor"
	"lamplighter/monitor/process"
	"lamplighter/monitor/serena"
)

// helperMode makes the test binary one of the helper programs below.
const helperMode = "LAMPLIGHTER_STOP_TEST_HELPER"

func TestMain(m *testing.M) {
	switch mode, args, _ := strings.Cut(os.Getenv(helperMode), " "); mode {
	case "":
		goleak.VerifyTestMain(m)
	case "server":
		helperServer(args)
	case "connect":
		helperConnect(args)
	case "supervise":
		helperSupervise(args)
	default:
		fmt.Fprintln(os.Stderr, "unknown helper")
		os.Exit(2)
	}
}

// helperServer is a server with a dashboard and an MCP port, which it prints.
// The dashboard is as the word says: well, busy, mute (never answers), deaf
// (does not end when asked), starting, old (without a queue), turning (busy from
// SIGUSR1 on), elsewhere (on an address of its own) or below (in a child of the
// server).
func helperServer(mood string) {
	signal.Ignore(syscall.SIGPIPE)
	if mood == "below" {
		cmd := exec.Command("/proc/self/exe")
		cmd.Env = append(os.Environ(), helperMode+"=server well")
		cmd.Stdout = os.Stdout
		cmd.Run()
		return
	}
	turned := make(chan os.Signal, 1)
	if mood == "turning" {
		signal.Notify(turned, syscall.SIGUSR1)
	}
	answer := func(w http.ResponseWriter, v any) { json.NewEncoder(w).Encode(v) }
	mux := http.NewServeMux()
	mux.HandleFunc("GET /queued_task_executions", func(w http.ResponseWriter, r *http.Request) {
		tasks := []map[string]any{}
		now := mood
		if len(turned) > 0 {
			now = "busy"
		}
		switch now {
		case "mute":
			<-r.Context().Done()
			return
		case "old":
			http.NotFound(w, r)
			return
		case "starting":
			tasks = append(tasks, map[string]any{"name": "Task-1:init_project_services", "task_id": 1, "is_running": true})
		case "busy":
			tasks = append(tasks, map[string]any{"name": "Task-1:init_project_services", "task_id": 1, "is_running": true})
			tasks = append(tasks, map[string]any{"name": "Task-3:FindSymbolTool", "task_id": 3, "is_running": true})
		}
		answer(w, map[string]any{"status": "success", "queued_executions": tasks})
	})
	mux.HandleFunc("PUT /shutdown", func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.Host, "127.0.0.1:") {
			http.Error(w, "bad host", http.StatusBadRequest)
			return
		}
		answer(w, map[string]any{"status": "shutting down"})
		if mood != "deaf" {
			time.AfterFunc(50*time.Millisecond, func() { os.Exit(0) })
		}
	})
	host := "127.0.0.1"
	if mood == "elsewhere" {
		host = "127.0.0.2"
	}
	dashboard, err := net.Listen("tcp4", host+":0")
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	clients, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	go func() {
		for {
			c, err := clients.Accept()
			if err != nil {
				return
			}
			go io.Copy(io.Discard, c)
		}
	}()
	fmt.Println(dashboard.Addr().(*net.TCPAddr).Port, clients.Addr().(*net.TCPAddr).Port)
	http.Serve(dashboard, mux)
}

// helperConnect connects to a port and stays.
func helperConnect(port string) {
	c, err := net.Dial("tcp4", "127.0.0.1:"+port)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("connected")
	io.Copy(io.Discard, c)
	select {}
}

// helperSupervise runs a command again and again, and prints each pid.
func helperSupervise(command string) {
	for {
		cmd := exec.Command("sh", "-c", "exec "+command)
		if err := cmd.Start(); err != nil {
			os.Exit(1)
		}
		fmt.Println(cmd.Process.Pid)
		cmd.Wait()
	}
}

// group is what one test starts: every process of it has a mark in its
// environment, so that all can be found wherever they went.
type group struct {
	t    *testing.T
	mark string
	mute map[int]bool // dashboards that never answer
}

func newGroup(t *testing.T) *group {
	t.Helper()
	g := &group{t, "LAMPLIGHTER_STOP_TEST=" + rand.Text(), map[int]bool{}}
	t.Cleanup(func() {
		eventually(t, "everything the test has started is gone", func() bool {
			alive := g.alive()
			for _, pid := range alive {
				if p, err := os.FindProcess(pid); err == nil {
					if g.marked(pid) {
						p.Kill()
					}
					p.Release()
				}
			}
			return len(alive) == 0
		})
	})
	return g
}

func (g *group) marked(pid int) bool {
	env, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	return err == nil && slices.Contains(strings.Split(string(env), "\x00"), g.mark)
}

// alive are the pids of the group, ascending.
func (g *group) alive() []int {
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		g.t.Fatal(err)
	}
	var pids []int
	for _, dir := range dirs {
		if pid, err := strconv.Atoi(filepath.Base(dir)); err == nil && g.marked(pid) {
			pids = append(pids, pid)
		}
	}
	slices.Sort(pids)
	return pids
}

// start runs a command of the group and reaps it when it ends.
func (g *group) start(cmd *exec.Cmd) (monitor.Identity, *bufio.Scanner) {
	g.t.Helper()
	cmd.Env = append(cmd.Environ(), g.mark)
	out, err := cmd.StdoutPipe()
	if err != nil {
		g.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		g.t.Fatal(err)
	}
	id := identityOf(g.t, cmd.Process.Pid)
	var wait sync.WaitGroup
	wait.Go(func() { cmd.Process.Wait() })
	g.t.Cleanup(func() {
		cmd.Process.Kill()
		wait.Wait()
		out.Close()
	})
	return id, bufio.NewScanner(out)
}

// runs is the name of a process that has become its program, "" while it has no
// arguments yet: whoever looks then takes it for another one.
func runs(pid int) string {
	info, err := process.Read(pid)
	if err != nil || len(info.Args) == 0 {
		return ""
	}
	return nameOf(info)
}

// shell runs a script whose first line of output says that it is ready.
func (g *group) shell(script string) monitor.Identity {
	g.t.Helper()
	id, out := g.start(exec.Command("sh", "-c", script))
	if !out.Scan() {
		g.t.Fatal("the script says nothing")
	}
	return id
}

// helper runs the test binary as a helper program and returns its first line.
func (g *group) helper(mode string) (monitor.Identity, *bufio.Scanner) {
	g.t.Helper()
	self, err := os.Executable()
	if err != nil {
		g.t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), helperMode+"="+mode)
	id, out := g.start(cmd)
	if !out.Scan() {
		g.t.Fatalf("%s says nothing", mode)
	}
	return id, out
}

// server runs helperServer and describes it as an instance.
func (g *group) server(mood string) (in monitor.Instance, mcp int) {
	g.t.Helper()
	id, out := g.helper("server " + mood)
	in = monitor.Instance{Identity: id, Kind: monitor.KindSerena, ProjectName: "alpha", State: monitor.StateProject, Recognised: true}
	if _, err := fmt.Sscan(out.Text(), &in.Port, &mcp); err != nil {
		g.t.Fatalf("%s: %q", mood, out.Text())
	}
	in.MCPURL = fmt.Sprintf("http://127.0.0.1:%d/mcp", mcp)
	g.mute[in.Port] = mood == "mute"
	return in, mcp
}

// ladder is a Ladder for which the dashboards of the group are never too slow: one
// that answers has a minute to do so.
func (g *group) ladder(o Options) *Ladder {
	o.Dashboards = patient{serena.NewClient(), g.mute}
	return New(o)
}

// patient is a client of dashboards that has time.
type patient struct {
	*serena.Client
	mute map[int]bool // ports that never answer
}

func (p patient) Queue(ctx context.Context, port int) ([]serena.Task, error) {
	if !p.mute[port] {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
		defer cancel()
	}
	return p.Client.Queue(ctx, port)
}

// Shutdown tries again where the machine was too slow even to send the request.
func (p patient) Shutdown(ctx context.Context, port int) error {
	for {
		err := p.Client.Shutdown(ctx, port)
		if ctx.Err() != nil || !errors.Is(err, context.DeadlineExceeded) {
			return err
		}
	}
}

func generic(id monitor.Identity) monitor.Instance {
	return monitor.Instance{Identity: id, Kind: "test-server", State: monitor.StateNoProject, Recognised: true}
}

func identityOf(t testing.TB, pid int) monitor.Identity {
	t.Helper()
	s, err := process.ReadStat(pid)
	if err != nil {
		t.Fatal(err)
	}
	return s.Identity
}

// lives reports whether a process runs.
func lives(id monitor.Identity) bool { return process.Lives(process.Local(), id) }

func signalTo(t testing.TB, pid int, sig syscall.Signal) {
	t.Helper()
	if err := syscall.Kill(pid, sig); err != nil {
		t.Fatalf("%v to %d: %v", sig, pid, err)
	}
}

func waitForState(t testing.TB, pid int, want process.RunState) {
	t.Helper()
	eventually(t, fmt.Sprintf("%d is %v", pid, want), func() bool {
		s, err := process.ReadStat(pid)
		return err == nil && s.State == want
	})
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

// recorder collects events.
type recorder struct {
	mu     sync.Mutex
	events []monitor.Event
	on     func(monitor.EventKind)
}

func (r *recorder) record(e monitor.Event) {
	r.mu.Lock()
	r.events = append(r.events, e)
	r.mu.Unlock()
	if r.on != nil {
		r.on(e.Kind)
	}
}

func (r *recorder) kinds() string { r.mu.Lock(); defer r.mu.Unlock(); return kinds(r.events) }

// kinds are the kinds of events, in order.
func kinds(events []monitor.Event) string {
	var names []string
	for _, e := range events {
		names = append(names, string(e.Kind))
	}
	return strings.Join(names, " ")
}

// quick are limits for processes that are known to resist, and for dashboards that
// never answer.
func quick() Limits {
	const moment = 50 * time.Millisecond
	return Limits{
		Check: time.Minute, Answer: moment, Ask: time.Minute, Root: moment, Rest: moment, Kill: time.Minute,
		Freeze: time.Minute, Settle: moment,
	}
}

// willing are limits for processes that end when they are told to, and for dashboards
// that answer, however slow the machine is.
func willing() Limits {
	l := quick()
	l.Answer, l.Root, l.Rest = time.Minute, time.Minute, time.Minute
	return l
}

func descriptors(t testing.TB) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

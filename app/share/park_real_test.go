//go:build real && linux

package share

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"lamplighter/app/apptest"
	"lamplighter/app/launch"
	"lamplighter/app/share/ask"
	"lamplighter/app/share/lease"
	"lamplighter/monitor"
	"lamplighter/monitor/process"
	"lamplighter/monitor/serena/serenatest"
)

// home is where real Serenas run under real keepers.
type home struct {
	dir, keeper, state string
	tools              string
	environ            []string
	events             apptest.Buffer
	spares             atomic.Bool // no server is parked, however long a test takes
}

func newHome(t *testing.T) *home {
	t.Helper()
	h := &home{tools: serenatest.Tools(t), dir: t.TempDir()}
	h.keeper, h.state = filepath.Join(h.dir, "lamplighter-connect"), filepath.Join(h.dir, "state")
	serena := filepath.Join(h.dir, ".serena")
	settings := "language_backend: LSP\ngui_log_window: false\nweb_dashboard: true\nweb_dashboard_open_on_launch: false\nprojects: []\n"
	if err := errors.Join(os.MkdirAll(serena, 0o700), os.Mkdir(h.state, 0o700), os.WriteFile(filepath.Join(serena, "serena_config.yml"), []byte(settings), 0o600)); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("go", "build", "-buildvcs=false", "-o", h.keeper, "lamplighter/app/connect").CombinedOutput(); err != nil {
		t.Fatalf("the keeper was not built: %v\n%s", err, out)
	}
	h.environ = append(os.Environ(), "HOME="+h.dir, "SERENA_HOME="+serena, "GOFLAGS=-modcacherw", "SERENA_USAGE_REPORTING=false",
		"PATH="+filepath.Join(h.tools, "bin")+":"+os.Getenv("PATH"))
	return h
}

// serve makes a background process of a launcher and a broker, until end.
func (h *home) serve(t *testing.T, change func(*Options)) (b *Broker, end func()) {
	t.Helper()
	l := launch.New(launch.Options{
		StateDir: h.state, Program: h.keeper, SerenaHome: filepath.Join(h.dir, ".serena"),
		Finder: launch.NewFinder(launch.FinderOptions{Environ: h.environ, Home: h.dir}),
	})
	ctx, cancel := context.WithCancel(context.Background())
	if err := l.Open(ctx); err != nil {
		t.Fatal(err)
	}
	launching := make(chan error, 1)
	go func() { launching <- l.Serve(ctx) }()
	o := Options{
		Launch: With(l), LockDir: filepath.Join(h.dir, "keys"), Idle: func() time.Duration { return time.Second },
		Record: func(e monitor.Event) { fmt.Fprintln(&h.events, e.Kind, e.Detail) },
		Spare: func(monitor.Identity) string {
			if h.spares.Load() {
				return "the test needs it"
			}
			return ""
		},
	}
	if change != nil {
		change(&o)
	}
	b = New(o)
	endBroker := served(t, b)
	end = sync.OnceFunc(func() {
		endBroker()
		cancel()
		<-launching
	})
	t.Cleanup(end)
	return b, end
}

// plan is that of a client in a project.
func (h *home) plan(project, agentInterface string) ask.Plan {
	return ask.Plan{Key: "ab01", Context: "claude-code", Spec: launch.Spec{
		Project: project, Limit: time.Minute, Template: launch.Template{
			Name: monitor.KindSerena, Command: []string{filepath.Join(h.tools, "venv", "bin", "serena")},
			Arguments: []string{"--context", "claude-code", "--agent-interface", agentInterface},
		},
	}, Fingerprint: func() string { return "the same" }}
}

// caller has a lease, and speaks MCP with it.
type caller struct {
	m       *Member
	l       *lease.Lease
	answers chan string
	seq     uint64
}

func (c *caller) Accept(uint64, []byte) error { return nil }
func (c *caller) Settle(uint64) error         { return nil }
func (c *caller) Keep([]byte) error           { return nil }
func (c *caller) Say(string) error            { return nil }

func (c *caller) Deliver(_ uint64, answer bool, line []byte) error {
	if answer {
		c.answers <- string(line)
	}
	return nil
}

// join makes a client that is through its initialize.
func join(t *testing.T, b *Broker, p ask.Plan) *caller {
	t.Helper()
	c := &caller{m: b.Join(t.Context(), p, claude), answers: make(chan string, 10)}
	c.l = lease.New(lease.Options{Servers: c.m, Out: c, ServerID: c.m.ServerID})
	c.m.OnPark(c.l.Park)
	ended := make(chan error, 1)
	go func() { ended <- c.l.Serve(context.Background()) }()
	t.Cleanup(func() {
		c.l.Gone()
		<-ended
		c.m.Leave()
	})
	c.ask(t, "initialize", `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}`)
	c.seq++
	c.l.Take(c.seq, []byte(`{"jsonrpc":"2.0","method":"notifications/initialized"}`))
	return c
}

func (c *caller) ask(t *testing.T, method, params string) string {
	t.Helper()
	c.seq++
	c.l.Take(c.seq, fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, c.seq, method, params))
	answer := <-c.answers
	if !strings.Contains(answer, `"result"`) || strings.Contains(answer, `"isError":true`) {
		t.Fatalf("%s %s: %s", method, params, answer)
	}
	return answer
}

func (c *caller) overview(t *testing.T) {
	t.Helper()
	apptest.Contains(t, c.ask(t, "tools/call", `{"name":"get_symbols_overview","arguments":{"relative_path":"main.go"}}`), "greet")
}

func (c *caller) run(t *testing.T, code string) string {
	t.Helper()
	return c.ask(t, "tools/call", fmt.Sprintf(`{"name":"serena_repl","arguments":{"session":"mine","code":%q}}`, code))
}

// process is that of the server which runs, or ran.
func serverOf(t *testing.T, b *Broker) monitor.Identity { return one(t, b).Server }

func lives(id monitor.Identity) bool {
	stat, err := process.ReadStat(id.PID)
	return err == nil && stat.Identity == id && stat.State != process.Unreaped
}

func untilParked(t *testing.T, b *Broker, reason string) {
	t.Helper()
	apptest.Eventually(t, "it is parked", func() bool { return one(t, b).Parked })
	s := one(t, b)
	if !strings.Contains(s.Reason, reason) || lives(s.Server) {
		t.Errorf("%+v", s)
	}
}

// A real server is parked and woken below clients that notice nothing, also after
// it was killed, and goes on when we end.
func TestRealParkAndWake(t *testing.T) {
	h := newHome(t)
	p := h.plan(serenatest.GoProject(t, "alpha"), "tools")
	b, end := h.serve(t, nil)
	first, second := join(t, b, p), join(t, b, p)
	first.overview(t)
	second.overview(t)
	untilParked(t, b, "no request for ")
	if n := len(one(t, b).Clients); n != 2 {
		t.Errorf("%d clients", n)
	}
	h.spares.Store(true)
	second.overview(t)
	if err := syscall.Kill(serverOf(t, b).PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	untilParked(t, b, "it was ended by signal 9")
	first.overview(t)
	apptest.Contains(t, h.events.String(), "parked no request for ", "woken started again by a request", "parked it was ended by signal 9")

	id := serverOf(t, b)
	end()
	if !lives(id) {
		t.Fatal("it has ended with us")
	}
	b, end = h.serve(t, nil)
	third := join(t, b, p)
	if third.m.ServerID() != id.String() {
		t.Errorf("it runs as %s, not %s", third.m.ServerID(), id)
	}
	third.overview(t)
	b.ParkAll(t.Context())
	if lives(id) {
		t.Error("it is left")
	}
	end()
}

// A real REPL is parked only when none of its sessions has variables.
func TestRealREPL(t *testing.T) {
	h := newHome(t)
	looked := make(chan string, 100)
	b, _ := h.serve(t, func(o *Options) {
		o.Holds = func(ctx context.Context, s Server, sessions []string) (string, error) {
			what, err := repl{}.holds(ctx, s, sessions)
			if err != nil {
				t.Error(err)
			}
			looked <- what
			return what, err
		}
	})
	h.spares.Store(true)
	c := join(t, b, h.plan(serenatest.GoProject(t, "alpha"), "REPL"))
	c.run(t, "x = 41")
	h.spares.Store(false)
	id := serverOf(t, b)
	if what := <-looked; !strings.Contains(what, `the session "mine"`) {
		t.Errorf("it holds %q", what)
	}
	apptest.Contains(t, c.run(t, "x + 1"), "42")
	if what := <-looked; what == "" || serverOf(t, b) != id {
		t.Errorf("it holds %q", what)
	}
	c.run(t, "s.clear()")
	if what := <-looked; what != "" {
		t.Errorf("it holds %q", what)
	}
	untilParked(t, b, "no request for")
	apptest.Contains(t, c.run(t, "6 * 7"), "42")
}

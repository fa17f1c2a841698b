package proxy

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"log/slog"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"lamplighter/app/launch"
	"lamplighter/app/mcptest"
	"lamplighter/app/share"
	"lamplighter/monitor"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/Microsoft/go-winio.ioCompletionProcessor"))
}

func quiet() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }

// world has servers that are parts of the test.
type world struct {
	t testing.TB

	mu      sync.Mutex
	servers map[string]*fakeServer // by key
	starts  int
	broken  error // what every start fails with, if not nil
}

// fakeServer is a mcptest.Server, as a launcher knows it.
type fakeServer struct {
	*mcptest.Server
	world *world
	key   string
	dir   string
	id    monitor.Identity
	done  chan struct{}
	once  sync.Once
}

func (s *fakeServer) ID() string                 { return s.id.String() }
func (s *fakeServer) Identity() monitor.Identity { return s.id }
func (s *fakeServer) DashboardPort() int         { return 24282 }
func (s *fakeServer) MCPURL() string             { return s.URL() }
func (s *fakeServer) Name() string               { return monitor.KindSerena }
func (s *fakeServer) Project() string            { return s.dir }
func (s *fakeServer) Lifetime() launch.Lifetime  { return launch.Shared }
func (s *fakeServer) Key() string                { return s.key }
func (s *fakeServer) Exited() <-chan struct{}    { return s.done }
func (s *fakeServer) Done() <-chan struct{}      { return s.done }
func (s *fakeServer) Ending() string             { return "it was killed" }

func (s *fakeServer) End(context.Context, string) error {
	s.dies()
	return nil
}

func (s *fakeServer) dies() {
	s.once.Do(func() {
		s.Kill()
		s.world.mu.Lock()
		defer s.world.mu.Unlock()
		delete(s.world.servers, s.key)
		close(s.done)
	})
}

func newWorld(t testing.TB) *world {
	return &world{t: t, servers: map[string]*fakeServer{}}
}

func (w *world) Launch(_ context.Context, spec launch.Spec) (share.Server, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.broken != nil {
		return nil, w.broken
	}
	if w.servers[spec.Key] != nil {
		w.t.Errorf("two servers for %s", spec.Key)
	}
	w.starts++
	s := &fakeServer{
		Server: mcptest.New(w.t), world: w, key: spec.Key, dir: spec.Project, id: monitor.Identity{PID: 1 << 22, Start: uint64(w.starts)}, done: make(chan struct{}),
	}
	w.servers[spec.Key] = s
	return s, nil
}

func (w *world) Inherited() <-chan struct{} {
	settled := make(chan struct{})
	close(settled)
	return settled
}

// server is that of a project, nil when there is none.
func (w *world) server(dir string) *fakeServer {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.servers[keyOf(dir)]
}

func (w *world) started() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.starts
}

// planner plans without looking: clients of one directory share, and the first
// word of the command may say otherwise.
type planner struct{}

func keyOf(dir string) string {
	sum := sha256.Sum256([]byte(dir))
	return hex.EncodeToString(sum[:16])
}

func planFor(dir string) share.Plan {
	key := keyOf(dir)
	return share.Plan{
		Key: key, Context: "claude-code",
		Spec:        launch.Spec{Template: launch.Template{Name: monitor.KindSerena}, Project: dir, Lifetime: launch.Shared, Key: key},
		Fingerprint: func() string { return "same" },
	}
}

func (planner) Plan(ctx context.Context, w share.Request) (share.Plan, error) {
	switch {
	case len(w.Command) == 0:
		return share.Plan{}, &share.InputError{Text: "there is no command"}
	case w.PID != os.Getpid() && runtime.GOOS == "linux":
		return share.Plan{}, &share.InputError{Text: "whose paths these are is not known"}
	case w.Command[0] == "alone":
		return share.Plan{Alone: "it is not a Serena"}, nil
	case w.Command[0] == "slow":
		<-ctx.Done()
		return share.Plan{}, ctx.Err()
	case w.Moved && w.Project == "/removed":
		return share.Plan{Alone: "its project is not the path of a directory"}, nil
	case w.Moved:
		return planFor(w.Project), nil
	}
	return planFor(w.Dir), nil
}

func (planner) ForProject(_ context.Context, dir string, _ launch.Template) (share.Plan, error) {
	switch {
	case !strings.HasPrefix(dir, "/"):
		return share.Plan{}, &share.InputError{Text: dir + " is no project"}
	case dir == "/alone":
		return share.Plan{Alone: "another user is logged in"}, nil
	case dir == "/none":
		return share.Plan{}, errors.New("no Serena was found")
	}
	return planFor(dir), nil
}

func (planner) ForAddress(_ context.Context, project string, _ launch.Template) (share.Plan, error) {
	p := planFor(project)
	p.Moves = true
	return p, nil
}

func (planner) Root(_ context.Context, addresses []string) string {
	if len(addresses) != 1 {
		return ""
	}
	return strings.TrimPrefix(addresses[0], "file://")
}

// running calls serve in the background until the function that it returns is
// called.
func running(t testing.TB, serve func(context.Context) error) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- serve(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		select {
		case err := <-ended:
			if !errors.Is(err, context.Canceled) {
				t.Errorf("it ended with %v", err)
			}
		case <-time.After(time.Minute):
			t.Error("it does not end")
		}
	})
	t.Cleanup(stop)
	return stop
}

// newBroker is a broker of the world's servers, which works until the function
// is called.
func newBroker(t testing.TB, w *world) (b *share.Broker, stop func()) {
	t.Helper()
	b = share.New(brokerOptions(w))
	for _, s := range w.servers {
		b.Adopt(s)
	}
	return b, running(t, b.Serve)
}

// nothing speaks against the end of a server.
func nothing(context.Context, share.Look) (string, error) { return "", nil }

// brokerOptions are those of a broker of servers that nobody sees but their clients.
func brokerOptions(l share.Launcher) share.Options {
	return share.Options{
		Launch: l, Log: quiet(),
		Idle:      func() time.Duration { return 30 * time.Minute },
		Limit:     func() time.Duration { return 0 },
		HangLimit: func() time.Duration { return 2 * time.Minute },
		Forbid:    func(context.Context) string { return "" },
		Spare:     nothing,
		Below:     nothing,
		Asks:      &share.Asks{Works: nothing, Holds: nothing, Direct: nothing},
		EndHung:   func(ctx context.Context, s share.Server) error { return s.End(ctx, "the replacement of what hangs") },
		Show:      func([]monitor.Shared) {},
		Record:    func(monitor.Event) {},
	}
}

// optionsOf are those of what serves the clients of a broker.
func optionsOf(b *share.Broker) Options {
	return Options{
		Broker: b, Ask: planner{}, Log: quiet(),
		Flags: func([]string) []string { return nil },
		Usual: func() launch.Template { return launch.Template{Name: monitor.KindSerena} },
	}
}

// clientNames are those that share the server of a project.
func clientNames(b *share.Broker, dir string) []string {
	var names []string
	for _, s := range b.Shared() {
		if s.Project == dir {
			for _, c := range s.Clients {
				names = append(names, c.Name)
			}
		}
	}
	slices.Sort(names)
	return names
}

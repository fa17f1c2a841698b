package session

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"lamplighter/app/launch"
	"lamplighter/monitor"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func quiet() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }

// world starts servers that are no processes.
type world struct {
	mu      sync.Mutex
	pid     int // of the next one
	reuse   int // the pid that the next one gets instead, if not 0
	live    map[*fakeServer]bool
	starts  int // under way
	started []launch.Spec
	touched []int // pids that were ended

	hold   chan struct{} // where starts wait, if not nil
	broken error         // what every start fails with, if not nil
	deaf   bool          // starts do not notice that they are given up
}

func newWorld() *world { return &world{pid: 100, live: map[*fakeServer]bool{}} }

var errStubborn = errors.New("something of it still runs")

// fakeServer is a server that is no process.
type fakeServer struct {
	world *world
	id    monitor.Identity
	spec  launch.Spec
	done  chan struct{}

	runs     bool          // guarded by the world's mu
	stubborn bool          // likewise: its end fails
	ends     int           // likewise: how often that was tried
	hold     chan struct{} // likewise: where its end waits, if not nil
}

func (w *world) Start(ctx context.Context, spec launch.Spec) (Server, error) {
	w.mu.Lock()
	w.starts++
	hold, deaf := w.hold, w.deaf
	w.mu.Unlock()
	defer func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.starts--
	}()
	if hold != nil && deaf {
		<-hold
	} else if hold != nil {
		select {
		case <-hold:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.started = append(w.started, spec)
	if w.broken != nil {
		return nil, w.broken
	}
	w.pid++
	pid := w.pid
	if w.reuse != 0 {
		pid, w.reuse = w.reuse, 0
	}
	s := &fakeServer{world: w, id: monitor.Identity{PID: pid, Start: uint64(w.pid)}, spec: spec, done: make(chan struct{}), runs: true}
	w.live[s] = true
	return s, nil
}

// underway is how many servers start.
func (w *world) underway() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.starts
}

func (w *world) count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.live)
}

// by is the live server with that pid, nil when there is none.
func (w *world) by(pid int) *fakeServer {
	w.mu.Lock()
	defer w.mu.Unlock()
	for s := range w.live {
		if s.id.PID == pid {
			return s
		}
	}
	return nil
}

func (w *world) runs(id monitor.Identity) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for s := range w.live {
		if s.id == id {
			return s.runs
		}
	}
	return false
}

// change changes a server under the world's lock.
func (s *fakeServer) change(how func()) {
	s.world.mu.Lock()
	defer s.world.mu.Unlock()
	how()
}

// dies is the end of a server by itself.
func (s *fakeServer) dies() { s.change(s.gone) }

func (s *fakeServer) gone() {
	if s.world.live[s] {
		delete(s.world.live, s)
		s.runs = false
		close(s.done)
	}
}

func (s *fakeServer) Identity() monitor.Identity { return s.id }
func (s *fakeServer) Port() int                  { return 40000 + s.id.PID }
func (s *fakeServer) DashboardPort() int         { return 24282 }
func (s *fakeServer) MCPURL() string             { return "http://127.0.0.1/mcp" }
func (s *fakeServer) StartedAt() time.Time       { return time.Unix(int64(s.id.Start), 0) }
func (s *fakeServer) Done() <-chan struct{}      { return s.done }

func (s *fakeServer) End(context.Context, string) error {
	s.world.mu.Lock()
	hold := s.hold
	s.ends++
	s.world.touched = append(s.world.touched, s.id.PID)
	s.world.mu.Unlock()
	if hold != nil {
		<-hold
	}
	s.world.mu.Lock()
	defer s.world.mu.Unlock()
	if s.stubborn && s.world.live[s] {
		return errStubborn
	}
	s.gone()
	return nil
}

// newManager manages what w starts, with a limit.
func newManager(w *world, limit int, change func(*Options)) *Manager {
	o := Options{
		Start: w, Limit: func() int { return limit }, Log: quiet(), Runs: w.runs,
		Spec: func(project, server string) (launch.Spec, error) {
			if server == "unknown" {
				return launch.Spec{}, ErrNoServer
			}
			return launch.Spec{Project: project, Template: launch.Template{Name: "serena"}}, nil
		},
	}
	if change != nil {
		change(&o)
	}
	return New(o)
}

// serve runs the manager until the function that it returns is called, which
// returns when all has ended.
func serve(t *testing.T, m *Manager) (end func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- m.Serve(ctx) }()
	end = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("Serve ended with %v", err)
		}
	})
	t.Cleanup(end)
	return end
}

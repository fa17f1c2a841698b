package share

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"lamplighter/app/launch"
	"lamplighter/monitor"
)

// How long servers stay here that nobody asks, and hang.
const (
	defaultIdle = 30 * time.Minute
	defaultHang = 2 * time.Minute
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world starts servers that are no processes.
type world struct {
	mu        sync.Mutex
	pid       int // of the last one
	live      []*fakeServer
	launched  int
	starting  int
	twice     []string // keys of which two ran
	inherited chan struct{}
	adopt     func(Server)
	flying    map[string]int // requests in flight, where a test counts them
	cut       []string       // keys whose servers were ended with some

	hold     chan struct{} // where starts wait, if not nil
	broken   error         // what every start fails with, if not nil
	stubborn error         // what every end fails with, if not nil

	spare string // the answers of Options
	bar   string // that of Forbid
	busy  bool
	holds string
	works time.Time  // until then something works below each server
	odd   error      // of busy, below, holds and direct
	other string     // the answer of Direct
	asked [][]string // the sessions that were
	// during is called while it is looked whether a server works, if not nil.
	during func()
	// ending is called when an end begins, if not nil.
	ending func()
	shown  []monitor.Shared
	told   []monitor.Event
	ended  func() // of a request in flight, where a test has one
	idle   time.Duration
}

func newWorld() *world {
	w := &world{pid: 100, inherited: make(chan struct{}), idle: defaultIdle}
	close(w.inherited)
	return w
}

// fakeServer is a server that is no process.
type fakeServer struct {
	world        *world
	id           monitor.Identity
	key          string
	exited, done chan struct{}
	once, exit   sync.Once
	ends         []string // by whom; guarded by the world's mu
	why          string   // likewise
	hung         bool     // likewise: another may run beside it
}

func (s *fakeServer) ID() string                 { return s.id.String() }
func (s *fakeServer) Identity() monitor.Identity { return s.id }
func (s *fakeServer) DashboardPort() int         { return 24282 }
func (s *fakeServer) MCPURL() string             { return "http://127.0.0.1:1/" + s.id.String() }
func (s *fakeServer) Name() string               { return monitor.KindSerena }
func (s *fakeServer) Project() string            { return "/work/" + s.key }
func (s *fakeServer) Key() string                { return s.key }
func (s *fakeServer) Exited() <-chan struct{}    { return s.exited }
func (s *fakeServer) Done() <-chan struct{}      { return s.done }

func (s *fakeServer) Ending() string {
	s.world.mu.Lock()
	defer s.world.mu.Unlock()
	return s.why
}

func (s *fakeServer) End(_ context.Context, by string) error {
	s.world.mu.Lock()
	s.ends = append(s.ends, by)
	if s.world.flying[s.key] > 0 && !s.hung {
		s.world.cut = append(s.world.cut, s.key)
	}
	err, ending := s.world.stubborn, s.world.ending
	s.world.mu.Unlock()
	if ending != nil {
		ending()
	}
	if err != nil {
		return err
	}
	s.dies("ended by " + by)
	return nil
}

// dies is the end of a server.
func (s *fakeServer) dies(why string) {
	s.once.Do(func() {
		s.exits(why)
		s.world.mu.Lock()
		defer s.world.mu.Unlock()
		s.world.live = slices.DeleteFunc(s.world.live, func(other *fakeServer) bool { return other == s })
		close(s.done)
	})
}

// exits is the end of its own process.
func (s *fakeServer) exits(why string) {
	s.exit.Do(func() {
		s.world.mu.Lock()
		defer s.world.mu.Unlock()
		s.why = why
		close(s.exited)
	})
}

// run makes a server run, as one that an earlier run has started, which is adopted as soon
// as there is a broker.
func (w *world) run(key string) *fakeServer {
	w.mu.Lock()
	s, adopt := w.add(key), w.adopt
	w.mu.Unlock()
	if adopt != nil {
		adopt(s)
	}
	return s
}

func (w *world) add(key string) *fakeServer {
	for _, other := range w.live {
		if other.key == key && !other.hung {
			w.twice = append(w.twice, key)
		}
	}
	w.pid++
	s := &fakeServer{
		world: w, id: monitor.Identity{PID: w.pid, Start: 1}, key: key,
		exited: make(chan struct{}), done: make(chan struct{}),
	}
	w.live = append(w.live, s)
	return s
}

func (w *world) Launch(ctx context.Context, spec launch.Spec) (Server, error) {
	w.mu.Lock()
	w.starting++
	hold := w.hold
	w.mu.Unlock()
	if hold != nil {
		select {
		case <-hold:
		case <-ctx.Done():
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.starting--
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case w.broken != nil:
		return nil, w.broken
	}
	w.launched++
	if spec.Lifetime != launch.Shared || spec.Key == "" {
		panic("a shared server with no key")
	}
	return w.add(spec.Key), nil
}

func (w *world) Inherited() <-chan struct{} { return w.inherited }

// change changes the world under its lock. The broker asks the world with its own
// lock held, so how must not call the broker.
func (w *world) change(how func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	how()
}

// the is the only server that runs.
func (w *world) the(t testing.TB) *fakeServer {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.live) != 1 {
		t.Fatalf("%d servers run", len(w.live))
	}
	return w.live[0]
}

func (w *world) count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.live)
}

// views is what was shown last.
func (w *world) views() []monitor.Shared {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.shown
}

// kinds are the events so far.
func (w *world) kinds() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var kinds []string
	for _, e := range w.told {
		kinds = append(kinds, string(e.Kind))
	}
	return strings.Join(kinds, " ")
}

func (w *world) options() Options {
	return Options{
		Launch: w, Log: slog.New(slog.DiscardHandler),
		Limit:     func() time.Duration { return 0 },
		HangLimit: func() time.Duration { return defaultHang },
		EndHung:   func(ctx context.Context, s Server) error { return s.End(ctx, "the replacement of what hangs") },
		Idle: func() time.Duration {
			w.mu.Lock()
			defer w.mu.Unlock()
			return w.idle
		},
		Spare: func(context.Context, Look) (string, error) {
			w.mu.Lock()
			defer w.mu.Unlock()
			return w.spare, nil
		},
		Forbid: func(context.Context) string {
			w.mu.Lock()
			defer w.mu.Unlock()
			return w.bar
		},
		Below: func(context.Context, Look) (string, error) {
			w.mu.Lock()
			defer w.mu.Unlock()
			return map[bool]string{true: "something works below it"}[time.Since(w.works) < w.idle], w.odd
		},
		Asks: &Asks{
			Works: func(context.Context, Look) (string, error) {
				w.mu.Lock()
				during := w.during
				w.mu.Unlock()
				if during != nil {
					during()
				}
				w.mu.Lock()
				defer w.mu.Unlock()
				return map[bool]string{true: "it works"}[w.busy], w.odd
			},
			Holds: func(_ context.Context, l Look) (string, error) {
				w.mu.Lock()
				defer w.mu.Unlock()
				w.asked = append(w.asked, l.Sessions)
				return w.holds, w.odd
			},
			Direct: func(context.Context, Look) (string, error) {
				w.mu.Lock()
				defer w.mu.Unlock()
				return w.other, w.odd
			},
		},
		Show:   func(list []monitor.Shared) { w.change(func() { w.shown = list }) },
		Record: func(e monitor.Event) { w.change(func() { w.told = append(w.told, e) }) },
	}
}

// plan is that of a client for a project.
func plan(key string) Plan {
	return Plan{
		Key: key, Context: "claude-code", Modes: []string{"editing"},
		Spec: launch.Spec{
			Template: launch.Template{Name: monitor.KindSerena}, Project: "/work/" + key, Lifetime: launch.Shared, Key: key,
		},
		Fingerprint: func() string { return "settings" },
	}
}

var claude = monitor.Client{Identity: monitor.Identity{PID: 7, Start: 1}, Name: "Claude Code"}

// within runs a test in a bubble of time, with a broker that is served.
func within(t *testing.T, test func(t *testing.T, w *world, b *Broker)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		b := New(w.options())
		end := served(t, b)
		defer end()
		test(t, w, b)
		if len(w.twice) > 0 {
			t.Errorf("two servers of one key ran: %q", w.twice)
		}
	})
}

// served serves the broker until the function that it returns is called.
func served(t testing.TB, b *Broker) (end func()) {
	w := b.o.Launch.(*world)
	for _, s := range w.live {
		b.Adopt(s)
	}
	w.adopt = b.Adopt
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- b.Serve(ctx) }()
	return sync.OnceFunc(func() {
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("Serve ended with %v", err)
		}
	})
}

// request is one that is answered at once.
func request(t testing.TB, m *Client) Endpoint {
	t.Helper()
	defer m.Began()()
	s, err := m.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// refused is a request to which there is no server.
func refused(t testing.TB, m *Client) error {
	t.Helper()
	defer m.Began()()
	s, err := m.Acquire(t.Context())
	if err == nil {
		t.Fatalf("there is a server: %+v", s)
	}
	return err
}

// after lets time pass until all has come to rest.
func after(d time.Duration) {
	time.Sleep(d) // of the bubble
	synctest.Wait()
}

// one is the only thing that is shared.
func one(t testing.TB, b *Broker) monitor.Shared {
	t.Helper()
	list := b.Shared()
	if len(list) != 1 {
		t.Fatalf("shared: %+v", list)
	}
	return list[0]
}

func broken(text string) error {
	return &launch.StartError{Server: monitor.KindSerena, Chosen: launch.Candidate{Command: []string{"serena"}}, Why: text, Err: errors.New(text)}
}

func manyNames(n int) (list []string) {
	for i := range n {
		list = append(list, fmt.Sprint(i))
	}
	return list
}

// serverID is the server that the client of m has, "" when none runs.
func (m *Client) serverID() string {
	m.broker.mu.Lock()
	defer m.broker.mu.Unlock()
	if !m.group.run.usable() {
		return ""
	}
	return m.group.run.server.Identity().String()
}

package daemon

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"lamplighter/app/apptest"
	"lamplighter/app/launch"
	"lamplighter/app/share"
	"lamplighter/monitor"
)

// heldServer is a shared server of an earlier run.
type heldServer struct {
	mu   sync.Mutex
	ends []string // by whom
	gone chan struct{}
}

func (s *heldServer) ID() string                 { return "1" }
func (s *heldServer) Identity() monitor.Identity { return monitor.Identity{PID: 7, Start: 70} }
func (s *heldServer) DashboardPort() int         { return 0 }
func (s *heldServer) MCPURL() string             { return "http://127.0.0.1:1/mcp" }
func (s *heldServer) Name() string               { return monitor.KindSerena }
func (s *heldServer) Project() string            { return "/p/alpha" }
func (s *heldServer) Lifetime() launch.Lifetime  { return launch.Shared }
func (s *heldServer) Key() string                { return strings.Repeat("a", 32) }
func (s *heldServer) Exited() <-chan struct{}    { return s.gone }
func (s *heldServer) Done() <-chan struct{}      { return s.gone }
func (s *heldServer) Ending() string             { return "was ended" }

func (s *heldServer) End(_ context.Context, by string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ends = append(s.ends, by); len(s.ends) == 1 {
		close(s.gone)
	}
	return nil
}

func (s *heldServer) endings() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ends
}

// heldServers is a launcher that starts none.
type heldServers struct{}

func (heldServers) Launch(context.Context, launch.Spec) (share.Server, error) {
	return nil, context.Canceled
}
func (heldServers) Inherited() <-chan struct{} {
	all := make(chan struct{})
	close(all)
	return all
}

// lending is a background process whose broker has taken those servers over.
func lending(t *testing.T, servers ...share.Server) (b *background, out *apptest.Buffer) {
	t.Helper()
	d := newDesktop(t)
	b = &background{Program: d.Program, log: slog.New(slog.DiscardHandler)}
	b.broker = share.New(share.Options{
		Launch: heldServers{}, Log: b.log,
		Idle:   func() time.Duration { return time.Hour },
		Forbid: func(context.Context) string { return "" },
		Show:   func([]monitor.Shared) {},
		Record: func(monitor.Event) {},
	})
	for _, s := range servers {
		b.broker.Adopt(s)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- b.broker.Serve(ctx) }()
	t.Cleanup(func() { cancel(); <-ended })
	apptest.Eventually(t, "the servers are taken over", func() bool {
		running := slices.DeleteFunc(b.broker.Shared(), func(s monitor.Shared) bool { return s.Starting })
		return len(running) == len(servers)
	})
	return b, &d.err
}

// Quit ends what is shared before anything else ends, and says so; where nothing
// is shared it says nothing.
func TestQuitByUser(t *testing.T) {
	server := &heldServer{gone: make(chan struct{})}
	b, out := lending(t, server)
	quits := 0
	b.quitByUser(t.Context(), func() {
		quits++
		if got := server.endings(); len(got) != 1 {
			t.Errorf("it quits when it has been ended %d times", len(got))
		}
	})
	if quits != 1 {
		t.Errorf("it quits %d times", quits)
	}
	apptest.Contains(t, out.String(), "1 shared server is parked", "wakes one when lamplighter runs again")

	b, out = lending(t)
	b.quitByUser(t.Context(), func() { quits++ })
	if quits != 2 || out.String() != "" {
		t.Errorf("without servers: it quits %d times, and says %q", quits-1, out.String())
	}
}

// Whoever ends it by a signal learns what becomes of clients; without any there is
// nothing to say.
func TestEndingWords(t *testing.T) {
	clients := make([]monitor.Client, 3)
	const wait, asks = " on for two minutes, for a lamplighter that starts by then", "a request waits for a minute until lamplighter runs again"
	for _, test := range []struct {
		list     []monitor.Shared
		sessions int
		want     string
	}{
		{nil, 0, ""},
		{[]monitor.Shared{{Alone: "its context", Clients: clients[:1]}}, 0, ""},
		{[]monitor.Shared{{Clients: clients[:1]}}, 0, "ending; 1 client stays attached; 1 shared server goes" + wait},
		{[]monitor.Shared{{Clients: clients[:1]}, {Clients: clients[:2]}, {Clients: clients[:1], Parked: true}}, 0, "ending; 4 clients stay attached; 2 shared servers go" + wait},
		{[]monitor.Shared{{Clients: clients, Parked: true}}, 0, "ending; 3 clients stay attached; " + asks},
		{[]monitor.Shared{{Clients: clients[:1], Starting: true}}, 0, "ending; 1 client stays attached; " + asks},
		{[]monitor.Shared{{}}, 0, "ending; 1 shared server goes" + wait},
		{nil, 1, "ending; 1 session ends"},
		{[]monitor.Shared{{Clients: clients[:2]}}, 2, "ending; 2 clients stay attached; 1 shared server goes" + wait + "; 2 sessions end"},
	} {
		if got := endingWords(test.list, test.sessions); got != test.want {
			t.Errorf("%v, %d sessions: %q, want %q", test.list, test.sessions, got, test.want)
		}
	}
}

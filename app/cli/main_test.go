package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"lamplighter/app/api"
	"lamplighter/app/apptest"
	"lamplighter/monitor"
	"lamplighter/monitor/serena"
)

func TestMain(m *testing.M) {
	// On Windows one goroutine of the pipe library stays, for the whole process.
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/Microsoft/go-winio.ioCompletionProcessor"))
}

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// desktop is the world around a program under test.
type desktop struct {
	*program
	out, err apptest.Buffer
	opened   []string
	snap     *monitor.Snapshot
	address  string // of the page that the background process serves

	pageAddress func() string // likewise, where it changes

	sessions api.SessionManager // of the background process; nil: none

	policies selecting       // of the background process
	pinned   map[string]bool // there, by id

	background *fakeLadder // ends instances in the background process
	alone      *fakeLadder // without one
}

// newDesktop is a world where no background process runs and a scan finds
// list.
func newDesktop(t *testing.T, list ...monitor.Instance) *desktop {
	t.Helper()
	monitor.Sort(list)
	// A short path, since a socket's path is limited.
	runtime, err := os.MkdirTemp("", "run")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(runtime) })
	d := &desktop{snap: &monitor.Snapshot{At: noon, Instances: list}, background: &fakeLadder{}, alone: &fakeLadder{}, pinned: map[string]bool{}}
	d.program = &program{
		version: "1.2.3",
		stdout:  &d.out,
		stderr:  &d.err,
		getenv:  func(string) string { return "" },
		base:    baseOf(runtime),
		open:    func(url string) error { d.opened = append(d.opened, url); return nil },
		scan:    func(context.Context) (*monitor.Snapshot, error) { return d.snap, nil },
		follow: func(ctx context.Context, each func(*monitor.Snapshot) error) error {
			<-ctx.Done()
			return ctx.Err()
		},
		ladder: func(record func(monitor.Event)) api.Stopper {
			d.alone.record = record
			return d.alone
		},
		logs:  noLogs{},
		pause: func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
		exit:  func(int) {},
		// A completion has no other way to know what runs.
		askTime: time.Minute,
		command: func(_ context.Context, name string, _ ...string) ([]byte, error) {
			return nil, fmt.Errorf("%s: %w", name, exec.ErrNotFound)
		},
	}
	d.base.StateHome = t.TempDir()
	d.pageAddress = func() string { return d.address }
	return d
}

func (d *desktop) runs(t *testing.T, args ...string) int {
	t.Helper()
	return d.main(t.Context(), args)
}

// serveBackground makes the background process run, with the snapshots of m.
func (d *desktop) serveBackground(t *testing.T, m *model) {
	t.Helper()
	log := slog.New(slog.NewTextHandler(io.Discard, nil))
	server := api.NewServer(api.Options{
		Path: d.places().ControlSocket, LockHeld: true, Log: log,
		Handler: api.Handler(api.Parts{
			Source: m, Show: &desk{source: m, web: d.web(), open: d.open, log: log}, Stop: d.background, Events: lifecycle{}, Version: "1.2.3", Log: log,
			Address: d.pageAddress, Sessions: d.sessions, Policies: d.policies, Pins: pinning(d.pinned),
		}),
	})
	if err := server.Open(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(ctx) }()
	t.Cleanup(func() { cancel(); <-ended })
}

// web is the page at address, nil where there is none.
func (d *desktop) web() webPage {
	if d.address == "" {
		return nil
	}
	bare, token, _ := strings.Cut(d.address, "#token=")
	return &fakePage{url: bare, token: token}
}

// model is the watch of a background process.
type model struct {
	mu      sync.Mutex
	current *monitor.Snapshot
	readers []chan *monitor.Snapshot
}

func (m *model) Snapshot() *monitor.Snapshot {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.current
}

func (m *model) Subscribe() (<-chan *monitor.Snapshot, func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := make(chan *monitor.Snapshot, 16)
	c <- m.current
	m.readers = append(m.readers, c)
	return c, func() {}
}

func (m *model) set(s *monitor.Snapshot) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.current = s
	for _, c := range m.readers {
		c <- s
	}
}

type noLogs struct{}

func (noLogs) Logs(context.Context, int, int) (serena.LogPage, error) {
	return serena.LogPage{}, errors.New("connection refused")
}

func serenaAt(pid, port int, name string) monitor.Instance {
	in := monitor.Instance{
		Identity: monitor.Identity{PID: pid, Start: uint64(pid) * 10}, Kind: monitor.KindSerena, Recognised: true, Port: port, ProjectName: name,
		State: monitor.StateNoProject, DashboardURL: "http://127.0.0.1:1/dashboard/index.html", StartedAt: noon.Add(time.Duration(pid) * time.Second),
	}
	if name != "" {
		in.State = monitor.StateProject
	}
	return in
}

package api

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"lamplighter/app/socket"
	"lamplighter/monitor"
	"lamplighter/monitor/stop"
)

func TestMain(m *testing.M) {
	if task := os.Getenv(helperTask); task != "" {
		os.Exit(help(task, os.Getenv(helperWith)))
	}
	// On Windows one goroutine of the pipe library stays, for the whole process.
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/Microsoft/go-winio.ioCompletionProcessor"))
}

// model is a Source whose snapshots the test sets. The zero value has not looked yet.
type model struct {
	feed    monitor.Feed[*monitor.Snapshot]
	readers atomic.Int32
}

func newModel() *model {
	m := &model{}
	m.set(&monitor.Snapshot{Seq: 1, At: time.Now()})
	return m
}

func (m *model) Snapshot() *monitor.Snapshot { return cmp.Or(m.feed.Latest(), &monitor.Snapshot{}) }

func (m *model) Subscribe() (<-chan *monitor.Snapshot, func()) { return counted(&m.feed, &m.readers) }

func (m *model) set(s *monitor.Snapshot) { m.feed.Publish(s) }

func (m *model) subscribers() int { return int(m.readers.Load()) }

// counted subscribes to a feed, and counts those that have.
func counted[T any](feed *monitor.Feed[T], readers *atomic.Int32) (<-chan T, func()) {
	c, cancel := feed.Subscribe()
	readers.Add(1)
	return c, func() {
		cancel()
		readers.Add(-1)
	}
}

// shower answers POST /show.
type shower struct {
	url string
	err error
}

func (s shower) Show() (string, error) { return s.url, s.err }

// nothing has happened, and nothing can be ended.
type nothing struct{}

func (nothing) Events(time.Time) ([]monitor.Event, error) { return nil, nil }

func (nothing) Stop(context.Context, monitor.Instance, stop.Order) (stop.Result, error) {
	return stop.Result{}, errors.New("nothing can be ended here")
}

func parts(source monitor.Source, show Shower) Parts {
	return Parts{Source: source, Show: show, Stop: nothing{}, Events: nothing{}, Version: "1.2.3", Log: quiet()}
}

func quiet() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }

// served is a control socket that serves source until the test ends.
type served struct {
	path   string
	cancel func()
	ended  chan error
}

func serve(t *testing.T, source monitor.Source, show Shower, change func(*Options)) *served {
	t.Helper()
	o := Options{
		Path:     controlPath(t),
		LockHeld: true,
		Handler:  Handler(parts(source, show)),
		Log:      quiet(),
	}
	if change != nil {
		change(&o)
	}
	return start(t, o)
}

func start(t *testing.T, o Options) *served {
	t.Helper()
	server := NewServer(o)
	if err := server.Open(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	s := &served{path: o.Path, cancel: cancel, ended: make(chan error, 1)}
	go func() { s.ended <- server.Serve(ctx) }()
	t.Cleanup(func() { s.stop(t) })
	return s
}

// stop ends the server; it may be called more than once.
func (s *served) stop(t *testing.T) {
	t.Helper()
	s.cancel()
	select {
	case err := <-s.ended:
		s.ended <- err
	case <-time.After(time.Minute):
		t.Fatal("the server does not stop")
	}
}

// dialRaw connects to a control socket.
func dialRaw(ctx context.Context, path string) (net.Conn, error) {
	return socket.Dial(ctx, socket.Control(path))
}

func (s *served) dial(t *testing.T) *Client {
	t.Helper()
	c, _, err := Dial(t.Context(), s.path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// request sends any request and returns status, header and body.
func (s *served) request(t *testing.T, method, route string) (int, http.Header, string) {
	t.Helper()
	c := s.dial(t)
	req, err := http.NewRequestWithContext(t.Context(), method, "http://lamplighter"+route, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := c.http.Transport.RoundTrip(req) // which follows nothing
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, resp.Header, string(body)
}

func instance(pid int, name string) monitor.Instance {
	return monitor.Instance{
		Identity: monitor.Identity{PID: pid, Start: 7}, Recognised: true, Kind: monitor.KindSerena, Port: 24282, ProjectName: name,
		State: monitor.StateProject, DashboardURL: "http://127.0.0.1:24282/dashboard/index.html",
	}
}

func snapshot(list ...monitor.Instance) *monitor.Snapshot {
	s := &monitor.Snapshot{Seq: 1, At: time.Now()}
	for _, in := range list {
		s.Instances = append(s.Instances, &in)
	}
	return s
}

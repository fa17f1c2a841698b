package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"testing"
	"time"

	"go.uber.org/goleak"

	"lamplighter/app/api"
	"lamplighter/app/apptest"
	"lamplighter/app/daemon"
	"lamplighter/app/daemon/daemontest"
	"lamplighter/monitor"
	"lamplighter/monitor/serena"
)

func TestMain(m *testing.M) {
	// On Windows one goroutine of the pipe library stays, for the whole process.
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/Microsoft/go-winio.ioCompletionProcessor"))
}

// desktop is the world around a program under test.
type desktop struct {
	*program
	out, err apptest.Buffer
	opened   []string
	snap     *monitor.Snapshot
	address  string // of the page that the background process serves

	pageAddress func() string // likewise, where it changes

	sessions api.SessionManager // of the background process; nil: none

	policies daemontest.Selecting // of the background process
	pinned   map[string]bool      // there, by id

	background *daemontest.Ladder // ends instances in the background process
	alone      *daemontest.Ladder // without one
}

// newDesktop is a world where no background process runs and a scan finds
// list.
func newDesktop(t *testing.T, list ...monitor.Instance) *desktop {
	t.Helper()
	// A short path, since a socket's path is limited.
	runtime, err := os.MkdirTemp("", "run")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(runtime) })
	all := daemontest.List(list...)
	monitor.Sort(all)
	d := &desktop{snap: &monitor.Snapshot{At: daemontest.Noon, Instances: all}, background: &daemontest.Ladder{}, alone: &daemontest.Ladder{}, pinned: map[string]bool{}}
	d.program = &program{
		Program: daemon.Program{
			Version: "1.2.3",
			Stdout:  &d.out,
			Stderr:  &d.err,
			Getenv:  func(string) string { return "" },
			Base:    daemontest.Base(runtime),
			Open:    func(url string) error { d.opened = append(d.opened, url); return nil },
			Pause:   func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
			Exit:    func(int) {},
			// A completion has no other way to know what runs.
			Limits: daemon.Limits{Glance: time.Minute, Rival: 1}.OrDefault(),
			Command: func(_ context.Context, name string, _ ...string) ([]byte, error) {
				return nil, fmt.Errorf("%s: %w", name, exec.ErrNotFound)
			},
		},
		scan: func(context.Context) (*monitor.Snapshot, error) { return d.snap, nil },
		follow: func(ctx context.Context, each func(*monitor.Snapshot) error) error {
			<-ctx.Done()
			return ctx.Err()
		},
		ladder: func(record func(monitor.Event)) api.Stopper {
			d.alone.Record = record
			return d.alone
		},
		logs: noLogs{},
	}
	d.Base.StateHome = t.TempDir()
	d.pageAddress = func() string { return d.address }
	return d
}

func (d *desktop) runs(t *testing.T, args ...string) int {
	t.Helper()
	return d.main(t.Context(), args)
}

// serveBackground makes the background process run, with the snapshots of m.
func (d *desktop) serveBackground(t *testing.T, m *daemontest.Model) {
	t.Helper()
	log := slog.New(slog.NewTextHandler(io.Discard, nil))
	server := api.NewServer(api.Options{
		Path: d.Places().ControlSocket, LockHeld: true, Log: log,
		Handler: api.Handler(api.Parts{
			Source: m, Stop: d.background, Version: "1.2.3", Log: log,
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

type noLogs struct{}

func (noLogs) Logs(context.Context, int, int) (serena.LogPage, error) {
	return serena.LogPage{}, errors.New("connection refused")
}

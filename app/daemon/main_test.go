package daemon

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"go.uber.org/goleak"

	"lamplighter/app/api"
	"lamplighter/app/apptest"
	"lamplighter/app/daemon/daemontest"
)

func TestMain(m *testing.M) {
	// On Windows one goroutine of the pipe library stays, for the whole process.
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/Microsoft/go-winio.ioCompletionProcessor"))
}

// desktop is the world around a program under test.
type desktop struct {
	*Program
	out, err apptest.Buffer
	opened   []string
	address  string // of the page that the background process serves

	sessions   api.SessionManager // of the background process; nil: none
	background *daemontest.Ladder // ends instances in it
}

// newDesktop is a world where no background process runs.
func newDesktop(t *testing.T) *desktop {
	t.Helper()
	// A short path, since a socket's path is limited.
	runtime, err := os.MkdirTemp("", "run")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(runtime) })
	d := &desktop{background: &daemontest.Ladder{}}
	d.Program = &Program{
		Version: "1.2.3",
		Stdout:  &d.out,
		Stderr:  &d.err,
		Getenv:  func(string) string { return "" },
		Base:    daemontest.Base(runtime),
		Open:    func(url string) error { d.opened = append(d.opened, url); return nil },
		Pause:   func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
		Exit:    func(int) {},
		Limits:  Limits{Rival: 1}.OrDefault(),
		Command: func(_ context.Context, name string, _ ...string) ([]byte, error) {
			return nil, fmt.Errorf("%s: %w", name, exec.ErrNotFound)
		},
	}
	d.Base.StateHome = t.TempDir()
	return d
}

// takes takes the flags of the verb run.
func (d *desktop) takes(t *testing.T, flags string) {
	t.Helper()
	known := pflag.NewFlagSet("run", pflag.ContinueOnError)
	known.StringVar(&d.ConfigFile, "config", "", "")
	known.BoolVar(&d.AtLogin, "at-login", false, "")
	AddLayerFlags(known, &d.Flags)
	if err := known.Parse(strings.Fields(flags)); err != nil {
		t.Fatal(err)
	}
}

// serveBackground makes the background process run, with the snapshots of m.
func (d *desktop) serveBackground(t *testing.T, m *daemontest.Model) {
	t.Helper()
	log := slog.New(slog.NewTextHandler(io.Discard, nil))
	server := api.NewServer(api.Options{
		Path: d.Places().ControlSocket, LockHeld: true, Log: log,
		Handler: api.Handler(api.Parts{
			Source: m, Show: &desk{parts: api.Parts{Source: m, Log: log}, web: d.web(), open: d.Open}, Stop: d.background, Version: "1.2.3", Log: log,
			Address: func() string { return d.address }, Sessions: d.sessions,
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

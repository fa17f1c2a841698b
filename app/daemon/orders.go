package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"

	"lamplighter/app/api"
	"lamplighter/monitor"
	"lamplighter/monitor/pins"
	"lamplighter/monitor/process"
	"lamplighter/monitor/serena"
	"lamplighter/monitor/stop"
)

// errEnding: the background process takes no more orders.
var errEnding = errors.New("lamplighter is ending; order it again when it runs")

// orders carries out orders to end instances for as long as the background
// process lives. Who ordered may go: only when the process itself ends is an
// order given up, between two rungs, and that is recorded. Make one with
// newOrders.
type orders struct {
	ladder  api.Stopper
	atEnd   func(f func()) (stop func() bool) // calls f when the process is to end
	mu      sync.Mutex
	closed  bool
	running sync.WaitGroup
}

func newOrders(ctx context.Context, ladder api.Stopper) *orders {
	return &orders{ladder: ladder, atEnd: func(f func()) func() bool { return context.AfterFunc(ctx, f) }}
}

// Stop is that of the ladder.
func (o *orders) Stop(ctx context.Context, in monitor.Instance, order stop.Order) (stop.Result, error) {
	o.mu.Lock()
	if o.closed {
		o.mu.Unlock()
		return stop.Result{Outcome: stop.Failed, Detail: "Not ended: " + in.Label() + ": " + errEnding.Error() + "."}, errEnding
	}
	o.running.Add(1)
	o.mu.Unlock()
	defer o.running.Done()
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	defer o.atEnd(cancel)()
	return o.ladder.Stop(ctx, in, order)
}

// close takes no more orders, and returns when those that run have been given
// up.
func (o *orders) close() {
	o.mu.Lock()
	o.closed = true
	o.mu.Unlock()
	o.running.Wait()
}

// Matcher recognises servers that are not Serena: monitor/rules.
type Matcher interface {
	Match(exe string, args []string) (name string, ok bool)
}

// NewLadder makes the stop ladder, which looks once more whether a process is
// a server before it touches it, by the rules that are current then, and
// whether it is pinned. Each step goes to record. unknown tells why it is not
// known who is pinned, nil when it is.
func NewLadder(limits stop.Limits, log *slog.Logger, record func(monitor.Event), current func() Matcher, pinned *pins.Store, unknown func() error) api.Stopper {
	return stop.New(stop.Options{
		Log: log, Record: record, Limits: limits, Run: runOut,
		Pinned: func(id monitor.Identity) (bool, error) {
			err := unknown() // looks once more, so that what Pinned says may be new
			return pinned.Pinned(id), err
		},
		Recognise: func(p process.Info) bool {
			if _, ok := serena.ParseCommand(p.Exe, p.Args); ok {
				return true
			}
			_, ok := current().Match(p.Exe, p.Args)
			return ok
		},
	})
}

// runOut runs a command line to its end.
func runOut(ctx context.Context, command []string) error {
	out, err := SystemProgram(ctx, command[0], command[1:]...)
	if err != nil {
		return fmt.Errorf("%s: %w: %s", filepath.Base(command[0]), err, monitor.Clean(strings.TrimSpace(string(out))))
	}
	return nil
}

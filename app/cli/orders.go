package cli

import (
	"context"
	"errors"
	"sync"

	"lamplighter/app/api"
	"lamplighter/monitor"
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

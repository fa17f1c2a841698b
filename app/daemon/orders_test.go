package daemon

import (
	"context"
	"errors"
	"testing"

	"lamplighter/app/apptest"
	"lamplighter/app/daemon/daemontest"
	"lamplighter/monitor"
	"lamplighter/monitor/stop"
)

// climbing is a ladder whose climb only ends when it is given up.
type climbing struct{ begun chan struct{} }

func (c climbing) Stop(ctx context.Context, _ monitor.Instance, _ stop.Order) (stop.Result, error) {
	close(c.begun)
	<-ctx.Done()
	return stop.Result{Outcome: stop.Cancelled}, ctx.Err()
}

// An order outlives who gave it, and ends with the process.
func TestOrders(t *testing.T) {
	process, end := context.WithCancel(t.Context())
	ladder := climbing{make(chan struct{})}
	o := newOrders(process, ladder)
	client, leave := context.WithCancel(t.Context())
	ended := make(chan stop.Result, 1)
	go func() {
		r, _ := o.Stop(client, daemontest.SerenaAt(7, 24282, "alpha"), stop.Order{})
		ended <- r
	}()
	<-ladder.begun
	leave()
	select {
	case r := <-ended:
		t.Fatalf("given up with its client: %+v", r)
	default:
	}
	end()
	o.close()
	if r := <-ended; r.Outcome != stop.Cancelled {
		t.Errorf("%+v", r)
	}
	r, err := o.Stop(t.Context(), daemontest.SerenaAt(7, 24282, "alpha"), stop.Order{})
	if !errors.Is(err, errEnding) || r.Outcome != stop.Failed {
		t.Errorf("%+v, %v", r, err)
	}
	apptest.Contains(t, r.Detail, "Not ended: 7 - alpha", "order it again")
}

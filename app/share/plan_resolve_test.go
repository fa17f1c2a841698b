package share

import (
	"context"
	"errors"
	"testing"

	"lamplighter/app/launch"
)

// slow is a Resolver that takes its time, until goOn is closed.
type slow struct {
	taker
	begun, goOn chan struct{}
	ended       chan error // with that of its context
}

func (r slow) Resolve(ctx context.Context, w launch.Wanted) (launch.Resolution, error) {
	r.begun <- struct{}{}
	select {
	case <-r.goOn:
	case <-ctx.Done():
	}
	r.ended <- ctx.Err()
	return r.taker.Resolve(ctx, w)
}

// leaves has a client begin to plan, and give up.
func leaves(t *testing.T, m *planMachine) (finder slow, a *Planner, w Request, end func()) {
	w = m.wish(m.repo("alpha"), fromCwd)
	finder = slow{taker{version: "2.1.0"}, make(chan struct{}, 2), make(chan struct{}), make(chan error, 2)}
	a = asker(func(o *PlannerOptions) { o.Finder = finder })
	a.lifetime, end = context.WithCancel(a.lifetime)
	ctx, leave := context.WithCancel(t.Context())
	go func() {
		<-finder.begun
		leave()
	}()
	if p, err := a.Plan(ctx, w); !errors.Is(err, context.Canceled) {
		t.Errorf("%+v, %v", p, err)
	}
	return finder, a, w, end
}

// TestWhoGivesUpMayAskAgain: a client waits a few seconds only. What was begun for
// it goes on, and is there for its next try.
func TestWhoGivesUpMayAskAgain(t *testing.T) {
	finder, a, w, end := leaves(t, newMachine(t))
	defer end()
	close(finder.goOn)
	if err := <-finder.ended; err != nil {
		t.Error(err)
	}
	planned(t, a, w)
}

// TestEndOfThePlanner ends what was begun for a client that has given up.
func TestEndOfThePlanner(t *testing.T) {
	finder, _, _, end := leaves(t, newMachine(t))
	end()
	if err := <-finder.ended; err == nil {
		t.Error("it was not ended")
	}
}

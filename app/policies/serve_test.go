package policies

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/policy"
	"lamplighter/monitor/process"
	"lamplighter/monitor/stop"
)

// serving runs an engine as the background process does, on the clock of a
// bubble.
func serving(t *testing.T, w *world, o Options, during func(e *Engine)) {
	synctest.Test(t, func(t *testing.T) {
		e := w.watched(t, o)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- e.Serve(ctx) }()
		during(e)
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}

// watched makes an engine and something that asks it as the watch does: once a second,
// when that is due, and at once after a change.
func (w *world) watched(t *testing.T, o Options) *Engine {
	w.wake = monitor.NewBell()
	o.Changed = w.wake.Ring
	e := newEngine(o, time.Now, process.BootID)
	e.SetRules(usual())
	go func() {
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		var due time.Time
		for {
			select {
			case <-t.Context().Done():
				return
			case <-w.wake:
			case <-tick.C:
				if due.IsZero() || time.Now().Before(due) {
					continue
				}
			}
			w.mu.Lock()
			w.time = time.Now()
			s := w.newest()
			w.mu.Unlock()
			due = e.Plan(s)
		}
	}()
	return e
}

// publish makes a snapshot, and waits until the engine has taken it in.
func (w *world) publish(list ...monitor.Instance) {
	w.instances(list...)
	w.wake.Ring()
	synctest.Wait()
}

// Serve wakes when something is due, with nothing else happening.
func TestServe(t *testing.T) {
	w := newWorld()
	serving(t, w, w.options(), func(e *Engine) {
		began := time.Now()
		w.publish(orphan(4, began), server(5, began))
		time.Sleep(10*time.Minute + time.Second)
		synctest.Wait()
		w.publish(server(5, began))
		time.Sleep(20 * time.Minute)
		synctest.Wait()
		w.publish()
		if !slices.Equal(w.asked, []int{4, 5}) {
			t.Errorf("looked at %v", w.asked)
		}
		if len(w.stopped) != 2 {
			t.Errorf("%v", w.stopped)
		}
		expect(t, "notices", summaries(w.notices), "4 - alpha will shut down in 5 min", "Ended: 4 - alpha",
			"5 - alpha will shut down in 5 min", "Ended: 5 - alpha")
	})
}

// What the user says wakes it.
func TestServeHearsTheUser(t *testing.T) {
	w := newWorld()
	serving(t, w, w.options(), func(e *Engine) {
		in := orphan(4, time.Now().Add(-time.Hour))
		w.publish(in)
		must(t, e.Keep(in, time.Hour, "a test"))
		synctest.Wait()
		expect(t, "dropped", w.kinds(monitor.EventPlanDropped), "plan_dropped 4 it is kept")
		e.Chosen(Notice{
			IDs: []monitor.Identity{in.Identity}, grounds: map[monitor.Identity][]ground{in.Identity: {{rule: policy.Orphans}}},
		}, KeyStop)
		synctest.Wait()
		if len(w.stopped) != 1 || w.stops[0].Automatic {
			t.Errorf("%v, %+v", w.stopped, w.stops)
		}
		w.publish()
	})
}

// When it is to end it waits for the ladder, which gives up, and resumes nothing.
func TestServeEnds(t *testing.T) {
	w := newWorld()
	o := w.options()
	climbing := make(chan struct{}, 1)
	o.Stop = stopper(func(ctx context.Context, _ monitor.Instance, _ stop.Order) (stop.Result, error) {
		climbing <- struct{}{}
		<-ctx.Done()
		return stop.Result{Outcome: stop.Cancelled}, ctx.Err()
	})
	synctest.Test(t, func(t *testing.T) {
		climbing = make(chan struct{}, 1)
		e := w.watched(t, o)
		for range 2 { // it may be started again
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() { ended <- e.Serve(ctx) }()
			w.publish(orphan(4, time.Now().Add(-time.Hour)))
			<-climbing
			cancel()
			if err := <-ended; !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		}
	})
	if got := w.kinds(monitor.EventPolicyRefused); len(got) > 0 || slices.Contains(summaries(w.notices), "Not ended: 4 - alpha") {
		t.Errorf("%q, %q", got, summaries(w.notices))
	}
}

type stopper func(context.Context, monitor.Instance, stop.Order) (stop.Result, error)

func (f stopper) Stop(ctx context.Context, in monitor.Instance, o stop.Order) (stop.Result, error) {
	return f(ctx, in, o)
}

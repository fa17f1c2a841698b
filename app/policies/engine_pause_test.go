package policies

import (
	"context"
	"errors"
	"testing"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/policy"
	"lamplighter/monitor/stop"
)

// Pauses and keeps end by themselves, and what is due then is announced first.
func TestPauseEnds(t *testing.T) {
	w, d := driving(usual())
	w.instances(orphan(4, noon), attached(5, noon))
	must(t, d.e.Pause(noon.Add(time.Hour), "a test"))
	d.look()
	d.pass(time.Hour - 1)
	if len(w.notices) > 0 || len(w.stops) > 0 || len(w.kinds(monitor.EventNotified, monitor.EventShutdownPlanned)) > 0 {
		t.Errorf("%v, %v, %v", w.notices, w.stops, w.events)
	}
	expect(t, "refused", w.kinds(monitor.EventPolicyRefused), "policy_refused 4 its client Codex (1004) has ended, but the policies are paused")
	d.pass(1)
	expect(t, "said", w.kinds(monitor.EventPoliciesPaused, monitor.EventPoliciesResumed),
		"policies_paused 0 for 1 h, by a test", "policies_resumed 0 the time is over")
	expect(t, "announced", w.kinds(monitor.EventShutdownPlanned), "shutdown_planned 4 in 5 min: its client Codex (1004) has ended")
	d.pass(5 * time.Minute)
	if len(w.stopped) != 1 {
		t.Errorf("%v", w.stopped)
	}
}

// What ends after all although the user has paused the policies meanwhile is not
// told: the log has it.
func TestPausedOnTheWay(t *testing.T) {
	w := newWorld()
	o := w.options()
	var e *Engine
	o.Stop = stopper(func(context.Context, monitor.Instance, stop.Order) (stop.Result, error) {
		return stop.Result{Outcome: stop.Ended}, e.Pause(time.Time{}, "a test")
	})
	e = w.engine(o)
	d := w.drive(e)
	w.instances(orphan(4, noon))
	d.look()
	d.pass(20 * time.Minute)
	expect(t, "notices", summaries(w.notices), "4 - alpha will shut down in 5 min")
	expect(t, "said", w.kinds(monitor.EventPoliciesPaused), "policies_paused 0 until resumed, by a test")
}

// Who does not hold the lock does nothing, and says so.
func TestInactive(t *testing.T) {
	w := newWorld()
	o := w.options()
	o.Active = false
	d := w.drive(w.engine(o))
	in := orphan(4, noon.Add(-time.Hour))
	w.instances(in)
	d.look()
	d.pass(time.Hour)
	for what, err := range map[string]error{
		"keep": d.e.Keep(in, time.Hour, ""), "pause": d.e.Pause(time.Time{}, ""), "resume": d.e.Resume(""), "switch": d.e.Switch(policy.Idle, false, ""),
	} {
		if !errors.Is(err, ErrInactive) {
			t.Errorf("%s: %v", what, err)
		}
	}
	s := w.Snapshot()
	if s.Policy.Active || s.Policy.Orphans != 1 || !s.Instances[0].Plan.ShutdownAt.IsZero() {
		t.Errorf("%+v, %+v", s.Policy, s.Instances[0].Plan)
	}
	if len(w.events) > 0 || len(w.notices) > 0 || len(w.stops) > 0 {
		t.Errorf("%v, %v, %v", w.events, w.notices, w.stops)
	}
}

// On a quiet machine nothing is decided anew before something is due.
func TestQuiet(t *testing.T) {
	w, d := driving(usual(), server(4, noon))
	if !d.due.Equal(noon.Add(25 * time.Minute)) {
		t.Errorf("the next look is at %v", d.due)
	}
	w.instances()
	if d.look(); !d.due.IsZero() {
		t.Errorf("with nothing to do the next look is at %v", d.due)
	}
}

func BenchmarkLook(b *testing.B) {
	var list []monitor.Instance
	for pid := 1; pid <= 1000; pid++ {
		list = append(list, server(pid, noon))
	}
	_, d := driving(usual(), list...)
	for b.Loop() {
		d.look()
	}
}

package policies

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/stop"
)

// refusing is an engine that plans the end of one instance, which its ladder
// refuses for always the same reason. The times of the tries are added to tried.
func refusing(kind error, why string) (w *world, d *drive, tried *[]time.Duration) {
	w, d = driving(usual(), server(4, noon))
	tried = new([]time.Duration)
	w.stop = func(in monitor.Instance, _ stop.Order) (stop.Result, error) {
		*tried = append(*tried, w.time.Sub(noon))
		refusal := &stop.Refusal{Label: in.Label(), Kind: kind, Why: why}
		return stop.Result{Outcome: stop.Refused, Detail: refusal.Error()}, refusal
	}
	return w, d, tried
}

// pausesOf are those between tries.
func pausesOf(tried []time.Duration) []time.Duration {
	var pauses []time.Duration
	for i := range tried[1:] {
		pauses = append(pauses, tried[i+1]-tried[i])
	}
	return pauses
}

// planned is what views see of the one instance.
func (d *drive) planned() monitor.Plan { return d.Snapshot().Instances[0].Plan }

// What is found in use is left alone for a time that doubles, and announced anew
// before each further try. The refusal itself is told once.
func TestFoundInUse(t *testing.T) {
	w, d, tried := refusing(stop.ErrInUse, "it is in use by curl (77). End that first, or force it.")
	d.pass(31 * time.Minute)
	if p := d.planned(); !p.ShutdownAt.IsZero() || p.Reason != "" {
		t.Errorf("%+v", p)
	}
	d.pass(90 * time.Hour)
	h := time.Hour
	if got, want := pausesOf(*tried), []time.Duration{h, 2 * h, 4 * h, 8 * h, 16 * h, 24 * h, 24 * h}; !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
	expect(t, "refused", w.kinds(monitor.EventPolicyRefused), "policy_refused 4 no call for 30 min, but it is in use by curl (77)")
	if told := w.kinds(monitor.EventShutdownPlanned); len(told) != len(*tried) || len(w.notices) != len(*tried) {
		t.Errorf("%d tries, announced %d times, told %q", len(*tried), len(told), summaries(w.notices))
	}
}

// What the ladder refuses for another reason is told once, and tried again after
// pauses that double.
func TestRefusedByTheLadder(t *testing.T) {
	w, d, tried := refusing(stop.ErrUnknown, "it does not say whether it is at work. Try again, or force it.")
	d.pass(31*time.Minute - 1)
	if p := d.planned(); p.Reason != "no call for 30 min; it was not ended yet, because it does not say whether it is at work" || !p.ShutdownAt.Equal(noon.Add(31*time.Minute)) {
		t.Errorf("%+v", p)
	}
	d.pass(5 * time.Hour)
	m := time.Minute
	if got, want := pausesOf(*tried), []time.Duration{m, 2 * m, 4 * m, 8 * m, 16 * m, 32 * m, 60 * m, 60 * m, 60 * m}; !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
	expect(t, "refused", w.kinds(monitor.EventPolicyRefused), "policy_refused 4 no call for 30 min, but it does not say whether it is at work")
	expect(t, "notices", summaries(w.notices), "4 - alpha will shut down in 5 min")
}

// A refusal that names another process each time is told once for all that.
func TestRefusedWithOtherNumbers(t *testing.T) {
	w, d := driving(usual(), server(4, noon))
	tries := 0
	w.stop = func(in monitor.Instance, _ stop.Order) (stop.Result, error) {
		tries++
		refusal := &stop.Refusal{Kind: stop.ErrUnknown, Why: fmt.Sprintf("it may be in use: process %d of %s could not be looked at. Force it if you know better.", tries, []string{"curl", "wget"}[tries%2])}
		return stop.Result{Outcome: stop.Refused}, refusal
	}
	d.pass(24 * time.Hour)
	if got := w.kinds(monitor.EventPolicyRefused); tries < 5 || len(got) != 1 || len(d.e.book.refused) != 1 {
		t.Errorf("%d tries: %q, %v", tries, got, d.e.book.refused)
	}
}

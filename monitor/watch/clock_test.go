package watch

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// Whatever the clocks show: a step or a sleep of more than the tolerance is
// noticed, and a machine that runs as it should is never taken for one.
func TestJumpedProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		span := func(name string, least, most time.Duration) time.Duration {
			return time.Duration(rapid.Int64Range(int64(least), int64(most)).Draw(t, name))
		}
		wait := span("wait", 0, 48*time.Hour)
		awake := span("awake", 0, wait+tolerance)
		if wobble := span("wobble", -tolerance, tolerance); jumped(awake+wobble, awake, wait) {
			t.Fatal("it ran all the time")
		}
		off := span("off", tolerance+1, 48*time.Hour)
		for name, of := range map[string]struct{ wall, mono time.Duration }{
			"asleep":         {awake + off, awake},
			"asleep, early":  {off, 0},
			"asleep, both":   {wait + off, wait + off},
			"clock set":      {awake + off, awake},
			"clock set back": {awake - off, awake},
		} {
			if !jumped(of.wall, of.mono, wait) {
				t.Fatalf("%s: not noticed", name)
			}
		}
	})
}

// What counts anew from a moment is in each snapshot, from that moment on.
func TestNoteClock(t *testing.T) {
	w := New(Options{})
	l := w.begin(nil)
	at := time.Now()
	l.firstTick = at
	for range 3 {
		at = at.Add(time.Second)
		w.publish(l, at)
	}
	first := w.Snapshot()
	if !first.AwakeSince.IsZero() {
		t.Errorf("awake since %v", first.AwakeSince)
	}
	at = at.Add(time.Hour) // a sleep, counted
	w.publish(l, at)
	if s := w.Snapshot(); s == first || !s.AwakeSince.Equal(at) {
		t.Errorf("awake since %v", s.AwakeSince)
	}
}

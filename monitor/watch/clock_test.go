package watch

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestJumped(t *testing.T) {
	for name, test := range map[string]struct {
		mono, wall, wait time.Duration
		want             bool
	}{
		"nothing":           {0, 0, 0, false},
		"as waited for":     {time.Minute, time.Minute, time.Minute, false},
		"sooner":            {time.Second, time.Second, time.Minute, false},
		"a busy machine":    {80 * time.Second, 80 * time.Second, time.Minute, false},
		"drift":             {time.Hour, time.Hour + 20*time.Second, time.Hour, false},
		"a sleep":           {time.Second, 8 * time.Hour, time.Minute, true},
		"a sleep, counted":  {8 * time.Hour, 8 * time.Hour, time.Minute, true},
		"a day ahead":       {time.Second, 24 * time.Hour, time.Minute, true},
		"a day back":        {time.Second, -24 * time.Hour, time.Minute, true},
		"half a minute off": {time.Minute, 91 * time.Second, time.Minute, true},
	} {
		if got := jumped(test.wall, test.mono, test.wait); got != test.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

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
	l := newLoop(w.o, nil)
	at := time.Now()
	l.begun = at
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

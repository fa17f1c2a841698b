package policies

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
		before := moment{now: noon, mono: time.Hour}
		after := moment{now: noon.Add(test.wall), mono: time.Hour + test.mono}
		if got := jumped(before, after, test.wait); got != test.want {
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
		before := moment{now: noon, mono: span("before", 0, 1000*time.Hour)}
		awake := span("awake", 0, wait+tolerance)
		at := func(mono, wall time.Duration) moment {
			return moment{now: before.now.Add(wall), mono: before.mono + mono}
		}
		if wobble := span("wobble", -tolerance, tolerance); jumped(before, at(awake, awake+wobble), wait) {
			t.Fatal("it ran all the time")
		}
		off := span("off", tolerance+1, 48*time.Hour)
		for name, after := range map[string]moment{
			"asleep":         at(awake, awake+off),
			"asleep, early":  at(0, off),
			"asleep, both":   at(wait+off, wait+off),
			"clock set":      at(awake, awake+off),
			"clock set back": at(awake, awake-off),
		} {
			if !jumped(before, after, wait) {
				t.Fatalf("%s: not noticed", name)
			}
		}
	})
}

// The clocks of the system agree while it runs.
func TestReader(t *testing.T) {
	read := reader()
	if first, second := read(), read(); jumped(first, second, 0) || second.mono < first.mono {
		t.Errorf("%v, %v", first, second)
	}
}

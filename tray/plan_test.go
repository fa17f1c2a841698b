package tray

import (
	"fmt"
	"testing"
	"time"
	_ "time/tzdata" // Windows has none

	"lamplighter/monitor"

	"pgregory.net/rapid"
)

// genPlan draws what the policies mean to do about an instance.
func genPlan(t *rapid.T) (p monitor.Plan) {
	span := rapid.OneOf(rapid.Int64Range(-100_000, 300_000), rapid.Int64Range(-100, 1000))
	if rapid.Bool().Draw(t, "planned") {
		p.ShutdownAt, p.Reason = noon.Add(time.Duration(span.Draw(t, "shutdown s"))*time.Second), "no call for 30 min"
	}
	if rapid.Bool().Draw(t, "kept") {
		p.KeptUntil = noon.Add(time.Duration(span.Draw(t, "kept s")) * time.Second)
	}
	return p
}

// However many ends are planned, time alone changes the menu once a minute.
func TestCountdownsChangeTogether(t *testing.T) {
	o, c, now := drawer(t)
	var list []monitor.Instance
	for i := range 5 {
		in := serena(1+i, fmt.Sprint("p", i), 0, 100)
		in.Plan.ShutdownAt = noon.Add(5*time.Minute + time.Duration(i*17)*time.Second)
		list = append(list, in)
	}
	snap := snapshot(list...)
	o.see(t, snap)
	for second := range 8 * 60 {
		*now = noon.Add(time.Duration(second) * time.Second)
		c.drawn = nil
		o.see(t, snap)
		if len(c.drawn) > 0 && second%60 != 0 {
			t.Errorf("drawn after %d s: %v", second, c.drawn)
		}
		for _, d := range c.drawn {
			was, now := d.Was.looks(), d.Now.looks()
			if was.Title = now.Title; was != now {
				t.Errorf("after %d s: %+v", second, d)
			}
		}
	}
}

func TestDayEndsAtMidnight(t *testing.T) {
	for day, want := range map[string]string{
		"2026-09-05": "2026-09-06 01:00", "2026-04-04": "2026-04-05 00:00", // whose clocks change at midnight
		"2026-03-28": "2026-03-29 00:00",
	} {
		where, err := time.LoadLocation("America/Santiago")
		if err != nil {
			t.Fatal(err)
		}
		late, err := time.ParseInLocation("2006-01-02 15:04", day+" 23:30", where)
		if err != nil {
			t.Fatal(err)
		}
		if end := dayEnd(late); end.Format("2006-01-02 15:04") != want || !end.After(late) {
			t.Errorf("%s ends at %v", day, end)
		}
	}
}

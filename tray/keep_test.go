package tray

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/view"

	"pgregory.net/rapid"
)

func TestWhatIsSaidUnderKeep(t *testing.T) {
	alpha := serena(24284, "alpha", 12*time.Minute, 160)
	for _, c := range []struct {
		name      string
		change    func(*monitor.Instance)
		keep, pin string // empty for no line
		checked   bool
	}{
		{"nothing is planned", func(*monitor.Instance) {}, "24284 - alpha · Claude Code", "24284 - alpha · Claude Code", false},
		{"planned", func(in *monitor.Instance) {
			in.Plan = monitor.Plan{ShutdownAt: noon.Add(4 * time.Minute), Reason: "no call for 30 min"}
		}, "24284 - alpha · Claude Code · stops at 12:04: no call for 30 min", "24284 - alpha · Claude Code", false},
		{"planned without a reason", func(in *monitor.Instance) { in.Plan.ShutdownAt = noon.Add(4 * time.Minute) },
			"24284 - alpha · Claude Code · stops at 12:04", "24284 - alpha · Claude Code", false},
		{"planned for a long reason", func(in *monitor.Instance) {
			in.ProjectName = "customer-portal-backend"
			in.Plan = monitor.Plan{ShutdownAt: noon.Add(4 * time.Minute), Reason: "its client closed the connection and is gone, for 10 min"}
		}, "24284 - custom…ckend · Claude Code · stops at 12:04: its client close…", "24284 - customer-portal-backend · Claude Code", false},
		{"kept", func(in *monitor.Instance) { in.Plan.KeptUntil = noon.Add(time.Hour) }, "24284 - alpha · Claude Code · kept until 13:00", "24284 - alpha · Claude Code", false},
		{"kept until just now", func(in *monitor.Instance) { in.Plan.KeptUntil = noon }, "24284 - alpha · Claude Code", "24284 - alpha · Claude Code", false},
		{"kept until tomorrow", func(in *monitor.Instance) { in.Plan.KeptUntil = noon.Add(12 * time.Hour) },
			"24284 - alpha · Claude Code · kept until 2 Mar 00:00", "24284 - alpha · Claude Code", false},
		{"pinned", func(in *monitor.Instance) { in.Pinned = true }, "24284 - alpha · Claude Code · pinned", "24284 - alpha · Claude Code", true},
		{"parked", func(in *monitor.Instance) { in.State = monitor.StateParked }, "", "", false},
		{"parked and pinned", func(in *monitor.Instance) { in.State, in.Pinned = monitor.StateParked, true }, "", "parked - alpha · Claude Code", true},
		{"not recognised", func(in *monitor.Instance) { in.Recognised = false }, "", "", false},
	} {
		m := menuAt(snapshot(with(alpha, c.change)), Extras{})
		if keep, pin := titles(m.of(view.Keep)), titles(m.of(view.Pin)); keep != c.keep || pin != c.pin || m.line("pin 24284-7").Checked != c.checked {
			t.Errorf("%s: %q and %q, checked %v", c.name, keep, pin, !c.checked)
		}
	}
	snap := snapshot(alpha)
	snap.Recent = []monitor.Event{event(monitor.EventStopOrdered, alpha, 0, "by the policy idle")}
	m := menuAt(snap, Extras{})
	if keep, pin := titles(m.of(view.Keep)), titles(m.of(view.Pin)); keep != "24284 - alpha · Claude Code · ending…" || pin != keep {
		t.Errorf("ending: %q and %q", keep, pin)
	}
}

func TestKeepHasRoomForThoseThatMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var list []monitor.Instance
		n := rapid.IntRange(0, 3*keepLines).Draw(t, "n")
		for i := range n {
			in := serena(24282+i, fmt.Sprintf("p%03d", i), 0, 10)
			if rapid.IntRange(0, 4).Draw(t, "planned") == 0 {
				in.Plan.ShutdownAt = noon.Add(5 * time.Minute)
			}
			in.Pinned = rapid.IntRange(0, 4).Draw(t, "pinned") == 0
			in.Recognised = rapid.IntRange(0, 4).Draw(t, "recognised") > 0
			list = append(list, in)
		}
		snap := snapshot(list...)
		m := menuAt(snap, Extras{})
		over := 0
		check := func(what string, shown menu, fit, first func(*view.Server) bool) {
			at, fits, missing := -1, 0, 0
			for _, s := range view.All(snap) {
				if !fit(s) {
					continue
				}
				fits++
				k := slices.IndexFunc(shown, func(l line) bool { return l.Action.ID == s.ID })
				if k >= 0 && k <= at {
					t.Fatalf("%s: out of order", what)
				}
				if k >= 0 {
					at = k
				} else if first(s) {
					missing++
				}
			}
			if len(shown) != min(fits, keepLines) {
				t.Fatalf("%s: %d lines for %d", what, len(shown), fits)
			}
			for _, e := range shown {
				i := slices.IndexFunc(snap.Instances, func(in *monitor.Instance) bool { return view.ID(in.ID()) == e.Action.ID })
				if missing > 0 && !first(view.Of(snap.Instances[i])) {
					t.Fatalf("%s: %s has the room of another", what, e.Title)
				}
			}
			over = max(over, fits-len(shown))
		}
		check("keep", m.of(view.Keep), (*view.Server).CanStop, func(s *view.Server) bool { return planned(s, noon) })
		check("pins", m.of(view.Pin), pinnable, func(s *view.Server) bool { return s.Pinned })
		want := ""
		if over > 0 {
			want = fmt.Sprintf("and %d more: global dashboard", over)
		}
		if more := m.line("more to keep").Title; more != want {
			t.Fatalf("more %q, want %q", more, want)
		}
	})
}

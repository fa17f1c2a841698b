package tray

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"lamplighter/monitor"

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
		{"nothing is planned", func(*monitor.Instance) {}, "24284 - alpha", "24284 - alpha", false},
		{"planned", func(in *monitor.Instance) {
			in.Plan = monitor.Plan{ShutdownAt: noon.Add(4 * time.Minute), Reason: "no call for 30 min"}
		}, "24284 - alpha · ends in 4 min: no call for 30 min", "24284 - alpha", false},
		{"planned without a reason", func(in *monitor.Instance) { in.Plan.ShutdownAt = noon.Add(4 * time.Minute) },
			"24284 - alpha · ends in 4 min", "24284 - alpha", false},
		{"planned for a long reason", func(in *monitor.Instance) {
			in.ProjectName = "customer-portal-backend"
			in.Plan = monitor.Plan{ShutdownAt: noon.Add(4 * time.Minute), Reason: "its client closed the connection and is gone, for 10 min"}
		}, "24284 - custom…ckend · ends in 4 min: its client closed the connectio…", "24284 - customer-portal-backend", false},
		{"kept", func(in *monitor.Instance) { in.Plan.KeptUntil = noon.Add(time.Hour) }, "24284 - alpha · kept until 13:00", "24284 - alpha", false},
		{"kept until just now", func(in *monitor.Instance) { in.Plan.KeptUntil = noon }, "24284 - alpha", "24284 - alpha", false},
		{"kept until tomorrow", func(in *monitor.Instance) { in.Plan.KeptUntil = noon.Add(12 * time.Hour) },
			"24284 - alpha · kept until 2 Mar 00:00", "24284 - alpha", false},
		{"pinned", func(in *monitor.Instance) { in.Pinned = true }, "24284 - alpha · pinned", "24284 - alpha", true},
		{"parked", func(in *monitor.Instance) { in.State = monitor.StateParked }, "", "", false},
		{"parked and pinned", func(in *monitor.Instance) { in.State, in.Pinned = monitor.StateParked, true }, "", "parked - alpha", true},
		{"not recognised", func(in *monitor.Instance) { in.Recognised = false }, "", "", false},
	} {
		m := buildMenu(snapshot(with(alpha, c.change)), noon, menuOptions{Policies: true})
		line := func(list []menuEntry) (e menuEntry) {
			for _, e = range list {
			}
			return e
		}
		if keep, pin := line(m.Keep), line(m.Pins); keep.Title != c.keep || pin.Title != c.pin || pin.Checked != c.checked {
			t.Errorf("%s: %q and %q, checked %v", c.name, keep.Title, pin.Title, pin.Checked)
		}
		if m := buildMenu(snapshot(with(alpha, c.change)), noon, menuOptions{Stop: true}); len(m.Keep)+len(m.Pins) > 0 || m.KeepMore != "" {
			t.Errorf("%s: offered what nobody can do", c.name)
		}
	}
	snap := snapshot(alpha)
	snap.Recent = []monitor.Event{event(monitor.EventStopOrdered, alpha, 0, "by the policy idle")}
	if m := buildMenu(snap, noon, menuOptions{Policies: true}); m.Keep[0].Title != "24284 - alpha · ending…" || m.Pins[0].Title != m.Keep[0].Title {
		t.Errorf("ending: %q and %q", m.Keep[0].Title, m.Pins[0].Title)
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
		m := buildMenu(snap, noon, menuOptions{Policies: true})
		over := 0
		check := func(what string, shown []menuEntry, fit, first func(*monitor.Instance) bool) {
			at, fits, missing := -1, 0, 0
			for i := range snap.Instances {
				in := &snap.Instances[i]
				if !fit(in) {
					continue
				}
				fits++
				k := slices.IndexFunc(shown, func(e menuEntry) bool { return e.ID == in.ID() })
				if k >= 0 && k <= at {
					t.Fatalf("%s: out of order", what)
				}
				if k >= 0 {
					at = k
				} else if first(in) {
					missing++
				}
			}
			if len(shown) != min(fits, keepLines) {
				t.Fatalf("%s: %d lines for %d", what, len(shown), fits)
			}
			for _, e := range shown {
				i := slices.IndexFunc(snap.Instances, func(in monitor.Instance) bool { return in.ID() == e.ID })
				if missing > 0 && !first(&snap.Instances[i]) {
					t.Fatalf("%s: %s has the room of another", what, e.Title)
				}
			}
			over = max(over, fits-len(shown))
		}
		check("keep", m.Keep, stoppable, func(in *monitor.Instance) bool { return planned(in, noon) })
		check("pins", m.Pins, pinnable, func(in *monitor.Instance) bool { return in.Pinned })
		want := ""
		if over > 0 {
			want = fmt.Sprintf("and %d more: global dashboard", over)
		}
		if m.KeepMore != want {
			t.Fatalf("more %q, want %q", m.KeepMore, want)
		}
	})
}

// One that loses its room to another while the menu is open has not ended.
func TestHeldLinesUnderKeep(t *testing.T) {
	var list []monitor.Instance
	for i := range keepLines + 1 {
		list = append(list, serena(24282+i, fmt.Sprintf("p%03d", i), 0, 10))
	}
	menu := func(list ...monitor.Instance) menu {
		return buildMenu(snapshot(slices.Clone(list)...), noon, menuOptions{Policies: true})
	}
	shown := menu(list...)
	list[keepLines].Plan.ShutdownAt = noon.Add(5 * time.Minute)
	list[0].Pinned = true
	last := keepLines - 1
	held := hold(shown, menu(list...))
	if e := held.Keep[last]; e.Ended || e.ID != shown.Keep[last].ID || !held.Pins[0].Checked {
		t.Errorf("%+v, %+v", held.Keep[last], held.Pins[0])
	}
	held = hold(held, menu(list[:last]...))
	if e := held.Keep[last]; !e.Ended || e.Title != "24292 - p010 · ended" {
		t.Errorf("%+v", e)
	}
}

package tray

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"lamplighter/icons"
	"lamplighter/monitor"
	"lamplighter/monitor/view"

	"pgregory.net/rapid"
)

// menuAt is the menu of a snapshot at noon.
func menuAt(snap *monitor.Snapshot, extras Extras) menu {
	m, _ := menuOf(snap, noon, extras, nil, nil)
	return m
}

// line is the line with a key, hidden for none.
func (m menu) line(key string) (found line) {
	for _, l := range m {
		if l.Key == key {
			return l
		}
	}
	return found
}

// of are the lines about instances with a verb.
func (m menu) of(v view.Verb) (list menu) {
	for _, l := range m {
		if strings.HasPrefix(l.Key, string(v)+" ") && !l.hidden() {
			list = append(list, l)
		}
	}
	return list
}

// under are the lines in a submenu that are seen.
func (m menu) under(key string) (list menu) {
	for i, top := range m {
		if top.Key != key {
			continue
		}
		for _, l := range m[i+1:] {
			if l.Above == i && l.Title != "" {
				list = append(list, l)
			}
		}
	}
	return list
}

func titles(list menu) string {
	var all []string
	for _, l := range list {
		if l.Title != "" {
			all = append(all, l.Title)
		}
	}
	return strings.Join(all, " | ")
}

// drawn is a whole menu as text: what a person sees of each line, with what is in
// its submenu below it.
func drawn(m menu) string {
	var b strings.Builder
	for _, l := range m[1:] {
		if l.hidden() {
			continue
		}
		if l.Above > 0 {
			b.WriteString("  ")
		}
		switch {
		case l.Separator:
			l.Title = "-"
		case l.Checkable && l.Checked:
			b.WriteString("[x] ")
		case l.Checkable:
			b.WriteString("[ ] ")
		}
		b.WriteString(l.Title)
		if l.Disabled {
			b.WriteString(" (grey)")
		}
		if l.Action.Verb != "" {
			fmt.Fprintf(&b, " -> %s", strings.TrimSpace(string(l.Action.Verb)+" "+string(l.Action.For)))
		}
		b.WriteString("\n")
	}
	return b.String()
}

// apply is what a painter makes of changes.
func apply(shown menu, changes []change) menu {
	shown = slices.Clone(shown)
	for _, c := range changes {
		shown[c.ID] = c.Now
	}
	return shown
}

func genMenu(t *rapid.T, label string) (menu, map[view.ID]bool) {
	snap := &monitor.Snapshot{}
	ids := rapid.SliceOfNDistinct(rapid.IntRange(10, 60), 0, 30, rapid.ID[int]).Draw(t, label)
	for _, id := range ids {
		in := serena(id, "p"+strconv.Itoa(id), rapid.SampledFrom([]time.Duration{0, time.Hour}).Draw(t, "idle"), 100)
		in.State = rapid.SampledFrom([]monitor.State{monitor.StateProject, monitor.StateZombie}).Draw(t, "state")
		in.Recognised = rapid.IntRange(0, 3).Draw(t, "recognised") > 0
		in.Pinned, in.Plan = rapid.Bool().Draw(t, "pinned"), genPlan(t)
		snap.Instances = append(snap.Instances, new(in))
	}
	snap.Recent, snap.Policy = genEvents(t, snap.Instances), genPolicy(t)
	monitor.Sort(snap.Instances)
	snap.Warnings = rapid.SliceOfN(rapid.SampledFrom([]string{"w1", "w2"}), 0, 3).Draw(t, "warnings")
	var workspaces []Workspace
	for _, n := range rapid.SliceOfNDistinct(rapid.IntRange(0, 40), 0, 20, rapid.ID[int]).Draw(t, "workspaces") {
		workspaces = append(workspaces, Workspace{ID: strconv.Itoa(n), Job: fmt.Sprint("job ", n)})
	}
	m := menuAt(snap, Extras{
		AtLogin: rapid.Bool().Draw(t, "at login"), CanSwitch: rapid.Bool().Draw(t, "can"),
		GivenBack: rapid.Uint64().Draw(t, "given back"), Workspaces: workspaces,
	})
	return m, running(snap)
}

// A desktop can neither add a line nor give it a check mark or a submenu later.
func TestEveryMenuHasTheSameLines(t *testing.T) {
	shape := menuAt(nil, Extras{})
	rapid.Check(t, func(t *rapid.T) {
		m, _ := genMenu(t, "menu")
		if len(m) != len(shape) {
			t.Fatalf("%d lines, %d before", len(m), len(shape))
		}
		keys := map[string]bool{}
		for i, l := range m {
			s := shape[i]
			if l.Above != s.Above || l.Opens != s.Opens || l.Separator != s.Separator || l.Checkable != s.Checkable {
				t.Fatalf("line %d is %+v, and was %+v", i, l, s)
			}
			if !l.hidden() && !l.Separator && (l.Key == "" || keys[l.Key]) {
				t.Fatalf("line %d, %q, has no key of its own: %q", i, l.Title, l.Key)
			}
			keys[l.Key] = true
		}
	})
}

func TestDiff(t *testing.T) {
	a := line{Key: "a", Title: "a"}
	icon := line{Key: "icon", Title: "Lamplighter", Opens: true}
	for _, c := range []struct {
		name     string
		was, now line
		changed  bool
	}{
		{"the same", a, a, false},
		{"both hidden", line{}, line{Key: "a", Disabled: true}, false},
		{"a separator", separator, separator, false},
		{"another key and action", a, line{Key: "b", Title: "a", Action: action{Order: view.Order{Verb: view.Resume}}, Ended: "b"}, false},
		{"another title", a, line{Title: "b"}, true},
		{"another mark", a, line{Title: "a", Mark: icons.Zombie}, true},
		{"disabled", a, line{Title: "a", Disabled: true}, true},
		{"shown", line{}, a, true},
		{"hidden", a, line{}, true},
		{"the icon", line{Title: "Lamplighter"}, line{Title: "Lamplighter", Style: "dark"}, true},
	} {
		got := diff(menu{icon, a, c.was}, menu{icon, a, c.now})
		if (len(got) == 1) != c.changed || c.changed && got[0] != (change{2, c.was, c.now}) {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}

func TestWhatDiffersIsShown(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shown, _ := genMenu(t, "shown")
		want, _ := genMenu(t, "want")
		got := apply(shown, diff(shown, want))
		for i := range want {
			if got[i].hidden() != want[i].hidden() || !got[i].hidden() && got[i].looks() != want[i].looks() {
				t.Fatalf("line %d shows %+v, want %+v", i, got[i], want[i])
			}
		}
		if more := diff(got, want); len(more) != 0 {
			t.Fatalf("what is equal gives %v", more)
		}
	})
}

func TestHeldMenuMovesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shown, _ := genMenu(t, "shown")
		next, runs := genMenu(t, "next")
		held := hold(shown, next, runs)
		if !sameLines(shown, held) {
			t.Fatalf("lines moved:\n%s\n%s", drawn(shown), drawn(held))
		}
		if !slices.Equal(hold(held, next, runs), held) {
			t.Fatal("holding twice is not holding once")
		}
		for i, l := range held {
			switch fresh := next.line(l.Key); {
			case l.Title == "":
			case !fresh.hidden():
				if l != fresh {
					t.Fatalf("line %+v, next has %+v", l, fresh)
				}
			case l.Ended == "":
				if l != shown[i] {
					t.Fatalf("line %+v was %+v", l, shown[i])
				}
			case runs[shown[i].Action.ID]: // it has only lost its room
				if l != shown[i] {
					t.Fatalf("line %+v was %+v, and runs", l, shown[i])
				}
			case l.Title != l.Ended || !l.Disabled || l.Action != action{}:
				t.Fatalf("line %+v is of what has gone", l)
			}
		}
	})
}

func TestHold(t *testing.T) {
	menu := func(p monitor.Policy, list ...monitor.Instance) (menu, map[view.ID]bool) {
		snap := snapshot(slices.Clone(list)...)
		snap.Policy = p
		return menuAt(snap, Extras{}), running(snap)
	}
	active := monitor.Policy{Active: true, Rules: rules()[:2], Idle: 2, Orphans: 1}
	var many []monitor.Instance
	for i := range keepLines + 1 {
		many = append(many, serena(24282+i, fmt.Sprintf("p%03d", i), 0, 10))
	}
	planned := slices.Clone(many)
	planned[keepLines].Plan.ShutdownAt = noon.Add(5 * time.Minute)
	paused := monitor.Policy{Active: true, Paused: true, Idle: 3, Rules: rules()[:1]}
	paused.Rules[0].On = false
	for _, c := range []struct {
		name          string
		was, is       monitor.Policy
		before, after []monitor.Instance
		key, title    string
		disabled      bool
		mark          icons.Mark
	}{
		{name: "an instance that ended", before: many[:1], key: "open 24282-7", title: "24282 - p000 · ended", disabled: true, mark: icons.Ended},
		{name: "under Stop", before: many[:1], key: "stop 24282-7", title: "24282 - p000 · ended", disabled: true},
		{name: "under Keep", before: many[:1], key: "keep 24282-7", title: "24282 - p000 · ended", disabled: true},
		{name: "its submenu", before: many[:1], key: "stop", title: "Stop"},
		{name: "one that lost its room still runs", before: many, after: planned, key: "keep 24292-7", title: "24292 - p010 · Claude Code"},
		{name: "others are new", after: many, key: "open 24282-7"},
		{name: "more are idle", was: active, is: paused, key: "stop all idle", title: "Stop 3 idle"},
		{name: "none is orphaned", was: active, is: paused, key: "stop all orphans", title: "Stop 1 orphaned", disabled: true},
		{name: "they are paused", was: active, is: paused, key: "policies", title: "Policies (paused until resumed)"},
		{name: "a pause is still offered", was: active, is: paused, key: "pause for 1 h", title: "Pause for 1 h"},
		{name: "and not its end", was: active, is: paused, key: "resume"},
		{name: "a rule is switched off", was: active, is: paused, key: "rule orphans", title: "End orphaned servers after 10 min"},
		{name: "a rule is gone", was: active, is: paused, key: "rule idle", title: "End idle servers", disabled: true},
	} {
		shown, _ := menu(c.was, c.before...)
		next, runs := menu(c.is, c.after...)
		if l := hold(shown, next, runs).line(c.key); l.Title != c.title || l.Disabled != c.disabled || l.Mark != c.mark || l.Checked {
			t.Errorf("%s: %+v", c.name, l)
		}
	}
}

package workspace

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

// stamp is a moment of a boot that began at noon.
func stamp(boot string, since time.Duration) Stamp {
	return Stamp{Wall: noon.Add(since), Boot: boot, SinceBoot: since}
}

const day = 24 * time.Hour

func TestElapsed(t *testing.T) {
	for name, test := range map[string]struct {
		from, to Stamp
		want     time.Duration
	}{
		"the same boot":                    {stamp("a", time.Hour), stamp("a", 3*time.Hour), 2 * time.Hour},
		"the wall clock was set forward":   {stamp("a", time.Hour), Stamp{noon.Add(365 * day), "a", 2 * time.Hour}, time.Hour},
		"the wall clock was set back":      {stamp("a", time.Hour), Stamp{noon.Add(-365 * day), "a", 2 * time.Hour}, time.Hour},
		"another boot":                     {stamp("a", 9*time.Hour), Stamp{noon.Add(11 * time.Hour), "b", time.Minute}, 2 * time.Hour},
		"another boot, in the past":        {stamp("a", 9*time.Hour), Stamp{noon, "b", time.Minute}, 0},
		"no boot is known":                 {Stamp{Wall: noon}, Stamp{Wall: noon.Add(time.Hour)}, time.Hour},
		"no boot is known, and it is past": {Stamp{Wall: noon}, Stamp{Wall: noon.Add(-time.Hour)}, 0},
		"a boot that begins again":         {stamp("a", 2*time.Hour), stamp("a", time.Hour), 0},
	} {
		if got := elapsed(test.from, test.to); got != test.want {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
		if after(test.from, test.from) || after(test.to, test.to) {
			t.Errorf("%s: a moment is after itself", name)
		}
	}
}

func TestNow(t *testing.T) {
	a, b := now(), now()
	if a.Boot == "" || a.SinceBoot <= 0 || a.Wall.IsZero() {
		t.Errorf("%+v", a)
	}
	if !sameBoot(a, b) || after(a, b) || elapsed(a, b) < 0 {
		t.Errorf("%+v, then %+v", a, b)
	}
}

func TestDue(t *testing.T) {
	used := stamp("a", time.Hour)
	done := stamp("a", 2*time.Hour)
	soon, late := stamp("a", 3*time.Hour), stamp("a", 26*time.Hour)
	const left = 22 * time.Hour // at soon
	for _, test := range []struct {
		name    string
		kind    Kind
		cleanup Cleanup
		done    *Stamp
		problem bool
		clock   Stamp
		action  action
		in      time.Duration
		words   string
	}{
		{"temp", Temp, AtCompletion, nil, false, soon, actRemove, left, "removed when its job ends, or when nobody has used it for 24 h"},
		{"temp, late", Temp, AtCompletion, nil, false, late, actRemove, 0, "removed when its job ends, or when nobody has used it for 24 h"},
		{"temp, completed", Temp, AtCompletion, &done, false, soon, actRemove, 0, "removed now, since its job has ended"},
		{"temp, completed and stuck", Temp, AtCompletion, &done, true, soon, actRemove, 0, "removed as soon as nothing stands against it"},
		{"temp at retention", Temp, AtRetention, nil, false, soon, actRemove, left, "removed when nobody has used it for 24 h"},
		{"temp at retention, completed", Temp, AtRetention, &done, false, soon, actRemove, left, "removed when nobody has used it for 24 h"},
		{"temp by hand", Temp, ByHand, &done, false, late, actNothing, 0, "stays until it is removed"},
		{"temp to an archive", Temp, ToArchive, &done, false, soon, actArchive, left, "archived when nobody has used it for 24 h"},
		{"temp to an archive, late", Temp, ToArchive, nil, false, late, actArchive, 0, "archived when nobody has used it for 24 h"},
		{"hybrid", Hybrid, AtCompletion, nil, false, soon, actEnd, left, "its tree is removed when its job ends, or when nobody has used it for 24 h; its versions stay"},
		{"hybrid, completed", Hybrid, AtCompletion, &done, false, soon, actEnd, 0, "its tree is removed now, since its job has ended; its versions stay"},
		{"hybrid, completed and stuck", Hybrid, AtCompletion, &done, true, soon, actEnd, 0, "its tree is removed as soon as nothing stands against it; its versions stay"},
		{"hybrid to an archive", Hybrid, ToArchive, &done, false, late, actArchive, 0, "archived when nobody has used it for 24 h"},
		{"persistent", Persistent, ByHand, &done, false, late, actNothing, 0, "stays until it is removed"},
		{"persistent at retention", Persistent, AtRetention, &done, false, late, actEnd, 0, "its tree is removed when nobody has used it for 24 h; its versions stay"},
		{"a problem of before", Temp, AtRetention, nil, true, soon, actRemove, left, "removed when nobody has used it for 24 h"},
	} {
		f := facts{State: Ready, Kind: test.kind, Cleanup: test.cleanup, Retention: day, Used: used, Done: test.done, Problem: test.problem}
		want := verdict{test.action, test.in, test.words}
		if got := due(f, test.clock); got != want {
			t.Errorf("%s: %+v\nwant %+v", test.name, got, want)
		}
	}
}

// Who uses a workspace again after its job has ended begins another one.
func TestUsedAfterCompletion(t *testing.T) {
	done := stamp("a", time.Hour)
	f := facts{State: Ready, Kind: Temp, Cleanup: AtCompletion, Retention: day, Used: stamp("a", 2*time.Hour), Done: &done}
	if v := due(f, stamp("a", 3*time.Hour)); v.due() || v.In != 23*time.Hour {
		t.Errorf("%+v", v)
	}
	f.Used = done
	if v := due(f, stamp("a", 3*time.Hour)); !v.due() {
		t.Errorf("used and completed at once: %+v", v)
	}
}

func TestClocksAgainstRetention(t *testing.T) {
	f := facts{State: Ready, Kind: Temp, Cleanup: AtRetention, Retention: day, Used: stamp("a", 10*time.Hour)}
	for _, test := range []struct {
		name  string
		clock Stamp
		in    time.Duration
	}{
		{"a year forward", Stamp{noon.Add(365 * day), "a", 11 * time.Hour}, 23 * time.Hour},
		{"a year back", Stamp{noon.Add(-365 * day), "a", 11 * time.Hour}, 23 * time.Hour},
		{"another boot, at once", Stamp{noon.Add(35 * time.Hour), "b", time.Minute}, 9 * time.Minute},
		{"another boot, a year forward", Stamp{noon.Add(365 * day), "b", 0}, 10 * time.Minute},
		{"another boot, after its rest", Stamp{noon.Add(35 * time.Hour), "b", 10 * time.Minute}, 0},
		{"another boot, not late yet", Stamp{noon.Add(33 * time.Hour), "b", time.Minute}, time.Hour},
		{"another boot, in the past", Stamp{noon.Add(-365 * day), "b", 30 * time.Minute}, day},
		{"no boot is known", Stamp{Wall: noon.Add(35 * time.Hour)}, 0},
	} {
		if v := due(f, test.clock); v.In != test.in || v.Action != actRemove {
			t.Errorf("%s: %+v, want %v", test.name, v, test.in)
		}
	}
}

func TestStates(t *testing.T) {
	for state, words := range map[State]string{
		Ended: "its versions stay until it is removed", Archived: "its archive stays until it is removed",
		Creating: "", Removed: "", "unheard of": "",
	} {
		f := facts{State: state, Kind: Temp, Cleanup: AtRetention, Retention: time.Second, Used: stamp("a", 0)}
		if v := due(f, stamp("a", day)); v != (verdict{Words: words}) {
			t.Errorf("%s: %+v", state, v)
		}
	}
}

func TestFactsOf(t *testing.T) {
	r := &record{Workspace: Workspace{State: Ready, Kind: Hybrid, UsedAt: noon}}
	f := factsOf(r, Limits{})
	if f.Cleanup != AtCompletion || f.Retention != usualRetention || !f.Used.Wall.Equal(noon) {
		t.Errorf("%+v", f)
	}
	f = factsOf(r, Limits{Cleanup: ToArchive, Retention: time.Minute})
	if f.Cleanup != ToArchive || f.Retention != time.Minute {
		t.Errorf("by options: %+v", f)
	}
	r.Cleanup, r.Retention = AtRetention, time.Hour
	f = factsOf(r, Limits{Cleanup: ToArchive, Retention: time.Minute})
	if f.Cleanup != AtRetention || f.Retention != time.Hour {
		t.Errorf("by the record: %+v", f)
	}
	r.Kind, r.Cleanup = Persistent, ""
	if f = factsOf(r, Limits{}); f.Cleanup != ByHand {
		t.Errorf("persistent: %+v", f)
	}
}

func TestPlan(t *testing.T) {
	done := stamp("a", 2*time.Hour)
	r := &record{Workspace: Workspace{State: Ready, Kind: Temp, Cleanup: AtCompletion, Retention: day}, Used: stamp("a", time.Hour)}
	at, words := plan(r, Limits{}, stamp("a", 3*time.Hour+time.Millisecond))
	if at == nil || !at.Equal(noon.Add(25*time.Hour)) || words == "" {
		t.Errorf("%v, %q", at, words)
	}
	r.Done = &done
	if at, _ := plan(r, Limits{}, stamp("a", 3*time.Hour)); at == nil || !at.Equal(noon.Add(3*time.Hour)) {
		t.Errorf("completed: %v", at)
	}
	r.Problem = leftInUse + "bash (1)"
	if at, words := plan(r, Limits{}, stamp("a", 3*time.Hour)); at != nil || !strings.Contains(words, "as soon as") {
		t.Errorf("stuck: %v, %q", at, words)
	}
	r.Problem = "it is a directory without git now" // that is no reason to stay
	if at, _ := plan(r, Limits{}, stamp("a", 3*time.Hour)); at == nil {
		t.Error("another problem keeps it")
	}
	r.State = Archived
	if at, words := plan(r, Limits{}, stamp("a", 3*time.Hour)); at != nil || words == "" {
		t.Errorf("archived: %v, %q", at, words)
	}
}

func TestOverBudget(t *testing.T) {
	clock := stamp("a", 10*day)
	of := func(id string, usedAgo time.Duration, bytes int64, change func(*facts)) facts {
		f := facts{ID: id, State: Ready, Kind: Temp, Cleanup: AtRetention, Retention: 100 * day, Used: stamp("a", 10*day-usedAgo), Bytes: bytes}
		if change != nil {
			change(&f)
		}
		return f
	}
	for _, test := range []struct {
		name   string
		all    []facts
		budget int64
		leave  []string
		again  time.Duration
		over   int64
	}{
		{"no limit", []facts{of("a", day, 1000, nil)}, 0, nil, 0, 0},
		{"within it", []facts{of("a", day, 60, nil), of("b", day, 40, nil)}, 100, nil, 0, 0},
		{"oldest first", []facts{of("a", time.Hour, 60, nil), of("b", 2*day, 40, nil), of("c", day, 10, nil)}, 100, []string{"b"}, 0, 0},
		{"as many as it takes", []facts{of("a", time.Hour, 60, nil), of("b", 2*day, 40, nil), of("c", day, 10, nil)}, 60, []string{"b", "c"}, 0, 0},
		{"by hand stays", []facts{of("a", 9*day, 90, func(f *facts) { f.Cleanup = ByHand }), of("b", day, 20, nil)}, 100, []string{"b"}, 0, 0},
		{"what waits stays", []facts{of("a", 9*day, 90, func(f *facts) { f.Waits = true }), of("b", day, 20, nil)}, 100, []string{"b"}, 0, 0},
		{"versions count", []facts{of("a", 9*day, 90, func(f *facts) { f.State = Ended }), of("b", day, 20, nil)}, 100, []string{"b"}, 0, 0},
		{"archives do not", []facts{of("a", 9*day, 90, func(f *facts) { f.State = Archived }), of("b", day, 20, nil)}, 100, nil, 0, 0},
		{"unknown sizes do not", []facts{of("a", 9*day, -1, nil), of("b", day, 20, nil)}, 10, []string{"b"}, 0, 0},
		{"just used", []facts{of("a", 4*time.Minute, 900, nil), of("b", time.Minute, 900, nil)}, 100, nil, 6 * time.Minute, 0},
		{"just used, but enough others", []facts{of("a", 4*time.Minute, 90, nil), of("b", day, 90, nil)}, 100, []string{"b"}, 0, 0},
		{"the same moment", []facts{of("b", day, 90, nil), of("a", day, 90, nil)}, 100, []string{"a"}, 0, 0},
		{"by hand alone is too much", []facts{of("a", day, 120, func(f *facts) { f.Cleanup = ByHand }), of("b", 2*day, 20, nil)}, 100, nil, 0, 20},
		{"in use and too much", []facts{of("a", day, 120, func(f *facts) { f.Waits = true }), of("b", 2*day, 20, nil)}, 100, nil, 0, 0},
	} {
		leave, again, over := overBudget(test.all, test.budget, clock)
		if !slices.Equal(leave, test.leave) || again != test.again || over != test.over {
			t.Errorf("%s: %q, %v, want %q, %v", test.name, leave, again, test.leave, test.again)
		}
	}
}

// drawStamp is any moment, of one of two boots or of none.
func drawStamp(t *rapid.T, label string) Stamp {
	return Stamp{
		Wall:      noon.Add(time.Duration(rapid.Int64Range(-400, 400).Draw(t, label+" wall")) * day),
		Boot:      rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, label+" boot"),
		SinceBoot: time.Duration(rapid.Int64Range(0, 1000).Draw(t, label+" since")) * time.Hour,
	}
}

func drawFacts(t *rapid.T, id string) facts {
	f := facts{
		ID:        id,
		State:     rapid.SampledFrom([]State{Creating, Ready, Ready, Ready, Ended, Archived, Removed}).Draw(t, "state"),
		Kind:      rapid.SampledFrom([]Kind{Temp, Persistent, Hybrid}).Draw(t, "kind"),
		Cleanup:   rapid.SampledFrom([]Cleanup{AtCompletion, AtRetention, ByHand, ToArchive}).Draw(t, "cleanup"),
		Retention: time.Duration(rapid.Int64Range(1, 100).Draw(t, "retention")) * time.Hour,
		Used:      drawStamp(t, "used"),
		Problem:   rapid.Bool().Draw(t, "problem"),
		Bytes:     rapid.Int64Range(-1, 100).Draw(t, "bytes"),
		Waits:     rapid.Bool().Draw(t, "waits"),
	}
	if rapid.Bool().Draw(t, "done") {
		done := drawStamp(t, "done")
		f.Done = &done
	}
	return f
}

func TestDueHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f, clock := drawFacts(t, "a"), drawStamp(t, "clock")
		v := due(f, clock)
		if v.In < 0 || v.In > f.Retention+bootRest {
			t.Fatalf("due in %v with a retention of %v", v.In, f.Retention)
		}
		if f.State == Ready && v.Words == "" {
			t.Fatal("nothing is said")
		}
		if v.Action != actNothing && (f.State != Ready || f.Cleanup == ByHand) {
			t.Fatalf("%+v", v)
		}
		if v.Action == actRemove && f.Kind != Temp {
			t.Fatal("versions are removed without being asked")
		}
		if v.due() {
			completed := f.Cleanup == AtCompletion && f.completed()
			if !completed && elapsed(f.Used, clock) < f.Retention {
				t.Fatalf("due after %v of %v", elapsed(f.Used, clock), f.Retention)
			}
			if !completed && clock.Boot != "" && !sameBoot(f.Used, clock) && clock.SinceBoot < bootRest {
				t.Fatal("due just after a start of the system")
			}
		} else if v.Action != actNothing && clock.Boot != "" {
			// When that time has passed it is due, whatever is done to the wall clock
			// within a boot.
			later := clock
			later.SinceBoot += v.In
			if sameBoot(f.Used, clock) {
				later.Wall = later.Wall.Add(time.Duration(rapid.Int64Range(-400, 400).Draw(t, "set by")) * day)
			} else {
				later.Wall = later.Wall.Add(v.In)
			}
			if again := due(f, later); !again.due() && !after(f.Used, clock) {
				t.Fatalf("%+v at %+v, then %+v at %+v", v, clock, again, later)
			}
		}
	})
}

func TestOverBudgetHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		clock := drawStamp(t, "clock")
		var all []facts
		for i := range rapid.IntRange(0, 8).Draw(t, "number") {
			f := drawFacts(t, fmt.Sprint(i))
			f.Used.Boot = clock.Boot // else "oldest" has no meaning across clocks that were set
			all = append(all, f)
		}
		budget := rapid.Int64Range(1, 300).Draw(t, "budget")
		leave, _, over := overBudget(all, budget, clock)
		total := int64(0)
		byID := map[string]facts{}
		for _, f := range all {
			byID[f.ID] = f
			if f.State == Ready || f.State == Ended {
				total += max(f.Bytes, 0)
			}
		}
		if over > 0 && len(leave) > 0 {
			t.Fatalf("%q go for nothing", leave)
		}
		for i, id := range leave {
			f := byID[id]
			if total <= budget {
				t.Fatalf("%s goes, and %d is within %d", id, total, budget)
			}
			if f.Cleanup == ByHand || f.Waits || f.State != Ready || elapsed(f.Used, clock) < budgetRest {
				t.Fatalf("%+v goes", f)
			}
			if i > 0 && after(byID[leave[i-1]].Used, f.Used) {
				t.Fatalf("%s goes before %s", leave[i-1], id)
			}
			total -= f.Bytes
		}
	})
}

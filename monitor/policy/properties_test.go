package policy

import (
	"maps"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"lamplighter/monitor"
)

// check runs a property over snapshots and rules.
func check(t *testing.T, property func(*rapid.T, *monitor.Snapshot, Rules)) {
	t.Helper()
	rapid.Check(t, func(t *rapid.T) {
		s := anySnapshot(t)
		property(t, s, anyRules(t, s))
	})
}

// ended are the instances that are to be ended, now or at a time.
func ended(actions []Action, does ...Do) map[monitor.Identity]bool {
	ids := map[monitor.Identity]bool{}
	for _, a := range actions {
		if slices.Contains(does, a.Do) {
			ids[a.ID] = true
		}
	}
	return ids
}

// TestWhoIsNeverEnded states the safety rules once more, in other words than the
// code does.
func TestWhoIsNeverEnded(t *testing.T) {
	check(t, func(t *rapid.T, s *monitor.Snapshot, r Rules) {
		for _, a := range actionsOf(s, r) {
			if a.Do != End && a.Do != Wait {
				continue
			}
			in := s.Instance(a.ID)
			e := in.Evidence
			forNothing := func(why string, is bool) {
				if is {
					t.Fatalf("%s by %q: %s: %+v", a.Do, a.Rule, why, in)
				}
			}
			forNothing("not recognised", !in.Recognised)
			forNothing("parked", in.State == monitor.StateParked)
			forNothing("shared", in.IsShared())
			forNothing("exited", in.Cause == monitor.CauseDefunct)
			forNothing("unidentified", in.Identity.PID == 0 || in.Identity.Start == 0)
			forNothing("our own keeper", in.Identity == in.Keeper)
			forNothing("pinned", in.Pinned)
			forNothing("kept", r.Kept[in.Identity].After(noon))
			forNothing("at work", in.Busy != nil && *in.Busy)
			forNothing("a session", in.Managed && in.Lifetime != monitor.LifetimeShared)
			forNothing("switched off", r.Off[a.Rule])
			forNothing("just refused", a.Do == End && e.Refused.Rule == string(a.Rule) && e.Refused.Until.After(noon))
			for _, o := range r.Overrides {
				project := in.ProjectName != "" || in.Kind != monitor.KindSerena
				forNothing("never", o.Never && o.matches(in, false))
				forNothing("perhaps never, by its project", o.Never && o.Project != "" && o.Client == "" && !project)
				forNothing("perhaps never, by its client", o.Never && o.Client != "" && o.Project == "" && in.Client == nil)
			}
			proven := e.Orphaned && e.ClientGone && (e.Transport == "stdio" || e.Transport == "")
			switch a.Rule {
			case Orphans:
				forNothing("not proven", !proven)
				forNothing("no time known", e.AloneSince.IsZero())
			case Idle, Memory:
				forNothing("nobody knows whether it is at work", in.Busy == nil || e.IdleSince.IsZero())
				forNothing("attached", !proven && !r.IdleAttached && e.Transport != "http" && e.Transport != "sse")
				forNothing("REPL", !proven && !r.IdleREPL && (e.KeepsState == nil || *e.KeepsState))
				forNothing("small", a.Rule == Memory && (in.RSSBytes == 0 || in.RSSBytes <= r.MemoryOver*9/10 || !r.MemoryEnd))
				forNothing("no more than the limit", a.Rule == Memory && in.Evidence.SteadyBytes <= r.MemoryOver)
			default:
				forNothing("a rule that only tells", true)
			}
		}
	})
}

// TestOrdersSpare holds for what a user orders too.
func TestOrdersSpare(t *testing.T) {
	check(t, func(t *rapid.T, s *monitor.Snapshot, r Rules) {
		for _, what := range []Rule{Idle, Orphans, Everything} {
			seen := map[monitor.Identity]bool{}
			for _, a := range Select(s, what, r) {
				in := s.Instance(a.ID)
				e := in.Evidence
				if seen[a.ID] {
					t.Fatalf("%s: two actions about %v", what, a.ID)
				}
				seen[a.ID] = true
				if (a.Do == Refuse) != (a.Because != "") || a.Do != Refuse && a.Do != End {
					t.Fatalf("%s: %+v", what, a)
				}
				if !in.Recognised || in.State == monitor.StateParked {
					t.Fatalf("%s means %+v", what, in)
				}
				if a.Do == Refuse {
					continue
				}
				if in.Pinned || in.Busy != nil && *in.Busy || in.Identity.PID == 0 || in.Identity.Start == 0 {
					t.Fatalf("%s ends %+v", what, in)
				}
				proven := e.Orphaned && e.ClientGone && (e.Transport == "stdio" || e.Transport == "")
				switch what {
				case Orphans:
					if !proven {
						t.Fatalf("%s ends %+v", what, in)
					}
				case Idle:
					if in.Busy == nil || e.IdleSince.IsZero() || e.IdleSince.After(noon) || !proven && !r.IdleAttached && e.Transport != "http" && e.Transport != "sse" {
						t.Fatalf("%s ends %+v", what, in)
					}
				}
			}
		}
	})
}

func TestShapeOfDecisions(t *testing.T) {
	check(t, func(t *rapid.T, s *monitor.Snapshot, r Rules) {
		at, strong := -1, map[monitor.Identity]bool{}
		notices := map[monitor.Identity]map[Rule]bool{}
		for _, a := range actionsOf(s, r) {
			place := slices.IndexFunc(s.Instances, func(in *monitor.Instance) bool { return in.Identity == a.ID })
			if place < at {
				t.Fatal("the actions are not in the order of the snapshot")
			}
			at = place
			if a.Reason == "" || len(a.Evidence()) == 0 || a.Label == "" || !slices.Contains(All, a.Rule) {
				t.Fatalf("an action lacks something: %+v", a)
			}
			if a.At.IsZero() || a.At.After(noon) != (a.Do == Wait) {
				t.Fatalf("%s at %v: %+v", a.Do, a.At, a)
			}
			switch a.Do {
			case End, Wait, Refuse:
				if strong[a.ID] {
					t.Fatalf("more than one thing is done about %v", a.ID)
				}
				strong[a.ID] = true
				if (a.Do == Refuse) != (a.Because != "") {
					t.Fatalf("%+v", a)
				}
			case Notify:
				if notices[a.ID][a.Rule] {
					t.Fatalf("told twice: %+v", a)
				}
				if notices[a.ID] == nil {
					notices[a.ID] = map[Rule]bool{}
				}
				notices[a.ID][a.Rule] = true
			default:
				t.Fatalf("%+v", a)
			}
		}
	})
}

func TestReorderingChangesNothing(t *testing.T) {
	check(t, func(t *rapid.T, s *monitor.Snapshot, r Rules) {
		shuffled := &monitor.Snapshot{At: noon, AwakeSince: s.AwakeSince, Instances: rapid.Permutation(s.Instances).Draw(t, "shuffled")}
		byID := func(s *monitor.Snapshot) map[monitor.Identity][]explained {
			m := map[monitor.Identity][]explained{}
			for _, a := range explain(actionsOf(s, r)) {
				m[a.ID] = append(m[a.ID], a)
			}
			for _, what := range []Rule{Idle, Orphans, Everything} {
				for _, a := range explain(Select(s, what, r)) {
					m[a.ID] = append(m[a.ID], a)
				}
			}
			return m
		}
		if a, b := byID(s), byID(shuffled); !reflect.DeepEqual(a, b) {
			t.Fatalf("%+v\nin another order\n%+v", a, b)
		}
	})
}

// explained is an action with its evidence, which can be compared.
type explained struct {
	Action
	facts []string
}

func explain(actions []Action) (list []explained) {
	for _, a := range actions {
		facts := a.Evidence()
		a.Evidence = nil
		list = append(list, explained{a, facts})
	}
	return list
}

// TestDecidingChangesNothing: a snapshot is shared by everybody.
func TestDecidingChangesNothing(t *testing.T) {
	check(t, func(t *rapid.T, s *monitor.Snapshot, r Rules) {
		before := slices.Clone(s.Instances)
		off, kept := maps.Clone(r.Off), maps.Clone(r.Kept)
		first := explain(actionsOf(s, r))
		Select(s, Everything, r)
		r.Standing(s)
		if !reflect.DeepEqual(before, s.Instances) || !maps.Equal(off, r.Off) || !maps.Equal(kept, r.Kept) {
			t.Fatal("deciding has changed what it was given")
		}
		if again := explain(actionsOf(s, r)); !reflect.DeepEqual(first, again) {
			t.Fatalf("%+v, and then %+v", first, again)
		}
	})
}

func TestNothingIsDoneWhilePaused(t *testing.T) {
	check(t, func(t *rapid.T, s *monitor.Snapshot, r Rules) {
		r.Paused, r.PausedUntil = true, time.Time{}
		for _, a := range actionsOf(s, r) {
			if a.Do != Refuse {
				t.Fatalf("%+v", a)
			}
		}
	})
}

// TestSleepDoesNotCount: what began before the machine woke is judged as if it
// had begun when it woke.
func TestSleepDoesNotCount(t *testing.T) {
	check(t, func(t *rapid.T, s *monitor.Snapshot, r Rules) {
		awake := s.AwakeSince
		later := &monitor.Snapshot{At: noon, AwakeSince: awake, Instances: slices.Clone(s.Instances)}
		for _, in := range later.Instances {
			e := &in.Evidence
			for _, since := range []*time.Time{&e.AloneSince, &e.IdleSince, &e.RedSince} {
				if !since.IsZero() && since.Before(awake) {
					*since = awake
				}
			}
		}
		if a, b := short(actionsOf(s, r)), short(actionsOf(later, r)); !slices.Equal(a, b) {
			t.Fatalf("%q, and with what began at waking %q", a, b)
		}
		s.AwakeSince = noon
		if ids := ended(actionsOf(s, r), End); len(ids) > 0 {
			t.Fatalf("just awake, it ends %v", ids)
		}
	})
}

// TestClockSetBack: after the clock was set back by a day, what was noted before
// lies in the future.
func TestClockSetBack(t *testing.T) {
	check(t, func(t *rapid.T, s *monitor.Snapshot, r Rules) {
		for _, in := range s.Instances {
			e := &in.Evidence
			for _, since := range []*time.Time{&e.AloneSince, &e.IdleSince, &e.RedSince} {
				if !since.IsZero() && since.Before(noon) {
					*since = since.Add(24*time.Hour + time.Minute)
				}
			}
		}
		if ids := ended(actionsOf(s, r), End); len(ids) > 0 {
			t.Fatalf("it ends %v", ids)
		}
	})
}

// TestLongerNeverEndsMore: whoever raises a limit, or takes a permission away,
// never has more ended than before.
func TestLongerNeverEndsMore(t *testing.T) {
	check(t, func(t *rapid.T, s *monitor.Snapshot, r Rules) {
		longer := func(d time.Duration, label string) time.Duration {
			if d == 0 {
				return 0 // off
			}
			return d + anySpan(t, label)
		}
		more := r
		more.OrphanGrace = longer(r.OrphanGrace, "more grace")
		more.IdleAfter = longer(r.IdleAfter, "more idle")
		more.ZombieAfter = longer(r.ZombieAfter, "more zombie")
		if r.MemoryOver > 0 {
			more.MemoryOver += rapid.Uint64Range(0, 2).Draw(t, "more GB") * 1_000_000_000
		}
		more.IdleAttached = r.IdleAttached && rapid.Bool().Draw(t, "still attached")
		more.IdleREPL = r.IdleREPL && rapid.Bool().Draw(t, "still REPL")
		more.MemoryEnd = r.MemoryEnd && rapid.Bool().Draw(t, "memory still ends")
		more.Off = maps.Clone(r.Off)
		if rapid.Bool().Draw(t, "another off") {
			more.Off[rapid.SampledFrom(All).Draw(t, "which")] = true
		}
		before, after := actionsOf(s, r), actionsOf(s, more)
		for id := range ended(after, End) {
			if !ended(before, End)[id] {
				t.Fatalf("%v is ended only with more care", id)
			}
		}
		for id := range ended(after, End, Wait) {
			if !ended(before, End, Wait)[id] {
				t.Fatalf("%v is to be ended only with more care", id)
			}
		}
	})
}

// TestNothingChangesBeforeNext: until then time alone changes no decision, and
// not what an order would end.
func TestNothingChangesBeforeNext(t *testing.T) {
	at := func(s *monitor.Snapshot, now time.Time) *monitor.Snapshot {
		later := *s
		later.At = now
		return &later
	}
	decided := func(s *monitor.Snapshot, r Rules) (list []Action) {
		for _, a := range actionsOf(s, r) {
			a.Evidence = nil
			if a.Do == Notify {
				a.At = time.Time{} // of what is true at once it is now
			}
			list = append(list, a)
		}
		return list
	}
	check(t, func(t *rapid.T, s *monitor.Snapshot, r Rules) {
		_, next := Decide(s, r)
		last := noon.Add(100 * time.Hour)
		if !next.IsZero() {
			last = next.Add(-1)
		}
		between := noon.Add(time.Duration(rapid.Int64Range(0, int64(last.Sub(noon))).Draw(t, "between")))
		want, standing := decided(s, r), r.Standing(s)
		for _, now := range []time.Time{between, last} {
			if got := decided(at(s, now), r); !reflect.DeepEqual(got, want) {
				t.Fatalf("at %v, before %v: %+v, not %+v", now, next, got, want)
			}
			if got := r.Standing(at(s, now)); !reflect.DeepEqual(got, standing) {
				t.Fatalf("at %v, before %v: %+v, not %+v", now, next, got, standing)
			}
		}
	})
}

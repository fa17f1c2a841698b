package policy

import (
	"slices"
	"time"

	"lamplighter/monitor"
)

// Decide says what the rules want to be done now: for each instance at most one
// of End, Wait and Refuse, and any number of Notify. The actions come in the
// order of the snapshot, and what is decided about an instance does not depend on
// that order. Instances that the rules say nothing about have no action.
//
// It rests on what the snapshot knows, at the moment of the snapshot. Whoever carries
// an action out has to look again just before, because a call may come at any moment.
//
// next is when it, or Standing, may say something else although nothing has happened
// but that time has passed; zero: never. Something is due then, a pause ends, an
// instance is no longer kept, or an order to stop the idle ones means one more.
func Decide(s *monitor.Snapshot, r Rules) (actions []Action, next time.Time) {
	if r.Paused && r.PausedUntil.After(s.At) {
		next = r.PausedUntil
	}
	eachLook(s, &r, func(c *look, found []Action) {
		actions = c.decide(actions, found)
		until, _ := c.r.KeptAt(c.in.Identity, c.now)
		next = c.sooner(c.sooner(next, until), c.meantFrom())
		for i := range found {
			if found[i].Do != "" {
				next = c.sooner(next, found[i].At)
			}
		}
	})
	return actions, next
}

// Foreseen says when the user will be told of servers that are idle and that somebody
// needs: each waits for its time, and nothing is done then.
func Foreseen(s *monitor.Snapshot, r Rules) (actions []Action) {
	if r.PausedAt(s.At) {
		return nil
	}
	eachLook(s, &r, func(c *look, found []Action) {
		for _, f := range found {
			if f.Rule == Idle && f.Do == Notify && !f.due(c.now) && !repeats(f.Rule, found) {
				f.Do = Wait
				actions = append(actions, c.action(f))
			}
		}
	})
	return actions
}

// sooner is the sooner of two moments, the second of which counts when it is still to
// come.
func (c *look) sooner(next, at time.Time) time.Time {
	if at.After(c.now) && (next.IsZero() || at.Before(next)) {
		return at
	}
	return next
}

// decide adds what is to be done about one instance.
func (c *look) decide(actions, found []Action) []Action {
	strongest, paused := c.settle(found), c.r.PausedAt(c.now)
	if strongest.Do == End && paused {
		strongest.Do, strongest.Because = Refuse, "the policies are paused"
	}
	if strongest.Do != "" && !(paused && strongest.Do == Wait) {
		actions = append(actions, c.action(strongest))
	}
	if paused || strongest.Do == End {
		return actions // nothing is told in a pause, and soon there is nothing left to tell of
	}
	for i := range found {
		if f := &found[i]; f.Do == Notify && f.due(c.now) && !repeats(f.Rule, found) {
			actions = append(actions, c.action(*f))
		}
	}
	return actions
}

// due reports whether its time has come. What a rule finds is an Action, too: with a Do of
// "" nothing, and with End also before its time, never Wait. Before that time nothing is
// done, but the user may know what will be.
func (a *Action) due(now time.Time) bool { return !a.At.After(now) }

// eachLook calls yield with what every rule finds about each instance, the one
// about orphans first. The list is valid during the call only.
func eachLook(s *monitor.Snapshot, r *Rules, yield func(*look, []Action)) {
	repeated := repeatedSince(s, r)
	var found [5]Action
	for _, in := range s.Instances {
		if beyond(in) {
			continue
		}
		c := newLook(in, r, s)
		c.repeated = repeated
		found = [5]Action{}
		for i, find := range [...]func(*look) Action{(*look).orphaned, (*look).idle, (*look).red, (*look).memory, (*look).duplicate} {
			if !r.Off[All[i]] {
				found[i] = find(&c)
			}
		}
		postpone(found[:], in.Evidence.Refused)
		yield(&c, found[:])
	}
}

// postpone puts an end off that was refused, and those by the rules that come after the
// one that tried: what prevents it would prevent them too. The rules are in the order of
// All.
func postpone(found []Action, refused monitor.Refused) {
	first := slices.Index(All, Rule(refused.Rule))
	if first < 0 {
		return
	}
	for i := range found[first:] {
		if f := &found[first+i]; f.Do == End && refused.Until.After(f.At) {
			f.At = refused.Until
		}
	}
}

// settle picks the one thing that is done from what the rules found: what ends
// it goes before what waits, the sooner first, and that before what is refused.
func (c *look) settle(found []Action) Action {
	var best Action
	for i := range found {
		switch f := &found[i]; {
		case f.Do == End && f.due(c.now):
			return *f
		case f.Do == End && (best.Do != Wait || f.At.Before(best.At)):
			best = *f
			best.Do = Wait
		case f.Do == Refuse && f.due(c.now) && best.Do == "":
			best = *f
		}
	}
	return best
}

// repeats tells that a notice by a rule says no more than the rule about orphans does: a
// server without a client is red, and has no calls.
func repeats(rule Rule, found []Action) bool {
	orphan := found[0].Do
	return (rule == Zombies || rule == Idle) && (orphan == End || orphan == Notify)
}

// beyond tells that no rule and no order is about the instance: nobody knows it
// for a server, or nothing of it runs.
func beyond(in *monitor.Instance) bool {
	return !in.Recognised || in.State == monitor.StateParked || in.Cause == monitor.CauseDefunct
}

// action is what others see of what a rule has found. One without a Reason has that of its
// rule, which is put into words for actions only.
func (c *look) action(f Action) Action {
	if f.Reason == "" {
		f.Reason = c.reason(f.Rule)
	}
	f.ID, f.Label, f.Evidence, f.GivesUp = c.in.Identity, c.in.Label(), c.evidence, c.givesUp && f.Do == Notify
	return f
}

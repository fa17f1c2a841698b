package policy

import (
	"cmp"
	"time"

	"lamplighter/monitor"
)

// Select says what an order of the user is about: End for each instance that it
// means, Refuse with Because for one that it means and that must not be ended, or
// that nobody can tell about. One that the order plainly does not mean, such as a
// busy one by an order for the idle ones, has no action.
//
// The user is there, so that there is no grace, and neither a pause nor that the
// machine slept counts. The actions come in the order of the snapshot.
func Select(s *monitor.Snapshot, rule Rule, r Rules) []Action {
	var actions []Action
	eachMeant(s, rule, r, func(c *look, f Action) { actions = append(actions, c.action(f)) })
	return actions
}

// eachMeant calls yield for each instance that an order is about.
func eachMeant(s *monitor.Snapshot, rule Rule, r Rules, yield func(*look, Action)) {
	for _, in := range s.Instances {
		if beyond(in) {
			continue
		}
		c := newLook(in, &r, s)
		c.ordered = true
		var f Action
		switch rule {
		case Idle:
			f = c.meantIdle()
		case Orphans:
			f = c.orphan(c.now)
		case Everything:
			f = c.meantAll()
		}
		if f.Do != "" {
			yield(&c, f)
		}
	}
}

// meantIdle judges an instance by an order for the idle ones. One that clients share is
// meant as well: the next request starts it again.
func (c *look) meantIdle() Action {
	c.r.IdleAfter, c.awake = c.idleForOrder(), time.Time{}
	if !c.busy() && !c.knownIdle() {
		return Action{Rule: Idle, Do: Refuse, At: c.now, Reason: "it may be idle", Because: silent}
	}
	f := c.idle()
	if !f.due(c.now) {
		return Action{}
	}
	if f.At = c.now; f.Do == Notify {
		f.Do = Refuse
	}
	return f
}

// idleForOrder is how long the instance has to have been idle for an order to
// stop the idle ones, whether the rule is switched off or not.
func (c *look) idleForOrder() time.Duration {
	return cmp.Or(max(c.r.IdleAfter, 0), idleForOrder)
}

// meantFrom is from when an order to stop the idle ones ends the instance, if
// nothing happens; zero: it does not.
func (c *look) meantFrom() time.Time {
	if !c.knownIdle() || c.forbidden != "" || c.needed() != "" {
		return time.Time{}
	}
	return c.in.Evidence.IdleSince.Add(c.idleForOrder())
}

// meantAll judges an instance by an order for all of them. The stop ladder looks
// for what else may stand against it.
func (c *look) meantAll() Action {
	f := Action{Do: Refuse, At: c.now, Reason: "all are meant"}
	switch {
	case c.unidentified():
		f.Because = unidentified
	case c.in.Pinned:
		f.Because = pinned
	case c.busy():
		f.Because = atWork
	default:
		f.Do = End
	}
	return f
}

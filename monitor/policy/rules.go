package policy

import (
	"cmp"
	"time"

	"lamplighter/monitor"
)

// idleForMemory is how long an instance has to have been idle before it is ended
// for its memory: between two calls there are pauses.
const idleForMemory = 10 * time.Minute

// orphaned is the rule for a server whose client is gone.
func (c *look) orphaned() Action {
	at := c.due(c.in.Evidence.AloneSince, c.r.OrphanGrace)
	if c.r.OrphanGrace <= 0 || at.IsZero() {
		return Action{}
	}
	return c.orphan(at)
}

// orphan judges a server whose client is gone, from a moment on.
func (c *look) orphan(at time.Time) Action {
	if e := &c.in.Evidence; !e.Orphaned && !e.Suspected {
		return Action{}
	}
	f := c.alone()
	f.Rule, f.At = Orphans, at
	switch shared := c.shared(); {
	case c.forbidden != "" && f.Do == Notify && !c.ordered:
		return Action{}
	case c.forbidden != "":
		f.Do, f.Because = Refuse, c.forbidden
	case f.Do == End && c.ofSession():
		f.Do, f.Because = Refuse, ofSession
	case shared != "":
		f.Do, f.Because = Refuse, shared
	case f.Do == Notify && c.ordered:
		f.Do = Refuse
	}
	return f
}

// alone judges the evidence that nobody is connected to a server over stdio: End
// for a proven orphan that does not work, else with what stands against it.
func (c *look) alone() Action {
	e := &c.in.Evidence
	switch {
	case c.provenOrphan() && c.busy():
		return Action{Do: Refuse, Reason: client(c.in) + " has ended", Because: atWork}
	case c.provenOrphan():
		return Action{Do: End, Reason: client(c.in) + " has ended"}
	case overHTTP(e.Transport):
		return Action{Do: Notify, Reason: client(c.in) + " seems to be gone", Because: "others may be connected over HTTP"}
	case e.Orphaned:
		return Action{Do: Notify, Reason: client(c.in) + " has closed the connection", Because: "its client was not seen to end"}
	case e.ClientGone:
		return Action{Do: Notify, Reason: client(c.in) + " has ended", Because: unknownUsers}
	}
	return Action{Do: Notify, Reason: "its client seems to be gone", Because: "its client was never seen, so that it may be in use"}
}

// idle is the rule for a server that nobody has asked anything for a time.
func (c *look) idle() Action {
	if c.r.IdleAfter <= 0 || !c.knownIdle() {
		return Action{}
	}
	f := Action{Rule: Idle, Do: Refuse, At: c.due(c.in.Evidence.IdleSince, c.r.IdleAfter)}
	if f.Because = cmp.Or(c.forbidden, c.shared()); f.Because != "" {
		return f
	}
	if f.Do, f.Because = Notify, c.needed(); f.Because == "" {
		f.Do = End
	}
	return f
}

// red is the rule for a server that needs attention. It ends nothing: dead weight
// beyond doubt is only a proven orphan, which has a rule of its own, and whoever
// switched that one off wants it so. A hung server may be at work, and a suspended
// one may be continued.
func (c *look) red() Action {
	at := c.due(c.in.Evidence.RedSince, c.r.ZombieAfter)
	if c.r.ZombieAfter <= 0 || c.in.State != monitor.StateZombie || at.IsZero() || c.forbidden != "" {
		return Action{}
	}
	f := Action{Rule: Zombies, Do: Notify, At: at}
	switch {
	case c.busy():
		f.Because = atWork
	case c.deadToAll():
		c.givesUp, f.Reason, f.Because = f.due(c.now), c.reason(Zombies)+" and no client has it", givenUp
	case c.in.Cause == monitor.CauseSuspended:
		f.Because = "it may be continued"
	case c.in.Cause.OfHealth():
		f.Because = "its process is well"
	case c.in.Cause == monitor.CauseOrphaned || c.in.Cause == monitor.CauseSuspected:
		f.Because = "the rule for orphans does not end it"
	default:
		f.Because = silent
	}
	return f
}

// deadToAll tells that the server answers nobody, and that nobody waits for it. What we
// have started is ended by whoever asked for it, or parked.
func (c *look) deadToAll() bool {
	e := &c.in.Evidence
	silenced := c.in.Cause == monitor.CauseSuspended || c.in.Cause == monitor.CauseUnreachable
	return silenced && !c.in.Managed && (e.NoUsers || e.Orphaned || e.Suspected)
}

// memory is the rule for a server that uses too much. Only a user who keeps the
// instance hears nothing of it: a pin says that it is not to be ended, not that
// its size is no news.
func (c *look) memory() Action {
	_, isKept := c.r.KeptAt(c.in.Identity, c.now)
	if isKept || c.r.MemoryOver == 0 || max(c.in.RSSBytes, c.in.Evidence.SteadyBytes) <= c.r.MemoryOver {
		return Action{}
	}
	f := Action{Rule: Memory, Do: Notify, At: c.now}
	switch {
	case !c.r.MemoryEnd:
	case c.forbidden != "":
		f.Because = c.forbidden
	case c.busy():
		f.Because = atWork
	case !c.knownIdle():
		f.Because = silent
	default:
		if f.Because = cmp.Or(c.shared(), c.needed()); f.Because == "" {
			f.Do, f.At = End, c.due(c.in.Evidence.IdleSince, idleForMemory)
		}
	}
	return f
}

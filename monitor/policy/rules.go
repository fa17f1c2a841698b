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
func (c *look) orphaned() finding {
	at := c.due(c.in.Evidence.AloneSince, c.r.OrphanGrace)
	if c.r.OrphanGrace <= 0 || at.IsZero() {
		return finding{}
	}
	return c.orphan(at)
}

// orphan judges a server whose client is gone, from a moment on.
func (c *look) orphan(at time.Time) finding {
	if e := &c.in.Evidence; !e.Orphaned && !e.Suspected {
		return finding{}
	}
	f := c.alone()
	f.rule, f.at = Orphans, at
	switch shared := c.shared(); {
	case c.forbidden != "" && f.do == Notify && !c.ordered:
		return finding{}
	case c.forbidden != "":
		f.do, f.because = Refuse, c.forbidden
	case f.do == End && c.ofSession():
		f.do, f.because = Refuse, ofSession
	case shared != "":
		f.do, f.because = Refuse, shared
	case f.do == Notify && c.ordered:
		f.do = Refuse
	}
	return f
}

// alone judges the evidence that nobody is connected to a server over stdio: End
// for a proven orphan that does not work, else with what stands against it.
func (c *look) alone() finding {
	e := &c.in.Evidence
	switch {
	case c.provenOrphan() && c.busy():
		return finding{do: Refuse, reason: client(c.in) + " has ended", because: atWork}
	case c.provenOrphan():
		return finding{do: End, reason: client(c.in) + " has ended"}
	case overHTTP(e.Transport):
		return finding{do: Notify, reason: client(c.in) + " seems to be gone", because: "others may be connected over HTTP"}
	case e.Orphaned:
		return finding{do: Notify, reason: client(c.in) + " has closed the connection", because: "its client was not seen to end"}
	case e.ClientGone:
		return finding{do: Notify, reason: client(c.in) + " has ended", because: unknownUsers}
	}
	return finding{do: Notify, reason: "its client seems to be gone", because: "its client was never seen, so that it may be in use"}
}

// idle is the rule for a server that nobody has asked anything for a time.
func (c *look) idle() finding {
	if c.r.IdleAfter <= 0 || !c.knownIdle() {
		return finding{}
	}
	f := finding{rule: Idle, do: Refuse, at: c.due(c.in.Evidence.IdleSince, c.r.IdleAfter)}
	if f.because = cmp.Or(c.forbidden, c.shared()); f.because != "" {
		return f
	}
	if f.do, f.because = Notify, c.needed(); f.because == "" {
		f.do = End
	}
	return f
}

// red is the rule for a server that needs attention. It ends nothing: dead weight
// beyond doubt is only a proven orphan, which has a rule of its own, and whoever
// switched that one off wants it so. A hung server may be at work, and a suspended
// one may be continued.
func (c *look) red() finding {
	at := c.due(c.in.Evidence.RedSince, c.r.ZombieAfter)
	if c.r.ZombieAfter <= 0 || c.in.State != monitor.StateZombie || at.IsZero() || c.forbidden != "" {
		return finding{}
	}
	f := finding{rule: Zombies, do: Notify, at: at}
	switch {
	case c.busy():
		f.because = atWork
	case c.deadToAll():
		c.givesUp, f.reason, f.because = f.due(c.now), c.reason(Zombies)+" and no client has it", givenUp
	case c.in.Cause == monitor.CauseSuspended:
		f.because = "it may be continued"
	case c.in.Cause.OfHealth():
		f.because = "its process is well"
	case c.in.Cause == monitor.CauseOrphaned || c.in.Cause == monitor.CauseSuspected:
		f.because = "the rule for orphans does not end it"
	default:
		f.because = silent
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
func (c *look) memory() finding {
	_, isKept := c.r.KeptAt(c.in.Identity, c.now)
	if isKept || c.r.MemoryOver == 0 || max(c.in.RSSBytes, c.in.Evidence.SteadyBytes) <= c.r.MemoryOver {
		return finding{}
	}
	f := finding{rule: Memory, do: Notify, at: c.now}
	switch {
	case !c.r.MemoryEnd:
	case c.forbidden != "":
		f.because = c.forbidden
	case c.busy():
		f.because = atWork
	case !c.knownIdle():
		f.because = silent
	default:
		if f.because = cmp.Or(c.shared(), c.needed()); f.because == "" {
			f.do, f.at = End, c.due(c.in.Evidence.IdleSince, idleForMemory)
		}
	}
	return f
}

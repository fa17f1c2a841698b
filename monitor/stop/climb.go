package stop

import (
	"time"

	"lamplighter/monitor"
)

// rung is how far a climb has come. It only grows.
type rung int

const (
	rungHeld       rung = iota // the whole tree is held, nothing was sent
	rungAsked                  // the server was asked to end
	rungRoot                   // the root of the tree was terminated
	rungTerminated             // everything was
	rungKilled                 // everything that was left was killed
)

// member is a process of the tree.
type member struct {
	id      monitor.Identity
	name    string // of its program, safe to show
	alive   bool
	spared  error // why it is never signalled: ErrOurs, ErrAncestor or ErrOtherUser; nil = it may be
	refused bool  // the system did not let us signal it
	rss     uint64

	suspended  bool // by somebody else
	still      bool // suspended by us, until it is continued
	terminated bool
	killed     bool
}

// climb is everything that decides the next step. Plain data: what happens
// around it is put in by whoever climbs: members, looked and did.
type climb struct {
	limits  Limits
	canAsk  bool // it has a dashboard that can be asked
	atOnce  bool // the system knows no gentle end (Windows): root and rest in one
	canHold bool // processes can be suspended

	server  monitor.Identity
	root    monitor.Identity
	members []member // the root first, parents before children

	rung  rung
	now   time.Duration // since the climb began, on the monotonic clock
	since time.Duration // when the rung was reached

	unheard bool // asking failed
	final   bool // what is left is being suspended to be killed
	freezes int  // how often something was made to stand still since the last signal
	kills   int

	freezing bool          // the step taken last made something stand still
	frozen   time.Duration // how long such steps have taken together

	leadGone time.Duration // when the server (rungAsked) or the root (rungRoot) was first seen to be gone; 0 = not
}

// The bounds of what could go on for ever with a tree that never stands still.
const (
	maxFreezes = 32
	maxKills   = 8
)

// action is what to do next.
type action int

const (
	actWait      action = iota // until something of it ends, the time has come, or a while has passed
	actAsk                     // the server to end
	actFreeze                  // suspend, and wait until they stand still
	actTerminate               // SIGTERM, then SIGCONT
	actKill                    // SIGKILL
	actDone                    // all of it is gone
	actGiveUp                  // something resists SIGKILL, or must not be signalled
)

type step struct {
	do    action
	to    []monitor.Identity
	until time.Duration // with actWait
	final bool          // with actFreeze: to be killed, not terminated
}

// next decides the next step. It is called after each look at the tree.
func (c *climb) next() step {
	alive := c.pick(func(*member) bool { return true })
	if len(alive) == 0 {
		return step{do: actDone}
	}
	if c.final && c.rung < rungKilled {
		return c.finishOff()
	}
	switch c.rung {
	case rungHeld:
		if c.canAsk {
			return step{do: actAsk}
		}
	case rungAsked:
		if until := c.patience(c.limits.Ask); !c.unheard && c.now < until {
			return step{do: actWait, until: until}
		}
	case rungRoot:
		if until := c.patience(c.limits.Root); c.now < until {
			return step{do: actWait, until: until}
		}
	case rungTerminated:
		// What is started now is not asked: it is killed with the rest.
		if until := c.since + c.limits.Rest; c.now < until {
			return step{do: actWait, until: until}
		}
		return c.finishOff()
	case rungKilled:
		until := c.since + c.limits.Kill
		if c.now >= until {
			return step{do: actGiveUp}
		}
		if fresh := c.pick(func(m *member) bool { return !m.killed }); len(fresh) > 0 && c.kills < maxKills {
			return c.finishOff()
		}
		return step{do: actWait, until: until}
	}
	return c.terminate()
}

// terminate begins with the root: what it started usually ends with it, while
// a supervisor that sees its children end starts new ones. Whoever gets the
// signal stands still for that moment, until a look has found everything that
// it has started: its last child would be nobody's otherwise.
func (c *climb) terminate() step {
	to := c.pick(func(m *member) bool { return !m.terminated })
	if len(to) == 0 {
		return c.finishOff()
	}
	if c.rung < rungRoot && !c.atOnce && to[0] == c.root {
		// A wrapper passes the signal on and waits, for ever if what is below
		// it is suspended.
		to = c.pick(func(m *member) bool { return !m.terminated && (m.id == c.root || m.suspended) })
	}
	if moving := c.moving(to); len(moving) > 0 {
		return step{do: actFreeze, to: moving}
	}
	return step{do: actTerminate, to: to}
}

// finishOff kills what is left, standing still as well.
func (c *climb) finishOff() step {
	left := c.pick(func(m *member) bool { return !m.killed })
	if moving := c.moving(left); len(moving) > 0 {
		return step{do: actFreeze, to: moving, final: true}
	}
	return step{do: actKill, to: left}
}

// moving are those that do not stand still yet and can be made to. A tree that
// grows faster than it can be made to stand still is not tried for ever.
func (c *climb) moving(of []monitor.Identity) []monitor.Identity {
	if !c.canHold || c.freezes >= maxFreezes || c.freezeTime() <= 0 {
		return nil
	}
	among := make(map[monitor.Identity]bool, len(of))
	for _, id := range of {
		among[id] = true
	}
	return c.pick(func(m *member) bool { return !m.still && !m.suspended && among[m.id] })
}

// freezeLimit is how long a member may take to stand still. One that waits in
// the kernel does not until it has what it waits for; it forks nothing either.
const freezeLimit = 200 * time.Millisecond

// freezeTime is how long the next of these steps may take.
func (c *climb) freezeTime() time.Duration { return min(freezeLimit, c.limits.Freeze-c.frozen) }

// pick returns the living members that may be signalled and satisfy want. One
// that refused a signal is still waited for while others are.
func (c *climb) pick(want func(*member) bool) []monitor.Identity {
	var ids []monitor.Identity
	for i := range c.members {
		m := &c.members[i]
		if m.alive && m.spared == nil && !m.refused && want(m) {
			ids = append(ids, m.id)
		}
	}
	return ids
}

// patience is when the rung's time is over. When the one that was asked or
// terminated is gone, what it leaves behind has only a moment.
func (c *climb) patience(limit time.Duration) time.Duration {
	until := c.since + limit
	if c.leadGone > 0 {
		until = min(until, c.leadGone+c.limits.Settle)
	}
	return until
}

// looked takes note of a look at the tree. The members are up to date by then.
func (c *climb) looked(now time.Duration) {
	if c.freezing {
		c.frozen += now - c.now
		c.freezing = false
	}
	c.now = now
	lead := c.server
	if c.rung == rungRoot {
		lead = c.root
	}
	if (c.rung == rungAsked || c.rung == rungRoot) && c.leadGone == 0 && !c.lives(lead) {
		c.leadGone = now
	}
}

func (c *climb) lives(id monitor.Identity) bool {
	for i := range c.members {
		if c.members[i].id == id {
			return c.members[i].alive
		}
	}
	return false
}

// did takes note that a step was taken.
func (c *climb) did(s step) {
	switch s.do {
	case actAsk:
		c.reach(rungAsked)
	case actFreeze:
		c.final = c.final || s.final
		c.freezes++
		c.freezing = true
		c.change(s.to, func(m *member) { m.still = true })
	case actTerminate:
		rootFirst := c.rung < rungRoot && !c.atOnce && s.to[0] == c.root
		c.freezes = 0
		c.change(s.to, func(m *member) { m.still, m.suspended, m.terminated = false, false, true })
		if rootFirst {
			c.reach(rungRoot)
		} else {
			c.reach(rungTerminated)
		}
	case actKill:
		c.freezes = 0
		c.kills++
		c.change(s.to, func(m *member) { m.killed = true })
		c.reach(rungKilled)
	}
}

// change changes some members.
func (c *climb) change(ids []monitor.Identity, by func(*member)) {
	wanted := make(map[monitor.Identity]bool, len(ids))
	for _, id := range ids {
		wanted[id] = true
	}
	for i := range c.members {
		if wanted[c.members[i].id] {
			by(&c.members[i])
		}
	}
}

func (c *climb) reach(r rung) {
	if r > c.rung {
		c.rung, c.since, c.leadGone = r, c.now, 0
	}
}

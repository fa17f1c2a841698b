package stop

import (
	"context"
	"fmt"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/process"
)

// step is one rung of the ladder: what is sent to whom, and how long is waited then.
type step struct {
	kind  monitor.EventKind
	to    func(*member) bool
	send  func(*climb, []*member)
	times int           // that it is sent at most: again to those who have come meanwhile
	limit time.Duration // for all of that
	lead  *member       // see wait
}

// maxKills bounds what could go on for ever with a tree that never stands still.
const maxKills = 8

// steps are those that follow when a server was asked to end, or cannot be asked.
func (c *climb) steps() []step {
	// The root comes first: what it started usually ends with it, while a supervisor
	// that sees its children end starts new ones. A wrapper passes the signal on and
	// waits, for ever if what is below it is suspended.
	root := c.members[0]
	first := func(m *member) bool {
		return !c.atOnce && root.reachable() && !m.terminated && (m == root || m.suspended)
	}
	rest := func(m *member) bool { return !m.terminated }
	return []step{
		{monitor.EventTerminated, first, (*climb).terminate, 1, c.limits.Root, root},
		// What is started from now on is not asked: it is killed with the rest.
		{monitor.EventTerminated, rest, (*climb).terminate, 1, c.limits.Rest, nil},
		c.killing(),
	}
}

// killing is the last step.
func (c *climb) killing() step {
	left := func(m *member) bool { return !m.killed }
	return step{monitor.EventForceKilled, left, (*climb).kill, maxKills, c.limits.Kill, nil}
}

// run takes one step after the other until nothing is left, the steps are at their
// end or ctx is. Either way nothing is left suspended.
func (c *climb) run(ctx context.Context, steps []step) {
	defer c.thaw()
	for _, s := range steps {
		var until time.Time
		for times := 1; times <= s.times && (times == 1 || c.now().Before(until)); times++ {
			to := c.freeze(ctx, s.to)
			if len(to) == 0 {
				break
			}
			if times == 1 {
				until = c.now().Add(s.limit)
			}
			c.add(s.kind, list(names(to)))
			s.send(c, to)
			again := s.to
			if times == s.times {
				again = nil
			}
			c.wait(ctx, until, s.lead, again)
		}
	}
}

// ask asks the server to end, if the port still is the tree's, and waits.
func (c *climb) ask(ctx context.Context) {
	until := c.lookAgain().Add(c.limits.Ask)
	if ctx.Err() != nil || len(c.where((*member).reachable)) == 0 {
		return
	}
	c.add(monitor.EventAsked, fmt.Sprintf("on port %d", c.in.Port))
	err := process.ListensOn(c.o.System, c.in.Port, c.pids()...)
	if err == nil {
		err = c.o.Dashboards.Shutdown(ctx, c.in.Port)
	}
	if err != nil {
		c.o.Log.Info("a server could not be asked to end", "instance", c.in.Label(), "error", err)
		return
	}
	c.wait(ctx, until, c.server, nil)
}

// lookEvery is how often the tree is looked at while a step waits.
const lookEvery = 100 * time.Millisecond

// wait looks at the tree again and again until nothing of it is left to wait for, the
// time is over, or somebody has come for whom the step is to be taken again. When lead
// is gone, what it leaves behind has only a moment.
func (c *climb) wait(ctx context.Context, until time.Time, lead *member, again func(*member) bool) {
	for {
		now := c.lookAgain()
		if lead != nil && !lead.alive {
			if settled := now.Add(c.limits.Settle); settled.Before(until) {
				until = settled
			}
			lead = nil
		}
		left, waitsFor := until.Sub(now), c.where((*member).reachable)
		if ctx.Err() != nil || left <= 0 || len(waitsFor) == 0 || again != nil && len(c.pick(again)) > 0 {
			return
		}
		moment, cancel := context.WithTimeout(ctx, min(left, lookEvery))
		_ = waitsFor[0].handle.Wait(moment) // whether it has ended is seen by the next look
		cancel()
	}
}

// lookAgain is look on the way, when what cannot be looked at does not matter any more.
func (c *climb) lookAgain() (now time.Time) {
	now = c.now()
	if err := c.look(); err != nil {
		c.o.Log.Warn("part of a tree that is being ended cannot be looked at", "instance", c.in.Label(), "error", err)
	}
	return now
}

const (
	// freezeLimit is how long a member may take to stand still. One that waits in
	// the kernel does not until it has what it waits for; it forks nothing either.
	freezeLimit = 200 * time.Millisecond
	// maxFreezes bounds how often a tree that grows faster than it can be made to stand
	// still is tried, so that time is left for the steps that come.
	maxFreezes = 32
)

// freeze finds those who are to get a signal, none when ctx has ended. They stand
// still until then, so that a look has found everything that they have started: their
// last child would be nobody's otherwise.
func (c *climb) freeze(ctx context.Context, whom func(*member) bool) []*member {
	for freezes := 0; ; freezes++ {
		began := c.lookAgain()
		if ctx.Err() != nil {
			return nil
		}
		moving := c.pick(func(m *member) bool { return whom(m) && !m.still && !m.suspended })
		limit := min(freezeLimit, c.limits.Freeze-c.frozen)
		if c.atOnce || len(moving) == 0 || freezes == maxFreezes || limit <= 0 {
			return c.pick(whom)
		}
		c.suspend(moving, limit)
		c.frozen += c.now().Sub(began)
	}
}

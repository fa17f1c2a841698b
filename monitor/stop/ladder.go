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
	send  func(*heldTree, []*member)
	times int           // that it is sent at most: again to those who have come meanwhile
	limit time.Duration // for all of that
	lead  *member       // see wait
}

// maxKills bounds what could go on for ever with a tree that never stands still.
const maxKills = 8

// steps are those that follow when a server was asked to end, or cannot be asked.
func (tree *heldTree) steps() []step {
	// The root comes first: what it started usually ends with it, while a supervisor
	// that sees its children end starts new ones. A wrapper passes the signal on and
	// waits, for ever if what is below it is suspended.
	root := tree.members[0]
	first := func(m *member) bool {
		return !tree.atOnce && root.reachable() && !m.terminated && (m == root || m.suspended)
	}
	rest := func(m *member) bool { return !m.terminated }
	return []step{
		{monitor.EventTerminated, first, (*heldTree).terminate, 1, tree.limits.Root, root},
		// What is started from now on is not asked: it is killed with the rest.
		{monitor.EventTerminated, rest, (*heldTree).terminate, 1, tree.limits.Rest, nil},
		tree.killing(),
	}
}

// killing is the last step.
func (tree *heldTree) killing() step {
	left := func(m *member) bool { return !m.killed }
	return step{monitor.EventForceKilled, left, (*heldTree).kill, maxKills, tree.limits.Kill, nil}
}

// climb takes one step after the other until nothing is left, the steps are at their
// end or ctx is. Either way nothing is left suspended.
func (l *Ladder) climb(ctx context.Context, j *journal, tree *heldTree, steps []step) {
	defer tree.thaw()
	for _, s := range steps {
		var until time.Time
		for times := 1; times <= s.times && (times == 1 || l.now().Before(until)); times++ {
			to := l.freeze(ctx, j, tree, s.to)
			if len(to) == 0 {
				break
			}
			if times == 1 {
				until = l.now().Add(s.limit)
			}
			j.add(s.kind, list(names(to)))
			s.send(tree, to)
			again := s.to
			if times == s.times {
				again = nil
			}
			l.wait(ctx, j, tree, until, s.lead, again)
		}
	}
}

// ask asks the server to end, if the port still is the tree's, and waits.
func (l *Ladder) ask(ctx context.Context, j *journal, tree *heldTree, port int) {
	until := l.look(j, tree).Add(tree.limits.Ask)
	if ctx.Err() != nil || len(tree.pick(anybody)) == 0 {
		return
	}
	j.add(monitor.EventAsked, fmt.Sprintf("on port %d", port))
	err := process.ListensOn(l.o.System, port, tree.pids()...)
	if err == nil {
		err = l.o.Dashboards.Shutdown(ctx, port)
	}
	if err != nil {
		l.o.Log.Info("a server could not be asked to end", "instance", j.in.Label(), "error", err)
		return
	}
	l.wait(ctx, j, tree, until, tree.server, nil)
}

// wait looks at the tree again and again until nothing of it is left to wait for, the
// time is over, or somebody has come for whom the step is to be taken again. When lead
// is gone, what it leaves behind has only a moment.
func (l *Ladder) wait(ctx context.Context, j *journal, tree *heldTree, until time.Time, lead *member, again func(*member) bool) {
	for {
		now := l.look(j, tree)
		if lead != nil && !lead.alive {
			if settled := now.Add(tree.limits.Settle); settled.Before(until) {
				until = settled
			}
			lead = nil
		}
		left := until.Sub(now)
		if ctx.Err() != nil || left <= 0 || len(tree.pick(anybody)) == 0 || again != nil && len(tree.pick(again)) > 0 {
			return
		}
		tree.wait(ctx, min(left, lookEvery))
	}
}

func (l *Ladder) look(j *journal, tree *heldTree) (now time.Time) {
	now = l.now()
	if err := tree.look(); err != nil {
		l.o.Log.Warn("part of a tree that is being ended cannot be looked at", "instance", j.in.Label(), "error", err)
	}
	return now
}

const (
	// freezeLimit is how long a member may take to stand still. One that waits in
	// the kernel does not until it has what it waits for; it forks nothing either.
	freezeLimit = 200 * time.Millisecond
	// maxFreezes bounds how often a tree that grows faster than it can be made to
	// stand still is tried.
	maxFreezes = 32
)

// freeze finds those who are to get a signal, none when ctx has ended. They stand
// still until then, so that a look has found everything that they have started: their
// last child would be nobody's otherwise.
func (l *Ladder) freeze(ctx context.Context, j *journal, tree *heldTree, whom func(*member) bool) []*member {
	for freezes := 0; ; freezes++ {
		began := l.look(j, tree)
		if ctx.Err() != nil {
			return nil
		}
		moving := tree.pick(func(m *member) bool { return whom(m) && !m.still && !m.suspended })
		limit := min(freezeLimit, tree.limits.Freeze-tree.frozen)
		if tree.atOnce || len(moving) == 0 || freezes == maxFreezes || limit <= 0 {
			return tree.pick(whom)
		}
		tree.suspend(moving, limit)
		tree.frozen += l.now().Sub(began)
	}
}

package watch

import (
	"context"
	"slices"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/process"
	"lamplighter/monitor/serena"
)

// health is what is known of a Serena beyond that it answers.
type health struct {
	memory   serena.Health
	problems []monitor.Problem // of the last look; never changed
	next     int               // where its log goes on; below 0: it was not read

	claim         *monitor.Problem // see serena.ReadClaim
	claimLooks    int
	lostDashboard *monitor.Problem // of its dashboard, until it answers
}

// Limits of what is known of its health.
const (
	endedFor   = 15 * time.Second // before it is mentioned that a language server has ended
	claimAfter = 10 * time.Second // a Serena has chosen the port of its dashboard, and has written it
	claimLooks = 2                // for that, which one without a dashboard never writes
	bindTime   = 2 * time.Second  // a Serena may take to listen on that port; it never tries again
)

// worst is what needs attention most or is to be mentioned, nil for nothing.
func (h *health) worst(now time.Time) *monitor.Problem {
	if h.lostDashboard != nil {
		return h.lostDashboard
	}
	for i := range h.problems {
		if p := &h.problems[i]; p.Cause != monitor.CauseNone || now.Sub(p.Since) >= endedFor {
			return p
		}
	}
	return nil
}

// needsAttention reports whether something needs attention.
func (h *health) needsAttention() bool {
	return len(h.problems) > 0 && h.problems[0].Cause != monitor.CauseNone
}

// readLog reads what is new in the log of a server that was asked for more than a
// sign of life: it has done something since. The first look finds the last call there,
// also where the rest of the answer is missing, without which the log tells of no health.
// A server that has had no call is shown before its log is read.
func (r *result) readLog(ctx context.Context, c Dashboards) {
	whole := r.tasked && r.queued
	uncalled := r.calls != nil && *r.calls == 0 && !serena.IsToolCall(taskName(r.task))
	if r.err != nil || r.signOfLife || !whole && !r.first || r.logCanWait && uncalled {
		return
	}
	records, next, err := c.Records(ctx, r.port, r.logFrom)
	r.records, r.logNext, r.logged = records, next, whole && err == nil
}

// noteHealth takes in a whole answer and the tree, which was looked at after it. Until
// the version is known, which says how to read the log, it is read again.
func (l *loop) noteHealth(t *tracked, r result, tree []process.Stat, now time.Time) {
	h := &t.health
	if !r.logged || tree == nil || t.in.Version == "" {
		return
	}
	timeout := t.cmd.ToolTimeout
	if timeout == 0 && l.o.SerenaHome != "" && len(r.queue) > 1 { // it is needed
		timeout = serena.ToolTimeout(l.o.SerenaHome)
	}
	h.next = r.logNext
	h.problems = serena.ReadHealth(&h.memory, serena.Signs{
		At: now, Version: t.in.Version, Timeout: timeout,
		Records: r.records, Last: r.task, Queue: r.queue, Below: processesBelow(tree, t.in.Identity),
	})
}

// processesBelow are the processes of a tree that come from one of it.
func processesBelow(tree []process.Stat, top monitor.Identity) []process.Stat {
	in := []int{top.PID}
	var list []process.Stat
	for _, p := range tree { // each parent comes first
		if p.Identity != top && slices.Contains(in, p.Parent) {
			in, list = append(in, p.PID), append(list, p)
		}
	}
	return list
}

// findLostDashboards looks why Serenas have not answered: the port that one has chosen
// may have gone to another before it listened there.
func (l *loop) findLostDashboards(now time.Time) {
	for _, t := range l.tracked {
		h := &t.health
		if l.o.SerenaHome == "" || !t.isSerena() || t.Answered || h.lostDashboard != nil || t.in.StartedAt.IsZero() || now.Sub(t.in.StartedAt) < claimAfter {
			continue
		}
		if h.claim == nil && h.claimLooks < claimLooks {
			h.claimLooks++
			h.claim = serena.ReadClaim(l.o.SerenaHome, t.in.Identity.PID, t.in.StartedAt)
		}
		if h.claim == nil || now.Sub(h.claim.Since) < bindTime {
			continue
		}
		owner := l.findInstance(func(other *tracked) bool { return other != t && other.port != 0 && other.port == h.claim.Port })
		if owner == nil || process.ListensOn(l.o.System, h.claim.Port, t.in.Identity.PID) == nil {
			continue
		}
		lost := *h.claim
		lost.Reason = "another Serena (" + owner.in.Label() + ")"
		h.lostDashboard = &lost
	}
}

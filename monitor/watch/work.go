package watch

import (
	"slices"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/process"
)

// work follows whether anything below a server works although nobody has asked
// it for anything: a build that a tool has left behind, a language server that
// indexes. Of the server itself its queue tells.
type work struct {
	at    time.Time // of the last look
	cpu   time.Duration
	below []monitor.Identity
}

// What the processes below a server may use while they are quiet: in so long, or in
// less. A language server at rest and a server without a browser use at most half of it.
const (
	quietCPU  = 20 * time.Millisecond
	quietSpan = 30 * time.Second
)

// isGoingOn takes in the tree of a server, each parent before what it has started, and
// reports whether anything below it has worked since the last look. A
// process that came or went has worked. One that has lost the parent that started it
// was left to go on by somebody: it works for as long as it is there.
func (w *work) isGoingOn(tree []process.Stat, server monitor.Identity, now time.Time) bool {
	list := below(tree, server)
	var cpu time.Duration
	ids := make([]monitor.Identity, 0, len(list))
	for _, p := range list {
		cpu += p.CPU
		ids = append(ids, p.Identity)
	}
	slices.SortFunc(ids, func(a, b monitor.Identity) int { return a.PID - b.PID })
	most := quietCPU
	if span := now.Sub(w.at); span > quietSpan {
		most = time.Duration(float64(quietCPU) * float64(span) / float64(quietSpan))
	}
	worked := w.at.IsZero() || cpu-w.cpu > most || !slices.Equal(ids, w.below) || leftBehind(tree, server, ids)
	w.at, w.cpu, w.below = now, cpu, ids
	return worked
}

// leftBehind reports whether there is a process in the tree that is neither below the
// server nor above it.
func leftBehind(tree []process.Stat, server monitor.Identity, below []monitor.Identity) bool {
	above := server.PID
	for _, p := range slices.Backward(tree) {
		switch {
		case p.PID == above:
			above = p.Parent
		case !slices.Contains(below, p.Identity):
			return true
		}
	}
	return false
}

package watch

import "time"

// gatherTime is how long what a probe has found waits for what the others find that
// are under way.
const gatherTime = 50 * time.Millisecond

// gathering lets what the probes of one look find be published together: one by
// one, n dashboards would make and compare n snapshots of n instances.
type gathering struct {
	due     *time.Timer // fires when there is no more waiting
	waiting bool
}

func newGathering() *gathering {
	g := &gathering{due: time.NewTimer(gatherTime)}
	g.due.Stop()
	return g
}

// goOn tells whether what a probe has found waits, for so many that are under way.
// After a wait due fires, and over must be called.
func (g *gathering) goOn(underWay int) bool {
	if underWay == 0 {
		return false // due may still fire, for nothing
	}
	if !g.waiting {
		g.waiting = true
		g.due.Reset(gatherTime)
	}
	return true
}

func (g *gathering) over() { g.waiting = false }

func (g *gathering) stop() { g.due.Stop() }

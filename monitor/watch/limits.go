package watch

import (
	"cmp"
	"time"
)

// Limits are how often a Watch looks. A zero field means the default. Between two
// looks only an exit or an answer wakes it.
type Limits struct {
	// Tick: from one look at the processes to the next.
	Tick time.Duration
	// Starting: the same while somebody waits for a new lamp, and from one probe
	// of what starts to the next.
	Starting time.Duration
	// Active: between two probes that a server's use of the CPU asks for.
	Active time.Duration
	// Busy: from one probe of a server that is at work to the next.
	Busy time.Duration
}

func (l Limits) orDefault() Limits {
	return Limits{
		Tick: cmp.Or(l.Tick, time.Second), Starting: cmp.Or(l.Starting, 250*time.Millisecond),
		Active: cmp.Or(l.Active, time.Second), Busy: cmp.Or(l.Busy, 2*time.Second),
	}
}

package stop

import (
	"cmp"
	"time"

	"lamplighter/monitor/serena"
)

// Limits are how long each part of a Stop may take. A zero field means the
// default. Whatever happens, all of it takes no longer than the sum, Answer and
// Settle left out, beside the moments in which the system answers questions.
type Limits struct {
	// Check: to find out whether it may be ended. A service manager has two
	// seconds for each unit that it is asked about; what is not known then counts
	// as not certain.
	Check time.Duration
	// Answer: of that, for a dashboard to say whether it is at work.
	Answer time.Duration
	// Ask: a Serena is gone 1.4 to 2.1 s after PUT /shutdown, on a busy machine
	// later; with a call in flight it waits for the call.
	Ask time.Duration
	// Root: after SIGTERM to the root of the tree. A Serena takes 0.2 s.
	Root time.Duration
	// Rest: after SIGTERM to whatever is left then.
	Rest time.Duration
	// Kill: nothing can resist SIGKILL, but a process may be stuck in the kernel
	// (a dead network drive) and dies when that lets go of it.
	Kill time.Duration
	// Freeze: what is suspended before a signal stands still within a
	// millisecond, but for what waits in the kernel. This is for all of a Stop;
	// then signals are sent to what may still move.
	Freeze time.Duration
	// Settle: what a process that has ended leaves behind gets this long to
	// notice, instead of the rest of the rung's time.
	Settle time.Duration
}

// DefaultLimits are the limits of an ordinary stop: 23 s together.
func DefaultLimits() Limits { return Limits{}.orDefault() }

// forced are the limits when the user insists: still enough for a server that
// is well, but a call in flight is not waited for.
func (l Limits) forced() Limits {
	l.Ask, l.Root, l.Rest = l.Ask/2, l.Root/2, l.Rest/2
	return l
}

func (l Limits) orDefault() Limits {
	return Limits{
		Check: cmp.Or(l.Check, 5*time.Second), Answer: cmp.Or(l.Answer, serena.AnswerTimeout), Ask: cmp.Or(l.Ask, 6*time.Second), Root: cmp.Or(l.Root, 3*time.Second), Rest: cmp.Or(l.Rest, 2*time.Second),
		Kill: cmp.Or(l.Kill, 5*time.Second), Freeze: cmp.Or(l.Freeze, 2*time.Second), Settle: cmp.Or(l.Settle, time.Second),
	}
}

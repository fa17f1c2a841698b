package monitor

import (
	"strconv"
	"time"
)

// State is what the colour of an instance says. The values are those of the
// JSON interface.
type State string

const (
	StateStarting  State = "starting"          // grey ring
	StateProject   State = "live_with_project" // green
	StateNoProject State = "live_no_project"   // yellow
	StateLive      State = "live"              // green: a server without projects, or without a dashboard
	StateZombie    State = "zombie"            // red, always with a Cause
	StateParked    State = "parked"            // grey crescent
)

func (s State) severity() int {
	switch s {
	case StateZombie:
		return 4
	case StateStarting:
		return 3
	case StateNoProject:
		return 2
	case StateProject, StateLive:
		return 1
	}
	return 0
}

// Cause says why an instance is red.
type Cause string

const (
	CauseNone        Cause = ""
	CauseUnreachable Cause = "unreachable" // alive, its dashboard fails repeatedly
	CauseSuspended   Cause = "suspended"   // stopped by a signal
	CauseOrphaned    Cause = "orphaned"    // its client closed the pipe and is gone
	CauseSuspected   Cause = "suspected"   // it seems orphaned, but its client was never seen
	CauseDefunct     Cause = "defunct"     // exited, not reaped by its parent
)

// The limits of Judge. One failed probe never makes an instance red.
const (
	StartBudget     = 60 * time.Second // to answer for the first time
	FailuresForRed  = 3
	FailingForRed   = 15 * time.Second
	FailingWhenBusy = 2 * time.Minute // a long search blocks all of Serena
	DefunctAfter    = 3 * time.Second // a parent may take a moment to reap

	// A server whose client is gone ends by itself: after 0.4 s, or when the
	// call that is under way has ended.
	OrphanedAfter    = 10 * time.Second
	OrphanedWhenBusy = 2 * time.Minute
)

// Facts are what is known about an instance when its state is judged. Spans
// are measured on the monotonic clock by whoever gathers them.
type Facts struct {
	Age time.Duration // of the process

	Exited    bool          // the exit watch saw it end
	ExitedFor time.Duration // how long ago
	Unreaped  bool          // it still has an entry in the process table

	Stopped    bool          // by a signal (SIGSTOP, SIGTSTP), not by a debugger
	Orphaned   bool          // proven by the recorded client link
	Suspected  bool          // nobody holds the other end of its pipes, but its client was never seen
	ClientGone bool          // with either: its client was seen to leave
	AloneFor   time.Duration // how long it has been orphaned or suspected

	Listens     bool          // a port that may be its dashboard is open
	Answered    bool          // its dashboard answered at least once
	Failures    int           // probes failed since the last good answer
	FailingFor  time.Duration // since the first of them
	Unreachable bool          // it was found to be, and has not answered since
	Working     bool          // a call runs: the queue said so when it last answered, or it uses the CPU
	NoDashboard bool          // this kind of server never has one

	Project bool // an active project, said by the dashboard

	Problem *Problem // the worst that its log, its queue or its sockets show, nil for none
}

// Verdict is what Judge finds. Gone means that the instance is to leave every
// view; the other fields are then empty.
type Verdict struct {
	Gone   bool
	State  State
	Cause  Cause
	Reason string
}

// Judge decides the state of an instance. It is the only place that does.
func Judge(f Facts) Verdict {
	red := func(c Cause, reason string) Verdict {
		return Verdict{State: StateZombie, Cause: c, Reason: reason}
	}
	if f.Exited {
		if f.Unreaped && f.ExitedFor >= DefunctAfter {
			return red(CauseDefunct, "it has exited, but the program that started it has not taken note")
		}
		return Verdict{Gone: true}
	}
	if f.Orphaned && alone(f) {
		return red(CauseOrphaned, "its client has closed the connection and is gone")
	}
	if f.Stopped {
		return red(CauseSuspended, "it was stopped by a signal and does nothing until it is continued")
	}
	if f.Suspected && alone(f) {
		if f.ClientGone {
			return red(CauseSuspected, "its client has gone; whether somebody else holds its pipes cannot be told")
		}
		return red(CauseSuspected, "nobody holds the other end of its pipes; its client seems to be gone, but was not seen to leave")
	}
	if f.Unreachable || failing(f) && (f.Answered || f.Age >= StartBudget) {
		return red(CauseUnreachable, "it is alive, but its dashboard does not answer")
	}
	if f.Problem != nil && f.Problem.Cause != CauseNone {
		return red(f.Problem.Cause, f.Problem.Sentence())
	}
	switch {
	case f.NoDashboard:
		return Verdict{State: StateLive, Reason: "it runs; this kind of server has no dashboard"}
	case f.Answered && f.Project:
		return Verdict{State: StateProject, Reason: "its dashboard answers and a project is active"}
	case f.Answered:
		return Verdict{State: StateNoProject, Reason: "its dashboard answers, no project is active"}
	case f.Age < StartBudget || f.Listens:
		return Verdict{State: StateStarting, Reason: "its dashboard has not answered yet"}
	}
	return Verdict{State: StateLive, Reason: "it runs without a dashboard"}
}

// alone reports whether a server without a client has had its time to end.
func alone(f Facts) bool {
	limit := OrphanedAfter
	if f.Working {
		limit = OrphanedWhenBusy
	}
	return f.AloneFor >= limit
}

// failing reports whether probes failed often and long enough to mean something.
func failing(f Facts) bool {
	limit := FailingForRed
	if f.Working {
		limit = FailingWhenBusy
	}
	return f.Failures >= FailuresForRed && f.FailingFor >= limit
}

func itoa(n int) string { return strconv.Itoa(n) }

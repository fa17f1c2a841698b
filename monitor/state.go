package monitor

import "time"

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

// bySeverity are the states, the one that most needs to be seen last.
var bySeverity = []State{StateParked, StateLive, StateProject, StateStarting, StateNoProject, StateZombie}

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

// Facts are what is known about the life of an instance, beside its Evidence, when its
// state is judged. Its times have a monotonic reading.
type Facts struct {
	Born time.Time // when the process started

	ExitedAt time.Time // when it was seen to end; zero: it has not
	Unreaped bool      // it still has an entry in the process table

	Stopped bool // by a signal (SIGSTOP, SIGTSTP), not by a debugger
	OneLook bool // it is looked at once, so that nothing can be waited for

	Listens      bool          // a port that may be its dashboard is open
	Answered     bool          // its dashboard answered at least once
	Busy         bool          // a call ran, by the queue, when it last answered
	Failures     int           // probes failed since the last good answer
	FailingSince time.Time     // the first of them
	FailingCPU   time.Duration // that it has used since
	Unreachable  bool          // it was found to be, and has not answered since
	NoDashboard  bool          // this kind of server never has one

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

// Judge decides the state of an instance at a moment. It is the only place that does.
func Judge(f *Facts, e *Evidence, at time.Time) Verdict {
	red := func(c Cause, reason string) Verdict {
		return Verdict{State: StateZombie, Cause: c, Reason: reason}
	}
	young := at.Sub(f.Born) < StartBudget
	if !f.ExitedAt.IsZero() {
		if f.Unreaped && at.Sub(f.ExitedAt) >= DefunctAfter {
			return red(CauseDefunct, "it has exited, but the program that started it has not taken note")
		}
		return Verdict{Gone: true}
	}
	if e.Orphaned && f.hadTimeToEnd(e, at) {
		return red(CauseOrphaned, "its client has closed the connection and is gone")
	}
	if f.Stopped {
		return red(CauseSuspended, "it was stopped by a signal and does nothing until it is continued")
	}
	if e.Suspected && f.hadTimeToEnd(e, at) {
		if e.ClientGone {
			return red(CauseSuspected, "its client has gone; whether somebody else holds its pipes cannot be told")
		}
		return red(CauseSuspected, "nobody holds the other end of its pipes; its client seems to be gone, but was not seen to leave")
	}
	if f.Unreachable || f.isFailing(at) && (f.Answered || !young) {
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
	case young || f.Listens:
		return Verdict{State: StateStarting, Reason: "its dashboard has not answered yet"}
	}
	return Verdict{State: StateLive, Reason: "it runs without a dashboard"}
}

// hadTimeToEnd reports whether a server without a client has had its time to end.
func (f *Facts) hadTimeToEnd(e *Evidence, at time.Time) bool {
	limit := OrphanedAfter
	if f.isWorking(at) {
		limit = OrphanedWhenBusy
	}
	return f.OneLook || at.Sub(e.AloneSince) >= limit
}

// isFailing reports whether probes failed often and long enough to mean something.
func (f *Facts) isFailing(at time.Time) bool {
	limit := FailingForRed
	if f.isWorking(at) {
		limit = FailingWhenBusy
	}
	return f.Failures >= FailuresForRed && at.Sub(f.FailingSince) >= limit
}

// isWorking reports whether a call runs: the queue said so when it last answered, or it
// uses the CPU while it does not answer.
func (f *Facts) isWorking(at time.Time) bool {
	return f.Busy || f.Failures > 0 && f.FailingCPU > at.Sub(f.FailingSince)/3
}

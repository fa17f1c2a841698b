package monitor

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Causes of a server whose process is well and whose dashboard answers, or is not
// its own.
const (
	CauseLanguageServer Cause = "language_server" // see ProblemKind
	CauseNoDashboard    Cause = "no_dashboard"    // another process has the port of its dashboard
	CauseQueue          Cause = "queue"           // calls wait behind one that does not end
	CauseFailing        Cause = "failing"         // several calls in a row failed
)

// ProblemKind tells what is wrong with a language server.
type ProblemKind string

// The kinds of CauseLanguageServer, and those that need no attention.
const (
	StartFailed   ProblemKind = "start_failed"
	CrashLoop     ProblemKind = "crash_loop"
	RestartFailed ProblemKind = "restart_failed"
	CrashedInside ProblemKind = "crashed_inside" // a process that it needs is gone
	Hangs         ProblemKind = "hangs"

	Ended     ProblemKind = "ended"     // Serena starts it again with the next call
	Starting  ProblemKind = "starting"  // for a while
	Suspended ProblemKind = "suspended" // by a signal, and no call waits for it
)

// Problem is something that is wrong with a server, and what shows it.
type Problem struct {
	Cause    Cause       // CauseNone: to be mentioned, and no more
	Kind     ProblemKind // of CauseLanguageServer
	Language string      // of the language server, "" when that is not known
	Others   []string    // languages whose servers Serena stopped as well
	Reason   string      // what the server says of it, one line of foreign text, or ""
	Calls    int         // that failed or wait, or how often it crashed
	Span     time.Duration
	Stopped  bool     // a signal has stopped the language server
	Port     int      // of CauseNoDashboard
	Evidence []string // lines of foreign text
	Since    time.Time
}

// OfHealth reports whether a cause is that of a server which may work for its
// clients all the same.
func (c Cause) OfHealth() bool {
	return slices.Contains([]Cause{CauseLanguageServer, CauseNoDashboard, CauseQueue, CauseFailing}, c)
}

// Remedy is the order that helps against a problem.
type Remedy string

// The remedies.
const (
	RestartLanguageServer Remedy = "restart_language_server"
	RestartServer         Remedy = "restart" // nothing less helps
)

// Remedy is the order that helps against the problem of an instance, "" for none. After
// a failed start Serena starts nothing again by itself; its own tool does, if it lists
// that, and can be asked over HTTP alone.
func (in *Instance) Remedy() Remedy {
	kind := cmp.Or(in.Problem, new(Problem)).Kind
	switch {
	case kind == StartFailed && in.MCPURL == "":
		return RestartServer
	case slices.Contains([]ProblemKind{StartFailed, CrashLoop, CrashedInside, Hangs, Suspended}, kind):
		return RestartLanguageServer
	}
	return ""
}

// Sentence says what is wrong, as a part of a sentence that is safe to show.
func (p *Problem) Sentence() string {
	const maxReason = 120
	reason := Shorten(Clean(p.Reason), maxReason)
	subject := "its language server"
	if p.Language != "" {
		subject = "the language server for " + Clean(p.Language)
	}
	switch p.Kind {
	case StartFailed:
		words := subject + " could not start"
		if p.Language == "" {
			words = "its language servers were not started"
		}
		if reason != "" {
			words += ": " + reason
		}
		if len(p.Others) > 0 {
			words += "; Serena then stops all languages of the project (" + Clean(strings.Join(p.Others, ", ")) + " too)"
		}
		return words
	case CrashLoop:
		return subject + " crashes on requests (" + strconv.Itoa(p.Calls) + " times in " + Span(p.Span) + ")"
	case RestartFailed:
		return subject + " ended and could not be started again"
	case CrashedInside:
		return subject + " lost its tsserver; calls fail"
	case Hangs:
		words := subject + " does not answer: a call waited " + Span(p.Span) + " while it used no CPU"
		if p.Stopped {
			words += " (stopped by a signal)"
		}
		return words
	case Ended:
		return subject + " ended; Serena starts it again with the next call"
	case Starting:
		words := subject + " is starting"
		if reason != "" {
			words += " (" + reason + ")"
		}
		return words
	case Suspended:
		return subject + " was stopped by a signal; no call waits for it"
	}
	switch p.Cause {
	case CauseNoDashboard:
		return "the port of its dashboard, " + strconv.Itoa(p.Port) + ", went to " + cmp.Or(reason, "another program") + "; the server works, but its health cannot be seen"
	case CauseQueue:
		return Plural(p.Calls, "call waits", "calls wait") + " behind one that does not end (" + reason + ")"
	case CauseFailing:
		return "the last " + strconv.Itoa(p.Calls) + " calls failed: " + reason
	}
	return ""
}

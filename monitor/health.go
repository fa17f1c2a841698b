package monitor

import "time"

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

// The kinds of CauseLanguageServer, and one that needs no attention.
const (
	StartFailed   ProblemKind = "start_failed"
	CrashLoop     ProblemKind = "crash_loop"
	RestartFailed ProblemKind = "restart_failed"
	CrashedInside ProblemKind = "crashed_inside" // a process that it needs is gone
	Hangs         ProblemKind = "hangs"

	Ended ProblemKind = "ended" // Serena starts it again with the next call
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
	Owner    Identity // who has that port
	Evidence []string // lines of foreign text
	Since    time.Time
}

// OfHealth reports whether a cause is that of a server which may work for its
// clients all the same.
func (c Cause) OfHealth() bool {
	switch c {
	case CauseLanguageServer, CauseNoDashboard, CauseQueue, CauseFailing:
		return true
	}
	return false
}

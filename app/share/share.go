// Package share has one server for each key, which any number of clients share:
// it starts a server when the first request needs it, parks it when nobody has
// asked anything for a while, and starts it again with the next request. Clients
// notice nothing but the time that it takes.
//
// A Planner decides what clients share: from what a client would run it makes the key
// of a server that serves all clients with the same key, or says why the client needs
// a server of its own. Whenever something is not understood, the client gets a server
// of its own, which runs exactly what the client named: not to share costs memory, to
// share wrongly costs somebody's work.
//
// The conversation of a client is app/share/proxy's, and how servers are started and
// ended is app/launch's.
package share

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"lamplighter/app/launch"
	"lamplighter/monitor"
)

// Server is a server that runs: *launch.Server.
type Server interface {
	Identity() monitor.Identity
	DashboardPort() int
	MCPURL() string
	Project() string
	Key() string
	// Exited is closed when its own process is seen to have ended, Done when all
	// of it has gone. Done may be closed without Exited.
	Exited() <-chan struct{}
	Done() <-chan struct{}
	// Ending tells after either how it ended: "exited with status 1".
	Ending() string
	// End ends all of it, for who is named in words. Who calls it while another
	// call is at work shares its outcome.
	End(ctx context.Context, by string) error
}

// Launcher starts servers; With makes one from a launch.Launcher. It is safe for
// concurrent use.
type Launcher interface {
	// Launch returns a server that takes MCP. When it fails, also because ctx
	// has ended, nothing is left running, and what it returns besides is none.
	Launch(ctx context.Context, spec launch.Spec) (Server, error)
	// Inherited is closed when what earlier runs of this program have left has
	// been dealt with: Adopt was called with what goes on of it.
	Inherited() <-chan struct{}
}

// With starts servers with l.
func With(l *launch.Launcher) Launcher { return launcher{l} }

type launcher struct{ *launch.Launcher }

func (l launcher) Launch(ctx context.Context, spec launch.Spec) (Server, error) {
	return l.Launcher.Launch(ctx, spec)
}

// Options are what a Broker needs, all but what says otherwise.
type Options struct {
	Launch Launcher
	// Idle is how long nobody has to have asked anything before a server is
	// parked; 0 is for ever. One that no client has stays as long, and ten minutes
	// at most. It may change.
	Idle func() time.Duration
	// Limit is how long a server may take to start; 0 is the launcher's.
	Limit func() time.Duration
	// HangLimit is how long clients wait for a server that does not answer before
	// another one takes its place; 0 is for ever. It may change.
	HangLimit func() time.Duration
	// LockDir is the directory for the lock of each key, which keeps programs
	// from starting two servers for one. It is made. "" is none.
	LockDir string

	// Forbid says why nothing may be shared now, as a part of a sentence that says
	// what to do about it; "" when it may be. Then no server is started, and those
	// that run are parked as soon as nothing else speaks against that. It is asked
	// again and again.
	Forbid func(ctx context.Context) (why string)
	// Spare asks whether a server must not be ended although nobody needs it: "it is pinned".
	Spare Ask
	// Below asks whether something has worked below a server within the time of Idle. It is
	// asked before one is parked that has clients: what they left to go on is theirs.
	Below Ask
	// Asks are asked before a server is ended that nobody needs. nil: the server itself
	// and the system are.
	Asks *Asks
	// EndHung ends a server that was replaced, unless something speaks against it. After an
	// error it is called again.
	EndHung func(ctx context.Context, s Server) error

	// Show is given all that is shared at each change, but not more often than
	// some times a second. It is called by Serve alone and must not block.
	Show func([]monitor.Shared)
	// Record is told what becomes of servers. It must not block, or call the
	// broker.
	Record func(monitor.Event)
	Log    *slog.Logger
}

// Ask says what speaks against the end of a server, as a part of a sentence; "" when
// nothing does. An error counts as something, whatever is said besides.
type Ask func(ctx context.Context, l Look) (why string, err error)

// Asks are those of a server.
type Asks struct {
	Works  Ask // although no request waits for it
	Holds  Ask // what would be lost with it, of the sessions of its REPL
	Direct Ask // who else is connected to it, past us
}

// Look is what is known of a server that nobody needs.
type Look struct {
	Server    Server
	Quiet     time.Duration // since the last answer
	Sessions  []string      // of its REPL that were seen
	Inherited bool          // an earlier run has started it, so that it may have others
}

// Why a server is not to be had.
var (
	errEnding     = errors.New("lamplighter is ending; ask again when it runs")
	errLeft       = errors.New("the client has gone")
	errNotSettled = errors.New("what an earlier run of lamplighter has left was not dealt with (see the log of lamplighter); ask again")
	errSurvives   = errors.New("the server before this one could not be ended; ask again")
	errCrashes    = errors.New("the server has ended too often in a short time")
	errTaken      = errors.New("another lamplighter has the server for this key")
)

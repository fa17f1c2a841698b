// Package session is the manager of sessions: servers that each belong to one
// client. A client asks for one, talks to it directly, and releases it. The
// names, and what counts as an error, are those that users asked for ("a
// dedicated server per client"); the routes are in app/api.
//
// How a server is found, started and ended, and that it ends when this program
// dies, is app/launch's. A session is named by the pid of its server, but
// nothing is ever done to a pid: a server that was launched knows its own
// processes by identity.
package session

import (
	"context"
	"errors"
	"time"

	"lamplighter/app/launch"
	"lamplighter/monitor"
)

// Request is what a client asks for.
type Request struct {
	ProjectPath string // absolute
	Server      string // name of a template in the settings; "" is the usual one
	// AskedBy finds out who asks, zero when that cannot be told; nil: nobody
	// knows. It is called while the server starts, and has returned when
	// Manager.Request returns.
	AskedBy func() monitor.Client
}

// State is where a session is in its life.
type State string

// The states. A session that has ended is in none.
const (
	StateStarting State = "starting"
	StateRunning  State = "running"
	StateEnding   State = "ending"
)

// Session is a session as it was at one moment.
type Session struct {
	ID            int // pid of its server; 0 while it starts
	State         State
	ProjectPath   string
	Server        string // name of the template
	Port          int    // where it speaks MCP, on 127.0.0.1; 0 while it starts
	DashboardPort int    // 0 when it has none
	MCPURL        string
	StartedAt     time.Time       // while it starts: when it was asked for
	AskedBy       *monitor.Client // nil when it is not known
}

// Status is what came of a release.
type Status string

// The ends of a release.
const (
	Terminated  Status = "terminated"
	AlreadyGone Status = "already_gone" // it had died by itself
)

// What may be wrong with a request or a release.
var (
	// ErrBadPath is wrapped with what is wrong with the path of a project.
	ErrBadPath = errors.New("not the path of a project")
	// ErrNoServer is wrapped with which template of the settings is missing.
	ErrNoServer = errors.New("no such server in the settings")
	// ErrUnknown: no session has that id.
	ErrUnknown = errors.New("no session has that id")
	// ErrEnding: the manager starts nothing any more.
	ErrEnding = errors.New("lamplighter is ending; ask again when it runs")
	// ErrNotWanted: who asked has gone before the server was ready. It was ended.
	ErrNotWanted = errors.New("who asked for it has gone")
)

// TooMany says that no more sessions may be started.
type TooMany struct {
	Live  int // that start, run or end
	Limit int
}

// Error says what to do, too.
func (e *TooMany) Error() string {
	return "the limit of " + monitor.Plural(e.Limit, "session", "sessions") + " is reached; release one, or set session_limit to more"
}

// Server is a server that runs for a session: *launch.Server.
type Server interface {
	Identity() monitor.Identity
	Port() int
	DashboardPort() int
	MCPURL() string
	StartedAt() time.Time
	// Done is closed when all of it has gone.
	Done() <-chan struct{}
	// End ends all of it. Who calls it while another call is at work shares
	// its outcome.
	End(ctx context.Context, by string) error
}

// Starter starts servers; With makes one from a launch.Launcher. When it fails,
// also because ctx has ended, nothing is left running.
type Starter interface {
	Start(ctx context.Context, spec launch.Spec) (Server, error)
}

// With starts servers with l.
func With(l *launch.Launcher) Starter { return launcher{l} }

type launcher struct{ *launch.Launcher }

// Start is Launch. No server is no Server either.
func (l launcher) Start(ctx context.Context, spec launch.Spec) (Server, error) {
	server, err := l.Launch(ctx, spec)
	if err != nil {
		return nil, err
	}
	return server, nil
}

package api

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"lamplighter/app/dashboard"
	"lamplighter/monitor"
	"lamplighter/monitor/policy"
	"lamplighter/monitor/stop"
	"lamplighter/monitor/view"
)

// Shower opens what a second start asks for, in a browser.
type Shower interface {
	// Show returns the address it opened. The error is a sentence for people.
	Show() (url string, err error)
}

// Parts are what the routes work with. Source and Log are needed, and whatever
// the routes that are asked for take; all of them in the background process.
type Parts struct {
	Source monitor.Source
	Rows   *view.Rows // that others use as well; nil: what is sent is put in words for each event
	Show   Shower
	Stop   Stopper
	// Restarter starts again what it can; nil: nothing is restarted that clients share.
	Restarter Restarter
	Events    Eventer
	Version   string
	Log       *slog.Logger

	Page     http.Handler // of the page and its files; nil: dashboard.Page
	Proxy    Forwarder    // nil: a dashboard.Proxy
	Recorder Recorder     // nil: nothing is recorded
	Pins     Pinner       // nil: nothing can be pinned
	// RestartLanguageServer starts the language servers of a Serena again, and says in
	// a sentence how, or why not; nil: nobody can.
	RestartLanguageServer func(ctx context.Context, in monitor.Instance, o stop.Order) (detail string, err error)
	Policies              Policies // nil: there are no policies
	// SetIdle writes the idle rule into the settings; nil: nobody can.
	SetIdle func(after time.Duration, attached bool) error
	// AddRule writes a rule into the settings by which a process on a client's pipes, and
	// its like, are servers of a name, or with "" none; nil: nobody can.
	AddRule func(in *monitor.Instance, name string) error
	Record  func(monitor.Event) // is told of what the ladder does not tell itself; nil: nobody is
	// GivenBack tells how much memory ended instances have given back in all, and since
	// when that is counted, which is zero while nothing was; nil: nothing was.
	GivenBack func() (bytes uint64, since time.Time)

	Address  func() string  // of the page, "" while it is not served; nil: never
	Sessions SessionManager // nil: no sessions can be had
	MCP      MCP            // nil: no servers are shared over HTTP
	Setup    Setup          // nil: the settings of clients are not looked at
	Login    LoginSwitch    // nil: start at login cannot be seen
	Welcome  Welcomer       // nil: nobody is welcomed

	Workspaces Workspaces // nil: none can be had

	Limits Limits

	// Quit ends the process, and does not wait for that; restart says that another
	// one starts at once. nil: it cannot be ended from here.
	Quit func(restart bool)
}

// Forwarder answers a request with what an instance's own dashboard answers:
// dashboard.Proxy.
type Forwarder interface {
	Forward(w http.ResponseWriter, req *http.Request, in *monitor.Instance, route dashboard.Route, permit func() bool)
}

// Recorder knows what one snapshot does not tell: dashboard.Recorder.
type Recorder interface {
	// History is how an instance went, and whether that is known.
	History(id monitor.Identity) (dashboard.History, bool)
	// Total is how the memory of all went.
	Total() dashboard.History
	// Ended are those of the last ten minutes, newest last.
	Ended() []dashboard.Ended
	// Subscribe hands them out now and at each change; the newest wins.
	Subscribe() (ended <-chan []dashboard.Ended, cancel func())
}

// Pinner pins an instance, so that no policy ends it, or takes that back; by
// says in words who asked for it. The error is a sentence for people, and wraps
// process.ErrGone when the instance has ended.
type Pinner interface {
	Pin(in monitor.Instance, pinned bool, by string) error
}

// Policies are what the user may say to the policies: app/policies. by says in
// words who asked for it. Errors are sentences for people, and wrap
// policies.ErrInactive where another process acts on the policies.
type Policies interface {
	// Keep has no policy end an instance for so long; 0: no longer.
	Keep(in monitor.Instance, d time.Duration, by string) error
	// Pause has them do nothing until then; zero: until they are resumed.
	Pause(until time.Time, by string) error
	Resume(by string) error
	// Switch turns a rule on or off.
	Switch(r policy.Rule, on bool, by string) error
	// Decisions are what they would do now or, where an order of the user is
	// named, what that would.
	Decisions(s *monitor.Snapshot, w policy.Rule) []policy.Action
	// Confirm looks once more whether such an order means an instance, see
	// stop.Order; nil where there is nothing to look for.
	Confirm(in monitor.Instance, w policy.Rule) func(context.Context) error
}

package launch

import (
	"context"
	"errors"
	"sync"
	"time"

	"lamplighter/monitor"
)

// Server is one server that was launched and accepted MCP. It is safe for
// concurrent use.
type Server struct {
	rec     record // as it is on disk; never changed
	ids     identities
	url     string
	dir     string
	adopted bool
	keeper  *keeper

	// exited is closed when the server's own process has ended, done when all
	// of it has gone.
	exited     chan struct{}
	exitedOnce sync.Once
	done       chan struct{}
	finish     func(*Server, string) error

	mu     sync.Mutex
	ending *ending // in progress
	by     string  // who had it ended first
	why    string  // how it ended
}

// identities are the processes of a server.
type identities struct{ keeper, server monitor.Identity }

// ErrSurvived says that something of a server still runs although all was done
// to end it.
var ErrSurvived = errors.New("something of it still runs")

// ID names the launch, for ever: no other one has the same.
func (s *Server) ID() string { return s.rec.ID }

// Identity is the server's own process: the one that owns the MCP port.
func (s *Server) Identity() monitor.Identity { return s.ids.server }

// Port is where it speaks MCP, on 127.0.0.1.
func (s *Server) Port() int { return s.rec.Port }

// DashboardPort is where Serena's own page is, 0 when it has none.
func (s *Server) DashboardPort() int { return s.rec.DashboardPort }

// MCPURL is the address for a client.
func (s *Server) MCPURL() string { return s.url }

// Name is the name of the template it was started from.
func (s *Server) Name() string { return s.rec.Name }

// Project is the directory it was started for.
func (s *Server) Project() string { return s.rec.Project }

// Lifetime says when it ends at the latest.
func (s *Server) Lifetime() Lifetime { return s.rec.Lifetime }

// Key is what it is shared by.
func (s *Server) Key() string { return s.rec.Key }

// StartedAt is when its process was started.
func (s *Server) StartedAt() time.Time { return s.rec.StartedAt }

// Done is closed when all of it has gone, its record too.
func (s *Server) Done() <-chan struct{} { return s.done }

// Exited is closed when the server's own process is seen to have ended, which may
// be some time before Done. Done may be closed without it.
func (s *Server) Exited() <-chan struct{} { return s.exited }

// Ending tells after Done in words how it ended: "exited with status 1",
// "ended by release". After Exited alone it is what is known by then.
func (s *Server) Ending() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch heard := s.keeper.news(); {
	case s.why != "":
		return s.why
	case s.by != "":
		return "ended by " + s.by
	case heard.exited != "":
		return heard.exited
	}
	return "exited"
}

// ending is one try to end a server, which several callers may wait for.
type ending struct {
	done chan struct{}
	err  error
}

// End ends all of the server: Serena is asked first, so that it stops its
// language servers and saves what they know; then all of it is terminated, and
// killed where that does not help. By says in words who wants it: "release".
// It returns nil when nothing of it is left but what people work in, also when it
// had ended by itself, and an error that Is ErrSurvived otherwise. Concurrent calls share one try,
// which goes on when ctx ends.
func (s *Server) End(ctx context.Context, by string) error {
	e := s.begin(by)
	select {
	case <-e.done:
		return e.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// begin starts a try to end it, or joins the one in progress.
func (s *Server) begin(by string) *ending {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ending != nil {
		return s.ending
	}
	e := &ending{done: make(chan struct{})}
	select {
	case <-s.done:
		close(e.done)
		return e
	default:
	}
	if s.by == "" {
		s.by = monitor.Clean(by)
	}
	s.ending = e
	go func() {
		e.err = s.finish(s, by)
		s.mu.Lock()
		s.ending = nil
		s.mu.Unlock()
		close(e.done)
	}()
	return e
}

// hasEnded reports whether the server's own process or its keeper has ended.
func (s *Server) hasEnded() bool {
	select {
	case <-s.exited:
		return true
	default:
		return s.keeper.isGone()
	}
}

// exit says that the server's own process has ended.
func (s *Server) exit() { s.exitedOnce.Do(func() { close(s.exited) }) }

// close says that all of it has gone, and how that came: by itself, or because
// somebody had it ended. What was heard is from before it was touched.
func (s *Server) close(byItself bool, heard news) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case !byItself && s.by != "":
		s.why = "ended by " + s.by
	case heard.exited != "":
		s.why = heard.exited
	default:
		s.why = "exited"
	}
	close(s.done)
}

// event is something that was done to end it.
func (s *Server) event(kind monitor.EventKind, detail string) monitor.Event {
	return monitor.Event{At: time.Now(), Kind: kind, ID: s.ids.server.String(), PID: s.ids.server.PID, Label: s.label(), Detail: detail}
}

// launch is the server as the model is told of it.
func (s *Server) launch() monitor.Launch {
	l := monitor.Launch{
		Server: s.ids.server, Keeper: s.ids.keeper, Kind: s.rec.Kind,
		Port: s.rec.Port, DashboardPort: s.rec.DashboardPort, MCPURL: s.url,
		Project: s.rec.Project, Lifetime: string(s.rec.Lifetime),
	}
	if client := s.rec.client(); client.PID > 0 {
		l.AskedBy = &client
	}
	return l
}

// label names the server in events as the model does.
func (s *Server) label() string {
	in := monitor.Instance{Identity: s.ids.server, Kind: s.rec.Kind, ProjectName: projectName(s.rec.Project)}
	return in.Label()
}

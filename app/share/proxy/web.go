package proxy

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"sync"
	"time"

	"lamplighter/app/launch"
	"lamplighter/app/share"
)

// WebOptions of a Web. All but those with a default are needed.
type WebOptions struct {
	Broker *share.Broker
	Ask    Asker
	Usual  func() launch.Template // of the Serena that clients get
	Log    *slog.Logger

	Idle time.Duration // after which a session ends that nobody uses; zero: 30 min
	Most int           // sessions at a time; zero: 1,000

	Limits Limits // of each session
}

// Web serves clients that speak MCP over streamable HTTP (protocol revision
// 2025-06-18, "Transports"), each MCP session with a session of its own. It is safe
// for concurrent use.
type Web struct {
	options WebOptions

	working  sync.WaitGroup // what Serve has begun
	mu       sync.Mutex
	serving  context.Context // of Serve, nil before and after
	sessions map[string]*webSession
}

// NewWeb returns a Web that refuses everybody until Serve is called.
func NewWeb(o WebOptions) *Web {
	if o.Idle == 0 {
		o.Idle = 30 * time.Minute
	}
	if o.Most == 0 {
		o.Most = 1000
	}
	return &Web{options: o, sessions: map[string]*webSession{}}
}

// Serve lets clients in until ctx ends, and returns its error; it can be called
// again after it returned. Sessions end with it: clients begin new ones, as the
// protocol has it.
func (w *Web) Serve(ctx context.Context) error {
	set := func(serving context.Context) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.serving = serving
	}
	set(ctx)
	<-ctx.Done()
	set(nil)
	w.working.Wait()
	return ctx.Err()
}

// What a client may be told in place of a session.
var (
	errNotServing = errors.New("lamplighter is starting or ending; ask again")
	errTooMany    = errors.New("too many MCP sessions are open; end some of them")
)

// add makes a session known and lets its session work, and besides calls besides.
// The error is one of those above.
func (w *Web) add(s *webSession, besides func()) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.serving == nil:
		return errNotServing
	case len(w.sessions) >= w.options.Most:
		return errTooMany
	}
	s.id = rand.Text()
	w.sessions[s.id] = s
	ctx := w.serving
	w.working.Go(besides)
	w.working.Go(func() {
		defer context.AfterFunc(ctx, s.session.Gone)() // no later process can go on with it
		_ = s.session.Serve(context.Background())      // whose end is that of the client
		w.mu.Lock()
		delete(w.sessions, s.id)
		w.mu.Unlock()
		s.member.Detach()
		close(s.ended) // of which who ends it is told
		s.unused.Stop()
		s.log.Debug("an MCP session over HTTP has ended")
	})
	return nil
}

// session returns the session with that id, nil when there is none.
func (w *Web) session(id string) *webSession {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.sessions[id]
}

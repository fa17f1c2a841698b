package proxy

import (
	"context"
	"crypto/rand"
	"errors"
	"sync"
)

// Web serves clients that speak MCP over streamable HTTP (protocol revision
// 2025-06-18, "Transports"), each MCP session with a session of its own. It is safe
// for concurrent use.
type Web struct {
	options Options

	working  sync.WaitGroup // what Serve has begun
	mu       sync.Mutex
	serving  context.Context // of Serve, nil before and after
	sessions map[string]*webSession
}

// NewWeb returns a Web that refuses everybody until Serve is called.
func NewWeb(o Options) *Web {
	o.Limits = o.Limits.orDefault()
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

// add makes a session known and lets its session work, and besides calls besides.
// The error is for the client.
func (w *Web) add(s *webSession, besides func()) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.serving == nil:
		return errors.New("lamplighter is starting or ending; ask again")
	case len(w.sessions) >= w.options.Limits.Sessions:
		return errors.New("too many MCP sessions are open; end some of them")
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

package proxy

import (
	"context"
	"crypto/rand"
	"errors"
)

// ServeWeb lets clients over HTTP in until ctx ends, and returns its error; it can be
// called again after it returned. Sessions end with it: clients begin new ones, as the
// protocol has it.
func (w *Server) ServeWeb(ctx context.Context) error {
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
func (w *Server) add(s *webSession, besides func()) error {
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

package proxy

import (
	"context"
	"crypto/rand"
	"errors"
)

// ServeWeb lets clients over HTTP in until ctx ends, and returns its error; it can be
// called again after it returned. Sessions end with it: clients begin new ones, as the
// protocol has it.
func (server *Server) ServeWeb(ctx context.Context) error {
	set := func(serving context.Context) {
		server.mu.Lock()
		defer server.mu.Unlock()
		server.serving = serving
	}
	set(ctx)
	<-ctx.Done()
	set(nil)
	server.working.Wait()
	return ctx.Err()
}

// add makes a session known and lets its session work, and besides calls besides.
// The error is for the client.
func (server *Server) add(s *webSession, besides func()) error {
	server.mu.Lock()
	defer server.mu.Unlock()
	switch {
	case server.serving == nil:
		return errors.New("lamplighter is starting or ending; ask again")
	case len(server.sessions) >= server.options.Limits.Sessions:
		return errors.New("too many MCP sessions are open; end some of them")
	}
	s.id = rand.Text()
	server.sessions[s.id] = s
	ctx := server.serving
	server.working.Go(besides)
	server.working.Go(func() {
		defer context.AfterFunc(ctx, s.session.Gone)() // no later process can go on with it
		_ = s.session.Serve(context.Background())      // whose end is that of the client
		server.mu.Lock()
		delete(server.sessions, s.id)
		server.mu.Unlock()
		s.member.Detach()
		close(s.ended) // of which who ends it is told
		s.unused.Stop()
		s.log.Debug("an MCP session over HTTP has ended")
	})
	return nil
}

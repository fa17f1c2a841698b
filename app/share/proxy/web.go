package proxy

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"time"

	"lamplighter/app/share"
	"lamplighter/app/share/wire"
	"lamplighter/monitor"
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

// begin begins a session for an initialize, and finds out besides who asks. The error is
// for the client.
func (server *Server) begin(plan share.Plan, initialize wire.Message, who func() monitor.Client) (*webSession, error) {
	server.mu.Lock()
	defer server.mu.Unlock()
	switch {
	case server.serving == nil:
		return nil, errors.New("lamplighter is starting or ending; ask again")
	case len(server.sessions) >= server.options.Limits.Sessions:
		return nil, errors.New("too many MCP sessions are open; end some of them")
	}
	s := &webSession{
		id: rand.Text(), ended: make(chan struct{}), idle: server.options.Limits.Idle,
		log: server.options.Log.With("project", shown(plan.Spec.Project)),
	}
	s.session, s.member = attach(server.options.Broker, plan, monitor.Client{}, false, SessionOptions{
		Out: s, Log: s.log, Limits: server.options.Limits, Root: server.options.Ask.Root,
		Plan: func(ctx context.Context, project string) (share.Plan, error) {
			return server.options.Ask.ForAddress(ctx, project, server.options.Usual())
		},
	})
	s.unused = time.AfterFunc(s.idle, s.endUnused)
	server.sessions[s.id] = s
	ctx := server.serving
	server.working.Go(func() {
		said, _ := readMembers(initialize.Params)
		client := who()
		client.Name = cmp.Or(saidName(said.ClientInfo), client.Name)
		s.member.Name(client)
	})
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
	return s, nil
}

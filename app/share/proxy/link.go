package proxy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"lamplighter/app/mcp"
	"lamplighter/app/share"
)

// link is the MCP session of a session with one run of the server.
type link struct {
	server  share.Endpoint
	session *mcp.Server   // nil until it is opened, which may fail; is set and sent on by the pump
	calls   int           // that have not ended
	closed  chan struct{} // is closed when the MCP session is
}

// close ends the MCP session of a link, within 2 s. nil has none.
func (s *Session) close(ctx context.Context, lk *link) {
	if lk == nil || isClosed(lk.closed) {
		return
	}
	close(lk.closed)
	ctx, cancel := context.WithTimeout(ctx, grace)
	defer cancel()
	s.outside(func() { lk.session.Close(ctx) })
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// watch retires a link when the server's process has ended. Calls whose answer is
// still on the way get a moment for it. When the server is shut it is sent no more, so
// that what is asked from then on is surely not carried out before the next one has it.
// Then a link without calls is closed before the server ends.
func (s *Session) watch(lk *link) {
	select {
	case <-lk.closed:
	case <-lk.server.Gone:
	case <-lk.server.Shut:
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answerKnown(lk)
	s.retire(lk)
	s.outside(func() {
		select {
		case <-lk.closed:
		case <-lk.server.Gone:
		}
	})
	s.await(context.Background(), lk.closed, grace)
	s.close(context.Background(), lk)
}

// retire lets nothing more be sent on a link. It is closed when its last call has
// ended.
func (s *Session) retire(lk *link) {
	if s.link == lk {
		s.link = nil
	}
	maps.DeleteFunc(s.asked, func(_ string, q question) bool { return q.link == lk })
	if lk.calls == 0 {
		s.close(context.Background(), lk)
	}
}

// openLink acquires the server and opens an MCP session with it. The error is for
// the user. begins is the client's own initialize, of which nothing is sent before it is
// accepted; nil when it is repeated. After a server was shut the next try waits for it or
// for the next one, unless begins could be answered without one: then there is neither a link
// nor an answer.
func (s *Session) openLink(ctx context.Context, initialize []byte, begins *item) (lk *link, answer []byte, err error) {
	for try := 1; ; try++ {
		var server share.Endpoint
		s.outside(func() { server, err = s.o.Servers.Acquire(ctx) })
		if err != nil {
			return nil, nil, err
		}
		if begins != nil && !s.accept(begins) {
			return nil, nil, s.over.Err() // the client has gone
		}
		lk, answer, err = s.openOnce(ctx, server, initialize)
		if err == nil || ctx.Err() != nil {
			return lk, answer, err
		}
		if isClosed(server.Shut) {
			if begins != nil && s.fromCache(begins) {
				return nil, nil, nil
			}
			try = 0
			continue
		}
		// Nothing is carried out twice: an MCP session that was begun and lost does nothing.
		var refused *mcp.Refused
		switch {
		case errors.As(err, &refused):
			return nil, nil, err
		case try == retries:
			return nil, nil, fmt.Errorf("the server runs and does not answer: %w", err)
		}
		s.o.Log.Debug("An MCP session could not be opened", "error", err)
		s.await(ctx, server.Gone, time.Duration(try)*300*time.Millisecond)
	}
}

// openOnce makes the link that is sent on from then on, unless the answer refuses that.
func (s *Session) openOnce(ctx context.Context, server share.Endpoint, initialize []byte) (*link, []byte, error) {
	ctx, end := context.WithCancel(ctx)
	defer end()
	go func() { // the port of a server that hangs, or whose process has ended, may stay silent
		defer end()
		select {
		case <-server.Shut:
		case <-server.Gone:
		case <-ctx.Done():
		}
	}()
	lk := &link{server: server, closed: make(chan struct{})}
	var answer []byte
	var err error
	s.outside(func() {
		o := mcp.Options{URL: server.URL, Transport: server.Transport, Receive: func(line []byte) { s.incoming(lk, nil, line) }}
		lk.session, answer, err = mcp.Open(ctx, o, initialize)
	})
	if err != nil || lk.session == nil { // then it was refused with an error of JSON-RPC
		return nil, answer, err
	}
	s.link = lk
	go s.watch(lk)
	return lk, answer, nil
}

// reopen uses another MCP session for a client that has been through its initialize, and
// repeats what it had set up. What comes of that is nothing to the client: it has had its
// answers.
func (s *Session) reopen(ctx context.Context) (*link, error) {
	lk, answer, err := s.openLink(ctx, s.initializeLine, nil)
	if err != nil {
		return nil, err
	}
	if lk == nil {
		return nil, fmt.Errorf("the server refused the client's initialize when it was repeated: %s", cmp.Or(mcp.ErrorMessage(answer), "it does not say why"))
	}
	if len(s.initializedLine) > 0 {
		s.pass(ctx, lk, s.initializedLine)
		s.await(ctx, lk.session.Listen(), sideLimit)
	}
	return lk, nil
}

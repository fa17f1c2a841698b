package proxy

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"lamplighter/app/mcp"
	"lamplighter/app/share"
	"lamplighter/app/share/wire"
)

// world is a server that is no process, with calls that end when a test says so.
type upstream struct {
	mu       sync.Mutex
	opened   int
	sessions map[string]*fakeSession // that the server knows
	calls    []*fakeCall             // requests that wait for a fate
	carried  map[string]int          // how often each request was carried out, by its id
	got      []string                // all lines, in order
	alive    bool
	mute     bool // initialize is not answered
	slow     bool // notifications are taken, and that is not told
}

func newUpstream() *upstream {
	return &upstream{sessions: map[string]*fakeSession{}, carried: map[string]int{}}
}

// group is what sessions of this world are behind.
func (w *upstream) group() *fakeGroup {
	return &fakeGroup{why: "it was killed", wake: func() share.Endpoint {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.alive = true
		return share.Endpoint{URL: "fake"}
	}}
}

// die ends the server with all that is in flight.
func (w *upstream) die() {
	w.mu.Lock()
	w.alive = false
	clear(w.sessions)
	calls := w.calls
	w.calls = nil
	for _, c := range calls {
		w.carried[c.id]++ // it may have been
	}
	w.mu.Unlock()
	for _, c := range calls {
		c.end(mcp.ErrLost)
	}
}

// forget makes the server forget its sessions. What is in flight goes on.
func (w *upstream) forget() {
	w.mu.Lock()
	defer w.mu.Unlock()
	clear(w.sessions)
}

// take takes one of the calls in flight; nil when there is none.
func (w *upstream) take(n int) *fakeCall {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.calls) == 0 {
		return nil
	}
	n %= len(w.calls)
	c := w.calls[n]
	w.calls = slices.Delete(w.calls, n, n+1)
	return c
}

func (w *upstream) lines() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.got)
}

func (w *upstream) open(ctx context.Context, _ share.Endpoint, receive func([]byte), initialize []byte) (upstreamSession, []byte, error) {
	w.mu.Lock()
	mute := w.mute
	w.mu.Unlock()
	if mute {
		<-ctx.Done()
		return nil, nil, mcp.ErrLost
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if ctx.Err() != nil || !w.alive {
		return nil, nil, mcp.ErrNotSent
	}
	w.opened++
	s := &fakeSession{world: w, id: fmt.Sprint("session-", w.opened), receive: receive}
	w.sessions[s.id] = s
	return s, resultLine(wire.Split(initialize).ID, []byte(`{"protocolVersion":"2025-06-18"}`)), nil
}

type fakeSession struct {
	world   *upstream
	id      string
	receive func([]byte)
	closed  bool // guarded by the world's mu
}

func (s *fakeSession) Listen() {}

func (s *fakeSession) Close(ctx context.Context) {
	w := s.world
	w.mu.Lock()
	s.closed = true
	if ctx.Err() == nil && w.sessions[s.id] == s { // else there is no time to tell the server
		delete(w.sessions, s.id)
	}
	var ended []*fakeCall
	w.calls = slices.DeleteFunc(w.calls, func(c *fakeCall) bool {
		if c.session == s {
			ended = append(ended, c)
			w.carried[c.id]++ // it may have been
		}
		return c.session == s
	})
	w.mu.Unlock()
	for _, c := range ended {
		c.end(mcp.ErrLost)
	}
}

type fakeCall struct {
	world       *upstream
	session     *fakeSession
	line        string
	id          string
	each        func([]byte)
	taken, done chan struct{}
	once        sync.Once
	ended       func(error)
}

func (c *fakeCall) end(err error) {
	c.once.Do(func() {
		close(c.taken)
		go func() { // as a call ends: nobody waits for that
			if c.ended != nil {
				c.ended(err)
			}
			close(c.done)
		}()
	})
}

// answer carries the request out, and answers it when answers is true.
func (c *fakeCall) answer(answers bool) {
	c.world.mu.Lock()
	c.world.carried[c.id]++
	c.world.mu.Unlock()
	if answers {
		c.each(resultLine([]byte(c.id), []byte(`"done"`)))
	}
	c.end(nil)
}

func (s *fakeSession) Begin(ctx context.Context, line []byte, each func([]byte), ended func(error)) (taken, done <-chan struct{}) {
	m := wire.Split(line)
	c := &fakeCall{
		world: s.world, session: s, line: string(line), id: string(m.ID), each: each, ended: ended, taken: make(chan struct{}), done: make(chan struct{}),
	}
	w := s.world
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case ctx.Err() != nil || s.closed || !w.alive:
		c.end(mcp.ErrNotSent)
	case w.sessions[s.id] != s:
		c.end(mcp.ErrUnknown)
	case m.Kind != wire.Request:
		w.got = append(w.got, c.line)
		if !w.slow {
			c.end(nil)
			break
		}
		go func() {
			<-ctx.Done()
			c.end(mcp.ErrLost)
		}()
	case strings.HasPrefix(c.id, `"lamplighter-`):
		w.got = append(w.got, c.line)
		c.end(nil)
	default:
		w.got = append(w.got, c.line)
		w.calls = append(w.calls, c)
		go func() {
			select {
			case <-c.done:
			case <-ctx.Done():
				c.end(fmt.Errorf("%w: %w", mcp.ErrLost, ctx.Err()))
			}
		}()
	}
	return c.taken, c.done
}

package proxy

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"lamplighter/app/mcp"
	"lamplighter/app/share/wire"
)

// How long the pump waits until the server has taken a line, before it sends the
// next one: lines stay in order, and a call that takes long holds up none.
const (
	perMillis = 50 << 10         // bytes that are sent in a millisecond, at least, beside Limits.Taken
	sideLimit = 10 * time.Second // for what has no answer
)

// pump sends to the server until ctx ends. What it has sent goes on.
func (s *Session) pump(ctx context.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for !s.isOver() {
		if len(s.queue) == 0 || !s.mayGo(s.queue[0]) {
			s.changed.Wait()
			continue
		}
		it := s.queue[0]
		s.queue = slices.Delete(s.queue, 0, 1)
		if !s.forward(ctx, it) {
			s.done(it)
		}
	}
}

// mayGo reports whether the next line of the client can be worked on now. A change of the
// project waits for the answers to all before it, and all behind it for its own; so does
// initialize.
func (s *Session) mayGo(it *item) bool {
	wanted := 0 // by the client
	moves := it.activates || it.Method == "initialize"
	for call := range s.sent {
		if !call.told {
			wanted++
			moves = moves || call.activates
		}
	}
	switch {
	case it.Kind != wire.Request:
		return true
	case moves:
		return wanted == 0
	}
	return wanted < maxSent && len(s.sent) < maxWorking
}

// forward works on a line. It is true when that goes on until callDone.
func (s *Session) forward(ctx context.Context, it *item) bool {
	switch {
	case it.told:
	case it.Kind != wire.Request:
		s.passOn(ctx, it)
	case it.Method == "initialize":
		s.initialize(ctx, it)
	case len(s.initializeLine) == 0:
		s.fail(it, wire.CodeInvalid, "initialize comes first")
	case it.activates:
		return s.activate(ctx, it)
	case s.o.Plan == nil && activates(it.Message):
		s.tellText(it, sameProject, true)
	case it.Method == "tools/call":
		why := s.whyNot(ctx, it)
		if why == "" {
			return s.request(ctx, it)
		}
		s.tellText(it, why, true)
	case s.link == nil && s.fromCache(it):
	default:
		return s.request(ctx, it)
	}
	return false
}

// request sends a request, after it has connected if need be. It is false when it was
// not sent.
func (s *Session) request(ctx context.Context, it *item) (isSent bool) {
	ended := s.o.Servers.Began()
	defer func() {
		if !isSent {
			ended()
		}
	}()
	if it.Method == "tools/call" {
		s.noteTool(it.Params)
	}
	lk := s.link
	if lk == nil || isClosed(lk.server.Shut) { // for which watch retires it, maybe later
		var err error
		if lk, err = s.reopen(ctx); err != nil {
			if ctx.Err() == nil {
				s.fail(it, wire.CodeUnavailable, err.Error())
			}
			return false
		}
	}
	if !s.accept(it) || it.told || s.isOver() {
		return false
	}
	calling, abort := context.WithCancel(context.WithoutCancel(ctx))
	it.link, it.abort = lk, abort
	it.tries++
	lk.calls++
	s.sent[it] = true
	limit := s.o.Limits.Taken + time.Duration(len(it.line)/perMillis)*time.Millisecond
	each := func(line []byte) { s.incoming(lk, it, line) }
	taken := lk.session.Begin(calling, it.line, each, func(err error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.callDone(it, err)
		ended()
		if s.link != lk && lk.calls == 0 {
			s.close(context.Background(), lk)
		}
	})
	s.await(ctx, taken, limit)
	return true
}

// callDone tells the fate of a request whose call has ended without its answer.
func (s *Session) callDone(it *item, err error) {
	lk := it.link
	again, code, text := false, 0, ""
	if !it.told && !s.isOver() {
		lost := ""
		if err == nil || errors.Is(err, mcp.ErrLost) {
			s.await(context.Background(), lk.server.Gone, time.Second) // its streams and connections end before its process
		}
		if isClosed(lk.server.Gone) {
			s.outside(func() { lost = lk.server.Why() })
		}
		again, code, text = judge(err, it.tries, len(it.line), lost)
	}
	if again {
		s.retire(lk) // it is of no use any more
	}
	delete(s.sent, it)
	lk.calls--
	it.abort()
	if again && !it.told && !s.isOver() {
		it.link = nil
		s.lineUp(it)
		return
	}
	if !it.told && !s.isOver() {
		s.fail(it, code, text)
	}
	s.forget(it)
	s.done(it)
}

// passOn passes on what has no answer: what overtakes to the server that it is for, and else to
// the one that there is. It starts none: the next one hears what matters from the replay. Before
// initialize there is none, and initialize forgets what came before it.
func (s *Session) passOn(ctx context.Context, it *item) {
	if !s.accept(it) {
		return
	}
	lk := cmp.Or(it.link, s.link)
	if lk != nil {
		s.pass(ctx, lk, it.line)
	}
	switch it.Method {
	case "notifications/roots/list_changed":
		s.askRoots = s.o.Root != nil
	case "notifications/initialized":
		s.initializedLine = bytes.Clone(it.line)
		if lk != nil {
			s.await(ctx, lk.session.Listen(), sideLimit)
		}
	}
}

// pass sends a line that has no answer, and waits until the server has it. Where it did
// not get it the next request opens another MCP session: a server that was not told that
// its client is ready refuses all.
func (s *Session) pass(ctx context.Context, lk *link, line []byte) {
	if lk.session == nil { // it has asked while it was opened, and then failed
		return
	}
	taken := lk.session.Begin(ctx, line, nil, func(err error) {
		if err != nil {
			s.o.Log.Debug("The server did not take a message", "error", err)
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if errors.Is(err, mcp.ErrNotSent) && !s.isOver() {
			s.retire(lk)
		}
	})
	s.await(ctx, taken, sideLimit)
}

// await waits for a channel to be closed, for d at most.
func await(ctx context.Context, done <-chan struct{}, d time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	select {
	case <-done:
	case <-ctx.Done():
	}
}

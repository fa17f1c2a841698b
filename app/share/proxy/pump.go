package proxy

import (
	"bytes"
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
func (l *Session) pump(ctx context.Context) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for it := l.next(); it != nil; it = l.next() {
		if !l.forward(ctx, it) {
			l.done(it)
		}
	}
}

// next waits for the next line; nil at the end.
func (l *Session) next() *item {
	for !l.ending {
		if len(l.queue) > 0 && l.mayGo(l.queue[0]) {
			it := l.queue[0]
			l.queue = slices.Delete(l.queue, 0, 1)
			return it
		}
		l.changed.Wait()
	}
	return nil
}

// mayGo reports whether the next line of the client can be worked on now. A change of the
// project waits for the answers to all before it, and all behind it for its own.
func (l *Session) mayGo(it *item) bool {
	wanted := 0 // by the client
	moves := it.activates
	for call := range l.sent {
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
	return wanted < maxSent && len(l.sent) < maxWorking
}

// forward works on a line. It is true when that goes on until callDone.
func (l *Session) forward(ctx context.Context, it *item) bool {
	ready := len(l.state.initialize) > 0
	switch {
	case it.told:
	case it.Kind == wire.Request && it.Method == "initialize":
		l.initialize(ctx, it)
	case it.Kind == wire.Request && !ready:
		l.fail(it, wire.CodeInvalid, "initialize comes first")
	case it.activates:
		return l.activate(ctx, it)
	case it.Kind == wire.Request && l.o.Plan == nil && activates(it.Message):
		l.tellText(it, sameProject, true)
	case it.Kind == wire.Request && it.Method == "tools/call":
		why := l.whyNot(ctx, it)
		if why == "" {
			return l.request(ctx, it)
		}
		l.tellText(it, why, true)
	case it.Kind == wire.Request && l.link == nil && l.fromCache(it):
	case it.Kind == wire.Request:
		return l.request(ctx, it)
	case it.link != nil:
		if l.accept(it) {
			l.pass(ctx, it.link, it.line)
		}
	default:
		l.notification(ctx, it, ready)
	}
	return false
}

// request sends a request, after it has connected if need be. It is false when it was
// not sent.
func (l *Session) request(ctx context.Context, it *item) (isSent bool) {
	ended := l.o.Servers.Began()
	defer func() {
		if !isSent {
			ended()
		}
	}()
	if it.Method == "tools/call" {
		l.noteTool(it.Params)
	}
	if l.link != nil && isClosed(l.link.server.Shut) {
		l.retire(l.link) // watch may come to that later
	}
	lk := l.link
	if lk == nil {
		var err error
		if lk, err = l.reopen(ctx); err != nil {
			if ctx.Err() == nil {
				l.fail(it, wire.CodeUnavailable, err.Error())
			}
			return false
		}
	}
	if !l.accept(it) || it.told || l.ending {
		return false
	}
	calling, abort := context.WithCancel(context.WithoutCancel(ctx))
	it.link, it.abort = lk, abort
	it.tries++
	lk.calls++
	l.sent[it] = true
	limit := l.o.Limits.Taken + time.Duration(len(it.line)/perMillis)*time.Millisecond
	each := func(line []byte) { l.incoming(lk, it, line) }
	taken := lk.session.Begin(calling, it.line, each, func(err error) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.callDone(it, err)
		ended()
		if l.link != lk && lk.calls == 0 {
			l.close(context.Background(), lk)
		}
	})
	l.await(ctx, taken, limit)
	return true
}

// callDone tells the fate of a request whose call has ended without its answer.
func (l *Session) callDone(it *item, err error) {
	lk := it.link
	var v verdict
	if !it.told && !l.ending {
		e := ending{err: err, tries: it.tries, size: len(it.line)}
		if err == nil || errors.Is(err, mcp.ErrLost) {
			l.await(context.Background(), lk.server.Gone, time.Second) // its streams and connections end before its process
		}
		if e.gone = isClosed(lk.server.Gone); e.gone {
			l.outside(func() { e.why = lk.server.Why() })
		}
		v = judge(e)
		if v.drop {
			l.retire(lk)
		}
	}
	delete(l.sent, it)
	lk.calls--
	l.changed.Broadcast()
	it.abort()
	if v.again && !it.told && !l.ending {
		it.link = nil
		l.lineUp(it)
		return
	}
	left := unseen - time.Since(it.cancelled)
	if !it.cancelled.IsZero() && !it.answered && !l.ending && left > 0 {
		l.o.Servers.Lingering(left)
	}
	if !it.told && !l.ending {
		l.fail(it, v.code, v.text)
	}
	if it.told {
		l.forget(it)
	}
	l.done(it)
}

// notification passes on what the client only says. It starts no server: the
// next one hears what matters from the replay.
func (l *Session) notification(ctx context.Context, it *item, ready bool) {
	if !l.accept(it) {
		return
	}
	if !ready {
		l.o.Log.Debug("A notification before initialize was dropped", "method", it.Method)
		return
	}
	lk := l.link
	if lk != nil {
		l.pass(ctx, lk, it.line)
	}
	switch it.Method {
	case "notifications/roots/list_changed":
		l.askRoots = l.o.Root != nil
	case "notifications/initialized":
		l.state.initialized = bytes.Clone(it.line)
		if lk != nil {
			lk.session.Listen()
		}
	}
}

// pass sends a line that has no answer, and waits until the server has it. Where it does
// not get it the next request opens another MCP session.
func (l *Session) pass(ctx context.Context, lk *link, line []byte) {
	if lk.session == nil { // it has asked while it was opened, and then failed
		return
	}
	taken := lk.session.Begin(ctx, line, nil, func(err error) {
		if err != nil {
			l.o.Log.Debug("The server did not take a message", "error", err)
		}
	})
	l.await(ctx, taken, sideLimit)
}

// await waits for a channel to be closed; false when it takes longer than d.
func await(ctx context.Context, done <-chan struct{}, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-done:
		return true
	case <-timer.C:
	case <-ctx.Done():
	}
	return false
}

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

// pump sends to the server until pumping ends. What it sends goes on until calls
// ends.
func (l *Session) pump(pumping, calls context.Context) {
	for it := l.next(); it != nil; it = l.next() {
		if !l.forward(pumping, calls, it) {
			l.done(it)
		}
	}
}

// next waits for the next line; nil at the end.
func (l *Session) next() *item {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.current = nil
	l.checkDrainedLocked()
	for {
		switch {
		case l.ending:
			return nil
		case len(l.urgent) > 0:
			l.current, l.urgent = pop(l.urgent)
			return l.current
		case len(l.queue) > 0 && l.mayGoLocked(l.queue[0]):
			l.current, l.queue = pop(l.queue)
			return l.current
		}
		l.changed.Wait()
	}
}

// mayGoLocked reports whether the next line of the client can be worked on now. A change
// of the project waits for the answers to all before it, and all behind it for its own.
func (l *Session) mayGoLocked(it *item) bool {
	switch {
	case it.Kind != wire.Request:
		return true
	case l.moving != nil && l.moving != it && !l.moving.told:
		return false
	}
	wanted := 0 // by the client
	for call := range l.sent {
		if !call.told {
			wanted++
		}
	}
	if it.activates {
		return wanted == 0
	}
	return wanted < maxSent && len(l.sent) < maxWorking
}

func pop(list []*item) (*item, []*item) {
	first := list[0]
	list[0] = nil
	return first, list[1:]
}

// forward works on a line. It is true when that goes on until callDone.
func (l *Session) forward(pumping, calls context.Context, it *item) bool {
	l.mu.Lock()
	ready, told, lk := len(l.state.initialize) > 0, it.told, l.link
	l.mu.Unlock()
	switch {
	case told:
	case it.Kind == wire.Request && it.Method == "initialize":
		l.initialize(pumping, it)
	case it.Kind == wire.Request && !ready:
		l.fail(it, wire.CodeInvalid, "initialize comes first")
	case it.activates:
		return l.activate(pumping, calls, it)
	case it.Kind == wire.Request && l.o.Plan == nil && activates(it.Message):
		l.tellText(it, sameProject, true)
	case it.Kind == wire.Request && it.Method == "tools/call":
		why := l.whyNot(pumping, it)
		if why == "" {
			return l.request(pumping, calls, it)
		}
		l.tellText(it, why, true)
	case it.Kind == wire.Request && lk == nil && l.listFromCache(it):
	case it.Kind == wire.Request:
		return l.request(pumping, calls, it)
	case it.link != nil:
		if l.accept(it) {
			l.pass(pumping, it.link, it)
		}
	default:
		l.notification(pumping, it, ready)
	}
	return false
}

// request sends a request, after it has connected if need be. It is false when it was
// not sent.
func (l *Session) request(pumping, calls context.Context, it *item) (isSent bool) {
	l.mu.Lock()
	lk := l.link
	l.mu.Unlock()
	it.ended = l.o.Servers.Began()
	if it.Method == "tools/call" {
		l.noteTool(it.Params)
	}
	defer func() {
		if !isSent {
			it.ended()
		}
	}()
	if lk == nil {
		var err error
		if lk, err = l.reopen(pumping); err != nil {
			if pumping.Err() == nil {
				l.fail(it, wire.CodeUnavailable, err.Error())
			}
			return false
		}
		l.use(lk)
	}
	if !l.accept(it) {
		return false
	}
	ctx, abort := context.WithCancel(calls)
	l.mu.Lock()
	if it.told || l.ending {
		l.mu.Unlock()
		abort()
		return false
	}
	it.link, it.abort = lk, abort
	it.tries++
	lk.calls++
	l.sent[it] = true
	l.mu.Unlock()
	limit := l.o.Limits.Taken + time.Duration(len(it.line)/perMillis)*time.Millisecond
	taken, _ := lk.session.Begin(ctx, it.line, func(line []byte) { l.incoming(lk, it, line) }, func(err error) { l.callDone(calls, lk, it, err) })
	await(pumping, taken, limit)
	return true
}

// callDone tells the fate of a request whose call has ended without its answer.
func (l *Session) callDone(ctx context.Context, lk *link, it *item, err error) {
	l.mu.Lock()
	e := ending{err: err, tries: it.tries, size: len(it.line)}
	settled := it.told || l.ending
	l.mu.Unlock()
	var v verdict
	if !settled {
		if err == nil || errors.Is(err, mcp.ErrLost) {
			await(ctx, lk.server.Gone, time.Second) // its streams and connections end before its process
		}
		e.gone, e.why = lk.fell()
		v = judge(e)
		if v.drop {
			l.retire(lk)
		}
	}
	l.mu.Lock()
	delete(l.sent, it)
	since, abort, ended := it.cancelled, it.abort, it.ended
	again := v.again && !it.told && !l.ending
	if again {
		it.link = nil
		at := slices.IndexFunc(l.queue, func(other *item) bool { return other.seq > it.seq })
		if at < 0 {
			at = len(l.queue)
		}
		l.queue = slices.Insert(l.queue, at, it)
	}
	unseenCall := !since.IsZero() && !it.answered && !l.ending
	if !again && it.told {
		l.forgetLocked(it)
	}
	lk.calls--
	last := lk.calls == 0 && lk.retired
	l.changed.Broadcast()
	l.mu.Unlock()
	abort()
	if left := unseen - time.Since(since); unseenCall && left > 0 {
		l.o.Servers.Lingering(left)
	}
	if !again {
		if !settled {
			l.fail(it, v.code, v.text)
		}
		l.done(it)
	}
	ended()
	if last {
		lk.close(context.Background())
	}
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
	initialized := it.Method == "notifications/initialized"
	l.mu.Lock()
	if it.Method == "notifications/roots/list_changed" {
		l.askRoots = l.o.Root != nil
	}
	if initialized {
		l.state.initialized = bytes.Clone(it.line)
	}
	lk := l.link
	l.mu.Unlock()
	if lk == nil {
		return
	}
	if l.pass(ctx, lk, it) && initialized {
		lk.session.Listen()
	}
}

// pass sends a line that has no answer, and waits until the server has it.
func (l *Session) pass(ctx context.Context, lk *link, it *item) bool {
	if lk.session == nil { // it has asked while it was opened, and then failed
		return false
	}
	var err error
	_, done := lk.session.Begin(ctx, it.line, l.receiver(lk), func(e error) { err = e })
	if !await(ctx, done, sideLimit) {
		return true // it has been written, and the server is slow
	}
	if err == nil {
		return true
	}
	l.o.Log.Debug("The server did not take a message", "method", it.Method, "error", err)
	if errors.Is(err, mcp.ErrUnknown) || errors.Is(err, mcp.ErrNotSent) {
		l.retire(lk)
	}
	return false
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

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
	for {
		it := l.next()
		if it == nil {
			return
		}
		l.forward(pumping, calls, it)
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
	case it.activates:
		return l.wanted == 0
	}
	return l.wanted < maxSent && l.working < maxWorking
}

func pop(list []*item) (*item, []*item) {
	first := list[0]
	list[0] = nil
	return first, list[1:]
}

func (l *Session) forward(pumping, calls context.Context, it *item) {
	l.mu.Lock()
	ready, told, lk := l.ready, it.told, l.link
	l.mu.Unlock()
	switch {
	case told:
		l.done(it)
	case it.Kind == wire.Request && it.Method == "initialize":
		l.initialize(pumping, it)
		l.done(it)
	case it.Kind == wire.Request && !ready:
		l.fail(it, wire.CodeInvalid, "initialize comes first")
		l.done(it)
	case it.activates:
		l.activate(pumping, calls, it)
	case it.Kind == wire.Request && it.Method == "tools/call" && l.lacksProject(pumping, it):
		l.tellText(it, noProject, true)
	case it.Kind == wire.Request:
		if !l.fromCache(it, lk) {
			l.request(pumping, calls, it)
		}
	case it.Kind == wire.Response:
		l.response(pumping, it)
		l.done(it)
	case it.Method == "notifications/cancelled":
		l.cancel(pumping, it)
		l.done(it)
	default:
		l.notification(pumping, it, ready)
		l.done(it)
	}
}

// fromCache answers a request without a server.
func (l *Session) fromCache(it *item, lk *link) bool {
	if lk != nil || it.Method != "tools/list" || !plainList(it.Params) {
		return false
	}
	result, ok := l.cached(it.Method)
	if !ok {
		return false
	}
	l.accept(it)
	l.noteTools(result)
	l.tell(it, resultLine(it.ID, result))
	l.done(it)
	return true
}

// request sends a request, after it has connected if need be.
func (l *Session) request(pumping, calls context.Context, it *item) {
	l.mu.Lock()
	lk := l.link
	l.mu.Unlock()
	if it.Method == "tools/call" {
		l.noteTool(it.Params)
	}
	it.ended = l.o.Servers.Began()
	if lk == nil {
		var err error
		if lk, err = l.connect(pumping); err != nil {
			if pumping.Err() == nil {
				l.fail(it, wire.CodeUnavailable, err.Error())
			}
			l.done(it)
			it.ended()
			return
		}
	}
	if !l.accept(it) {
		l.done(it)
		it.ended()
		return
	}
	ctx, abort := context.WithCancel(calls)
	l.mu.Lock()
	if it.told || l.ending {
		l.mu.Unlock()
		abort()
		l.done(it)
		it.ended()
		return
	}
	it.stage, it.link, it.abort = sent, lk, abort
	it.tries++
	lk.calls++
	l.working++
	it.wanted = true
	l.wanted++
	l.mu.Unlock()
	limit := l.o.Limits.Taken + time.Duration(len(it.line)/perMillis)*time.Millisecond
	taken, _ := lk.session.Begin(ctx, it.line, func(line []byte) { l.incoming(lk, it, line) }, func(err error) { l.callDone(calls, lk, it, err) })
	await(pumping, taken, limit)
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
			pause(ctx, lk.server.Gone, time.Second) // its streams and connections end before its process
		}
		e.gone, e.why = lk.fell()
		v = judge(e)
		if v.drop {
			l.retire(lk)
		}
	}
	l.mu.Lock()
	l.working--
	l.unwantLocked(it)
	since, abort, ended := it.cancelled, it.abort, it.ended
	again := v.again && !it.told && !l.ending
	if again {
		it.stage, it.link = queued, nil
		at := slices.IndexFunc(l.queue, func(other *item) bool { return other.seq > it.seq })
		if at < 0 {
			at = len(l.queue)
		}
		l.queue = slices.Insert(l.queue, at, it)
	}
	unseenCall := !it.cancelled.IsZero() && !it.answered && !l.ending
	if !again && it.told {
		l.forgetLocked(it)
	}
	l.changed.Broadcast()
	l.mu.Unlock()
	abort()
	if unseenCall {
		if left := unseen - time.Since(since); left > 0 {
			l.o.Servers.Lingering(left)
		}
	}
	if !again {
		if !settled {
			l.fail(it, v.code, v.text)
		}
		l.done(it)
	}
	ended()
	l.callEnded(lk)
}

// cancel passes on that the client does not want an answer any more.
func (l *Session) cancel(ctx context.Context, it *item) {
	r := it.cancels
	if !l.accept(it) {
		return
	}
	for { // it may go back to the queue in between
		if l.cancelHere(r) {
			return
		}
		l.mu.Lock()
		if r.stage == sent && !r.told {
			break
		}
		l.mu.Unlock()
	}
	// Its id stays taken until the server lets go of it: Serena runs it to its end.
	r.told, r.cancelled = true, time.Now()
	l.unwantLocked(r)
	lk, abort := r.link, r.abort
	timer := time.AfterFunc(unseen, abort)
	r.abort = func() {
		timer.Stop()
		abort()
	}
	l.mu.Unlock()
	l.pass(ctx, lk, it)
	l.write(func() error { return l.o.Out.Settle(r.seq) })
	l.closed()
}

// response passes on the client's answer to a request of the server.
func (l *Session) response(ctx context.Context, it *item) {
	key := idKey(it.ID)
	l.mu.Lock()
	asked, ok := l.asked[key]
	delete(l.asked, key)
	l.mu.Unlock()
	if !l.accept(it) {
		return
	}
	if ok {
		l.pass(ctx, asked, it)
		return
	}
	l.o.Log.Debug("The client answered what no server waits for")
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
	var err error
	_, done := lk.session.Begin(ctx, it.line, func(line []byte) { l.incoming(lk, nil, line) }, func(e error) { err = e })
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

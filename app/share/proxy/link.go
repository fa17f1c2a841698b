package proxy

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"lamplighter/app/mcp"
	"lamplighter/app/share"
	"lamplighter/app/share/wire"
)

// link is the MCP session of a session with one run of the server.
type link struct {
	server share.Endpoint
	// session is set before the link is in use, by the pump; nil when it could not be opened.
	session upstreamSession

	// guarded by Session.mu
	calls   int  // that have not ended
	retired bool // nothing is sent on it any more
	muted   bool // what comes on it is for nobody

	once   sync.Once
	closed chan struct{}
}

func newLink(server share.Endpoint) *link { return &link{server: server, closed: make(chan struct{})} }

// close ends the MCP session, within 2 s.
func (lk *link) close(ctx context.Context) {
	lk.once.Do(func() {
		close(lk.closed)
		ctx, cancel := context.WithTimeout(ctx, grace)
		defer cancel()
		lk.session.Close(ctx)
	})
}

// fell reports whether the server's process has ended, and how.
func (lk *link) fell() (gone bool, why string) {
	select {
	case <-lk.server.Gone:
		return true, lk.server.Why()
	default:
		return false, ""
	}
}

// watch retires a link when the server's process has ended. Calls whose answer is
// still on the way get a moment for it. When the server hangs it is sent no more, so
// that what is asked from then on is surely not carried out before the next one has it.
func (l *Session) watch(lk *link) {
	select {
	case <-lk.closed:
		return
	case <-lk.server.Hung:
		l.answerHung(lk)
		l.retire(lk)
		select {
		case <-lk.closed:
			return
		case <-lk.server.Gone:
		}
	case <-lk.server.Gone:
	}
	l.retire(lk)
	await(context.Background(), lk.closed, grace)
	lk.close(context.Background())
}

// retire lets nothing more be sent on a link. It is closed when its last call has
// ended.
func (l *Session) retire(lk *link) {
	l.mu.Lock()
	l.retireLocked(lk)
	idle := lk.calls == 0
	l.mu.Unlock()
	if idle {
		lk.close(context.Background())
	}
}

func (l *Session) retireLocked(lk *link) {
	if l.link == lk {
		l.link = nil
	}
	lk.retired = true
	maps.DeleteFunc(l.asked, func(_ string, q question) bool { return q.link == lk })
}

// leaveAndUnlock closes the link, and what still comes on it is for nobody. The caller holds mu,
// which is given up: to close it takes 2 s at most.
func (l *Session) leaveAndUnlock() {
	lk := l.link
	if lk != nil {
		lk.muted = true
		l.retireLocked(lk)
	}
	l.mu.Unlock()
	if lk != nil {
		lk.close(context.Background())
	}
}

// errGone says that a client has gone.
var errGone = errors.New("the client has gone")

// errAnswered says that no server is needed any more.
var errAnswered = errors.New("it was answered without a server")

// openLink acquires the server and opens an MCP session with it. The error is for
// the user. before is called when there is a server, before anything is sent, and
// nothing is sent when it is false. After a server was found to hang the next try waits
// until it answers or is replaced, unless answered says that nobody waits for it any more.
func (l *Session) openLink(ctx context.Context, initialize []byte, before, answered func() bool) (lk *link, answer []byte, err error) {
	for try := 1; ; try++ {
		server, err := l.o.Servers.Acquire(ctx)
		if err != nil {
			return nil, nil, err
		}
		if !before() {
			return nil, nil, errGone
		}
		lk, answer, err = l.openOnce(ctx, server, initialize)
		if err == nil || ctx.Err() != nil {
			return lk, answer, err
		}
		select {
		case <-server.Hung:
			if answered() {
				return nil, nil, errAnswered
			}
			try = 0
			continue
		default:
		}
		// Nothing is carried out twice: an MCP session that was begun and lost does nothing.
		var refused *mcp.Refused
		if try == retries || errors.As(err, &refused) {
			return nil, nil, errors.New(openingText(err))
		}
		l.o.Log.Debug("An MCP session could not be opened", "error", err)
		await(ctx, server.Gone, time.Duration(try)*300*time.Millisecond)
	}
}

func (l *Session) openOnce(ctx context.Context, server share.Endpoint, initialize []byte) (*link, []byte, error) {
	ctx, end := context.WithCancel(ctx)
	defer end()
	go func() { // the port of a server that hangs, or whose process has ended, may stay silent
		defer end()
		select {
		case <-server.Hung:
		case <-server.Gone:
		case <-ctx.Done():
		}
	}()
	lk := newLink(server)
	session, answer, err := l.dial(ctx, server, l.receiver(lk), initialize)
	if err != nil || session == nil { // then it was refused with an error of JSON-RPC
		return nil, answer, err
	}
	lk.session = session
	return lk, answer, nil
}

func (l *Session) receiver(lk *link) func([]byte) {
	return func(line []byte) { l.incoming(lk, nil, line) }
}

// use makes a link the one that is sent on.
func (l *Session) use(lk *link) {
	l.mu.Lock()
	if l.ending {
		l.mu.Unlock()
		lk.close(context.Background())
		return
	}
	l.link = lk
	l.mu.Unlock()
	go l.watch(lk)
}

// reopen opens another MCP session for a client that has been through its initialize, and
// repeats what it had set up. It is to be used then.
func (l *Session) reopen(ctx context.Context) (*link, error) {
	l.mu.Lock()
	state := l.state
	l.mu.Unlock()
	lk, answer, err := l.openLink(ctx, state.initialize, func() bool { return true }, func() bool { return false })
	if err != nil {
		return nil, err
	}
	if lk == nil {
		return nil, fmt.Errorf("the server refused the client's initialize when it was repeated: %s", errorMessage(wire.Split(answer).Error))
	}
	l.replay(ctx, lk, state)
	return lk, nil
}

// replay repeats to a new MCP session what the client had set up. What comes of
// it is nothing to the client: it has had its answers.
func (l *Session) replay(ctx context.Context, lk *link, state state) {
	if len(state.initialized) == 0 {
		return
	}
	taken, _ := lk.session.Begin(ctx, state.initialized, l.receiver(lk), nil)
	if !await(ctx, taken, sideLimit) {
		l.o.Log.Debug("The server has not taken a line that was repeated to it")
	}
	lk.session.Listen()
}

// dialer opens MCP sessions as mcp.Open does: openServer, or what tests make of it.
type dialer func(ctx context.Context, server share.Endpoint, receive func([]byte), initialize []byte) (upstreamSession, []byte, error)

// upstreamSession is what a session needs of an *mcp.Server.
type upstreamSession interface {
	Listen()
	Begin(ctx context.Context, line []byte, each func(line []byte), ended func(error)) (taken, done <-chan struct{})
	Close(ctx context.Context)
}

func openServer(ctx context.Context, server share.Endpoint, receive func([]byte), initialize []byte) (upstreamSession, []byte, error) {
	s, answer, err := mcp.Open(ctx, mcp.Options{URL: server.URL, Transport: server.Transport, Receive: receive}, initialize)
	if s == nil || err != nil {
		return nil, answer, err
	}
	return s, answer, nil
}

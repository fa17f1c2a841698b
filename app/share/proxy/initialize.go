package proxy

import (
	"bytes"
	"context"
	"errors"

	"lamplighter/app/share/wire"
)

// initialize begins the conversation, or begins it again.
func (l *Session) initialize(ctx context.Context, it *item) {
	if !l.startOver() {
		l.fail(it, wire.CodeInvalid, "initialize cannot come again while requests are in flight")
		return
	}
	said, _ := readMembers(it.Params)
	under := cacheKey(it.Params)
	if l.o.Info != nil {
		l.o.Info(said.ClientInfo)
	}
	fromCache := func() bool { return l.initializeFromCache(it, under) }
	if fromCache() {
		return
	}
	defer l.o.Servers.Began()()
	lk, answer, err := l.openLink(ctx, it.line, func() bool { return l.accept(it) }, fromCache)
	switch {
	case errors.Is(err, errAnswered):
		return
	case ctx.Err() != nil:
		if lk != nil {
			lk.close(context.WithoutCancel(ctx))
		}
		return
	case err != nil:
		l.fail(it, wire.CodeUnavailable, err.Error())
		return
	case lk == nil:
		l.tell(it, answer)
		return
	}
	l.begun(it, under)
	l.use(lk)
	if result := wire.Split(answer).Result; under != "" {
		l.o.Servers.Store("initialize", under, bytes.Clone(result))
	}
	l.tell(it, answer)
}

// initializeFromCache begins the conversation without a server.
func (l *Session) initializeFromCache(it *item, under string) bool {
	if under == "" {
		return false
	}
	result, ok := l.o.Servers.Cached("initialize", under)
	said, _ := readMembers(result)
	if !ok || said.ProtocolVersion == "" {
		return false
	}
	l.begun(it, under)
	l.tell(it, resultLine(it.ID, result))
	return true
}

// begun takes over what the client has said. From then on it has what it needs
// for requests, so that this comes before the answer.
func (l *Session) begun(it *item, under string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.state = state{initialize: bytes.Clone(it.line), under: under}
}

// startOver forgets the conversation before. It is false, and changes nothing, while the
// server works on something: its answer could be taken for one of the next conversation.
func (l *Session) startOver() bool {
	l.mu.Lock()
	if len(l.sent) > 0 {
		l.mu.Unlock()
		return false
	}
	l.state = state{}
	l.leaveAndUnlock()
	return true
}

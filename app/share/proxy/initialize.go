package proxy

import (
	"bytes"
	"context"
	"errors"

	"lamplighter/app/share/wire"
)

// initialize begins the conversation, or begins it again.
func (l *Session) initialize(ctx context.Context, it *item) {
	for r := range l.sent {
		if !r.answered { // the answer to that could be taken for one of the next conversation
			l.fail(it, wire.CodeInvalid, "initialize cannot come again while requests are in flight")
			return
		}
	}
	l.state = state{}
	if l.link != nil {
		l.retire(l.link)
	}
	said, _ := readMembers(it.Params)
	l.o.Info(said.ClientInfo)
	if l.fromCache(it) {
		return
	}
	defer l.o.Servers.Began()()
	lk, answer, err := l.openLink(ctx, it.line, it)
	switch {
	case errors.Is(err, errAnswered), ctx.Err() != nil:
	case err != nil:
		l.fail(it, wire.CodeUnavailable, err.Error())
	case lk == nil:
		l.tell(it, answer)
	default:
		l.state.initialize = bytes.Clone(it.line) // from now on it has what it needs for requests
		l.learn(it, wire.Split(answer).Result)
		l.tell(it, answer)
	}
}

package proxy

import (
	"bytes"
	"context"

	"lamplighter/app/share/wire"
)

// initialize begins the conversation, or begins it again.
func (s *Session) initialize(ctx context.Context, it *item) {
	s.initializeLine, s.initializedLine = nil, nil
	if s.link != nil {
		s.retire(s.link)
	}
	said, _ := readMembers(it.Params)
	s.o.Info(said.ClientInfo)
	if s.fromCache(it) {
		return
	}
	defer s.o.Servers.Began()()
	lk, answer, err := s.openLink(ctx, it.line, it)
	switch {
	case ctx.Err() != nil:
	case err != nil:
		s.fail(it, wire.CodeUnavailable, err.Error())
	case lk == nil:
		s.tell(it, answer) // unless it was told from memory
	default:
		s.initializeLine = bytes.Clone(it.line) // from now on it has what it needs for requests
		s.learn(it, wire.Split(answer).Result)
		s.tell(it, answer)
	}
}

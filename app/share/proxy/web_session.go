package proxy

import (
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"lamplighter/app/share"
	"lamplighter/app/share/wire"
)

var errEnded = errors.New("the MCP session has ended")

// webSession is one MCP session over HTTP: an Outlet, whose lines go to the
// requests of the client that wait for them, or to its GET stream.
type webSession struct {
	id      string
	session *Session
	member  *share.Client
	log     *slog.Logger
	unused  *time.Timer   // ends it after so long without a request
	idle    time.Duration // which is how long
	ended   chan struct{} // closed when its session has ended

	mu      sync.Mutex
	seq     uint64   // of the last line
	replies []*reply // that are being written, those of GET streams among them; the newest last
}

// number makes a line of the client the next one. r gets what answers it; nil for none.
func (s *webSession) number(m wire.Message, line []byte, r *reply) *item {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seq++
	if r != nil {
		r.seq = s.seq
		s.replies = append(s.replies, r)
	}
	s.use()
	return &item{Message: m, seq: s.seq, line: line}
}

// listen makes r a GET stream.
func (s *webSession) listen(r *reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.replies = append(s.replies, r)
}

// leave says that nothing is written to a reply any more.
func (s *webSession) leave(r *reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.replies = slices.DeleteFunc(s.replies, func(other *reply) bool { return other == r })
	close(r.over)
	s.use()
}

// use keeps the session for as long as one may be unused. The caller holds mu.
func (s *webSession) use() {
	if !isClosed(s.ended) {
		s.unused.Reset(s.idle)
	}
}

// endUnused ends the session, unless a request of it is being answered.
func (s *webSession) endUnused() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.replies) == 0 {
		s.log.Info("an MCP session over HTTP ends, because nobody uses it")
		s.session.Gone()
	}
}

// Accept is part of Outlet: over HTTP a client sees by its connection that
// we died.
func (s *webSession) Accept(uint64) error { return nil }

// Deliver is part of Outlet. What its client has no stream for is lost, as it is with Serena.
func (s *webSession) Deliver(seq uint64, answer bool, line []byte) error {
	for r := s.replyFor(seq, answer); r != nil && !r.take(message{line, answer}); {
		r = s.replyFor(seq, answer) // it has left
	}
	if answer && seq == 1 && wire.Split(line).Error != nil {
		return errEnded // there is no session without initialize, which is its first line
	}
	return nil
}

// replyFor is where a line is written: the answer to the request that it belongs to, else the
// newest GET stream, else the stream of another request. nil is nowhere.
func (s *webSession) replyFor(seq uint64, answer bool) (found *reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range slices.Backward(s.replies) {
		switch {
		case r.json && !answer:
		case r.seq == seq:
			return r
		case !answer && (found == nil || r.seq == 0 && found.seq != 0):
			found = r
		}
	}
	return found
}

// Moved is part of Outlet: over HTTP nobody goes on with a conversation.
func (s *webSession) Moved(string) error { return nil }

package proxy

import (
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"time"

	"lamplighter/app/share"
	"lamplighter/app/share/wire"
)

// The most that waits for a client to read its GET stream: messages, and their bytes
// unless it is one message.
const mostWaiting, mostWaitingBytes = 1000, 16 << 20

var errEnded = errors.New("the MCP session has ended")

// webSession is one MCP session over HTTP: an Outlet, whose lines go to the
// requests of the client that wait for them, or to its GET stream.
type webSession struct {
	id      string // set once, by Server.add
	session *Session
	member  *share.Client
	log     *slog.Logger
	idle    time.Duration
	unused  *time.Timer   // ends it after so long without a request
	ended   chan struct{} // closed when its session has ended

	mu       sync.Mutex
	seq      uint64            // of the last line
	replies  map[uint64]*reply // requests that wait, by their number
	stream   *reply            // the GET stream, nil when there is none
	waiting  [][]byte          // for the GET stream
	dropped  often             // messages
	requests int               // that are being answered
}

// take gives a line to the session, and what it is. reply gets what answers it; nil for none.
func (s *webSession) take(m wire.Message, line []byte, r *reply) {
	s.mu.Lock()
	s.seq++
	seq := s.seq
	if r != nil {
		r.seq = seq
		s.replies[seq] = r
	}
	s.mu.Unlock()
	s.session.take(&item{Message: m, seq: seq, line: line})
}

// using keeps the session until the function that it returns is called.
func (s *webSession) using() func() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests++
	s.unused.Stop()
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.requests--
		if s.requests == 0 && !isClosed(s.ended) {
			s.unused.Reset(s.idle)
		}
	}
}

// leave says that nothing is written to a reply any more.
func (s *webSession) leave(r *reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.replies, r.seq)
	if s.stream == r {
		s.stream = nil
	}
	close(r.over)
}

// listen makes r the GET stream. One that was there before ends: its client has lost it,
// or should not have two.
func (s *webSession) listen(r *reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if before := s.stream; before != nil {
		close(before.lines)
		// Its client may not read. It goes on for as long as mu is held, see leave.
		_ = http.NewResponseController(before.w).SetWriteDeadline(time.Now())
	}
	s.stream = r
	r.bell.Ring()
}

// Accept is part of Outlet: over HTTP a client sees by its connection that
// we died.
func (s *webSession) Accept(uint64) error { return nil }

// Deliver is part of Outlet.
func (s *webSession) Deliver(seq uint64, answer bool, line []byte) error {
	s.mu.Lock()
	r := s.replies[seq]
	if answer {
		delete(s.replies, seq)
	}
	s.mu.Unlock()
	taken := false
	if r != nil && line != nil && (answer || !r.json) {
		select {
		case r.lines <- message{line, answer}:
			taken = true
		case <-r.over: // the client has given up its request
		}
	}
	switch {
	case !answer && !taken:
		s.push(line)
	case answer && r != nil:
		close(r.lines)
	}
	if answer && seq == 1 && wire.Split(line).Error != nil {
		return errEnded // there is no session without initialize, which is its first line
	}
	return nil
}

// push has the GET stream send what belongs to no request.
func (s *webSession) push(line []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting = append(s.waiting, line)
	bytes := 0
	for _, line := range s.waiting {
		bytes += len(line)
	}
	for len(s.waiting) > mostWaiting || len(s.waiting) > 1 && bytes > mostWaitingBytes {
		bytes -= len(s.waiting[0])
		s.waiting = slices.Delete(s.waiting, 0, 1) // and lets go of it
		s.dropped.log(s.log, slog.LevelWarn, "dropped a message for a client over HTTP, because it reads no GET stream")
	}
	s.ringStream()
}

// ringStream tells the GET stream, if there is one, that something waits. The caller holds
// mu.
func (s *webSession) ringStream() {
	if s.stream != nil {
		s.stream.bell.Ring()
	}
}

// sendWaiting sends what waits on the GET stream. When that fails the next one gets it.
func (s *webSession) sendWaiting(r *reply) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.stream == r && len(s.waiting) > 0 {
		line := s.waiting[0]
		s.waiting = slices.Delete(s.waiting, 0, 1)
		s.mu.Unlock()
		err := r.send(line)
		s.mu.Lock()
		if err != nil {
			s.waiting = slices.Insert(s.waiting, 0, line)
			s.ringStream()
			return err
		}
	}
	return nil
}

// Moved is part of Outlet: over HTTP nobody goes on with a conversation.
func (s *webSession) Moved(string) error { return nil }

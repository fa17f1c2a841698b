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

// The most that waits for a client to open its GET stream.
const (
	mostWaiting      = 1000
	mostWaitingBytes = 16 << 20
)

var errEnded = errors.New("the MCP session has ended")

// webSession is one MCP session over HTTP: a Outlet, whose lines go to the
// requests of the client that wait for them, or to its GET stream.
type webSession struct {
	id      string // set once, by Web.add
	session *Session
	member  *share.Client
	log     *slog.Logger
	now     func() time.Time
	ended   chan struct{} // closed when its session has ended
	begin   uint64        // number of its initialize, until that was answered; of Deliver alone

	taking  sync.Mutex // held while a line is given to the session
	seq     uint64     // of the last one; guarded by taking
	hearing sync.Mutex // held while a GET stream begins

	mu       sync.Mutex
	replies  map[uint64]*reply // requests that wait, by their number
	stream   *reply            // the GET stream, nil when there is none
	waiting  [][]byte          // for the GET stream
	bytes    int               // of waiting
	dropped  often             // messages
	requests int               // that are being answered
	used     time.Time         // last
}

// take gives a line to the session. reply gets what answers it; nil for none.
func (s *webSession) take(line []byte, r *reply) {
	s.taking.Lock()
	defer s.taking.Unlock()
	s.seq++
	if r != nil {
		r.seq = s.seq
		s.mu.Lock()
		s.replies[r.seq] = r
		s.mu.Unlock()
	}
	s.session.Take(s.seq, line)
}

// using counts a request of the client until the function that it returns is
// called.
func (s *webSession) using() func() {
	s.count(1)
	return func() { s.count(-1) }
}

func (s *webSession) count(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests += n
	s.used = s.now()
}

func (s *webSession) unused(d time.Duration) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests == 0 && s.now().Sub(s.used) >= d
}

// forget says that nobody waits for a reply any more.
func (s *webSession) forget(r *reply) {
	s.mu.Lock()
	delete(s.replies, r.seq)
	s.mu.Unlock()
	r.close()
}

// listen makes r the GET stream, after what has waited for one was sent on it. One
// that was there before ends: its client has lost it, or should not have two.
func (s *webSession) listen(r *reply) {
	s.hearing.Lock()
	defer s.hearing.Unlock()
	s.mu.Lock()
	if before := s.stream; before != nil {
		s.stream = nil
		// Its request goes on for as long as mu is held, see unlisten. To close it
		// may take long, because its client may not read.
		before.abort()
		s.mu.Unlock()
		before.close()
		s.mu.Lock()
	}
	for len(s.waiting) > 0 {
		line := s.waiting[0]
		s.waiting = s.waiting[1:]
		s.bytes -= len(line)
		s.mu.Unlock()
		sent := r.send(line)
		s.mu.Lock()
		if !sent { // the next stream gets it
			s.waiting = slices.Insert(s.waiting, 0, line)
			s.bytes += len(line)
			s.mu.Unlock()
			return
		}
	}
	s.stream = r
	s.mu.Unlock()
}

func (s *webSession) unlisten(r *reply) {
	s.mu.Lock()
	if s.stream == r {
		s.stream = nil
	}
	s.mu.Unlock()
	r.close()
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
	if answer {
		begun := true
		if seq == s.begin {
			s.begin = 0
			begun = wire.Split(line).Error == nil
		}
		if r != nil { // else the client has given up its request
			r.send(line)
			r.close()
		}
		if !begun {
			return errEnded // there is no session without initialize
		}
		return nil
	}
	if r != nil && !r.json && r.send(line) {
		return nil
	}
	s.push(line)
	return nil
}

// push sends what belongs to no request.
func (s *webSession) push(line []byte) {
	for {
		s.mu.Lock()
		stream := s.stream
		if stream == nil {
			s.keepLocked(line)
			s.mu.Unlock()
			return
		}
		s.mu.Unlock()
		if stream.send(line) {
			return
		}
		s.unlisten(stream)
	}
}

func (s *webSession) keepLocked(line []byte) {
	s.waiting = append(s.waiting, append([]byte(nil), line...))
	s.bytes += len(line)
	for len(s.waiting) > mostWaiting || s.bytes > mostWaitingBytes {
		s.bytes -= len(s.waiting[0])
		s.waiting = s.waiting[1:]
		s.dropped.log(s.log, slog.LevelWarn, "dropped a message for a client over HTTP, because it has no GET stream")
	}
}

// Settle is part of Outlet.
func (s *webSession) Settle(seq uint64) error {
	s.mu.Lock()
	r := s.replies[seq]
	delete(s.replies, seq)
	s.mu.Unlock()
	if r != nil {
		r.close()
	}
	return nil
}

// Moved is part of Outlet: over HTTP nobody goes on with a conversation.
func (s *webSession) Moved(string) error { return nil }

// Say is part of Outlet: over HTTP nobody reads it.
func (s *webSession) Say(sentence string) error {
	s.log.Info("said to a client over HTTP", "text", shown(sentence))
	return nil
}

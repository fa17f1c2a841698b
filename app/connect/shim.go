package main

import (
	"runtime"
	"sync"
	"time"

	"lamplighter/app/share/wire"
)

// exitUnavailable is the exit status when the background process cannot serve
// us: EX_UNAVAILABLE of sysexits.h.
const exitUnavailable = 69

// lastAnswers is how long the client has to take the errors with which we end.
const lastAnswers = time.Second

// link is a connection to the background process. Read and write may wait at the
// same time.
type link interface {
	read([]byte) (int, error)
	write([]byte) error
	endWriting() // what the other end has sent can still be read
	hangUp()     // ends what waits, at the other end too
	close()      // after hangUp, when nobody reads or writes
}

// shim stands between a client and the background process.
type shim struct {
	limits
	greeting wire.Greeting
	dial     func() (link, error)
	read     func([]byte) (int, error) // from the client
	print    func([]byte) error        // to the client, as a whole
	complain func(string)              // to the user
	closed   func() bool               // the client writes nothing more, as far as that is known without reading
	exit     func(status int)          // does not return
	now      func() time.Time

	sending sync.Mutex // held by flush
	out     sync.Mutex // held while printing, so that lines stay whole

	mu       sync.Mutex
	book     book
	link     link      // nil while there is none that is welcome
	ended    bool      // the client sends nothing more
	refusing bool      // whatever comes is refused, because we end
	watching bool      // watchPending goes on
	lastWord time.Time // when the background process said something
	flushing bool      // flush goes on
	room     chan struct{}
	wake     chan struct{} // there is something to send, to be connected for
}

// newShim makes a shim whose other fields the caller sets.
func newShim(l limits) *shim {
	return &shim{limits: l, now: time.Now, room: make(chan struct{}, 1), wake: make(chan struct{}, 1)}
}

// bye is that the background process wants us to end.
type bye struct {
	status int
	why    string
}

func (b bye) Error() string { return b.why }

// serve passes everything on, beginning with a link that is welcome. It returns
// the exit status, if it is not exit that ends us.
func (s *shim) serve(l link, f *frames) int {
	s.connected(l)
	go s.pumpLines()
	for {
		if b, ok := s.converse(f).(bye); ok {
			s.complain(b.why)
			return s.giveUp(b.status, b.why)
		}
		s.disconnected(l)
		l, f = s.reconnect()
		if l == nil {
			return s.giveUp(exitUnavailable, "lamplighter cannot go on with the server that was used here; start the MCP server again")
		}
		s.connected(l)
	}
}

// converse takes frames until the connection is lost or the error is a bye. What
// is no frame, or none for now, counts as a loss.
func (s *shim) converse(f *frames) error {
	for {
		h, payload, err := f.next()
		if err != nil {
			return err
		}
		switch h.Type {
		case wire.Accept:
			s.mu.Lock()
			ok := s.book.accept(h.Seq)
			s.mu.Unlock()
			if !ok {
				return wire.ErrFrame
			}
			s.progress()
		case wire.Deliver:
			s.deliver(h.Seq, payload)
			if h.Length > releaseAbove {
				release()
			}
		case wire.Settle:
			s.mu.Lock()
			s.book.settle(h.Seq)
			s.mu.Unlock()
			s.progress()
		default:
			if err := s.aside(h, payload); err != nil {
				return err
			}
		}
	}
}

// aside takes the frames that can come at any time.
func (s *shim) aside(h wire.Header, payload []byte) error {
	switch {
	case h.Type == wire.Say:
		s.complain(string(payload))
	case h.Type == wire.Moved:
		s.greeting.Moved, s.greeting.Project = true, string(payload)
	case h.Type == wire.Bye && len(payload) > 0:
		return bye{int(payload[0]), string(payload[1:])}
	default:
		return wire.ErrFrame
	}
	return nil
}

// deliver prints a line for the client, once.
func (s *shim) deliver(seq uint64, payload []byte) {
	s.mu.Lock()
	ok := s.book.settle(seq)
	if ok {
		s.book.answered(seq, payload)
	}
	s.book.printing++
	s.mu.Unlock()
	if ok {
		s.out.Lock()
		err := withEnd(payload, s.print)
		s.out.Unlock()
		if err != nil {
			s.exit(0) // the client has gone
		}
	}
	s.printed()
}

// printAll prints lines that were taken out of the book while printing was
// counted up.
func (s *shim) printAll(lines [][]byte) {
	for _, line := range lines {
		s.out.Lock()
		err := s.print(append(line, '\n'))
		s.out.Unlock()
		if err != nil {
			s.exit(0)
		}
	}
	s.printed()
}

func (s *shim) printed() {
	s.mu.Lock()
	s.book.printing--
	s.lastWord = s.now() // which was not listened to meanwhile
	s.mu.Unlock()
	s.progress()
}

// progress ends us when everything is done, and lets the client be read when
// there is room.
func (s *shim) progress() {
	s.mu.Lock()
	done := s.ended && !s.refusing && s.book.isDone(s.link != nil)
	freed := s.book.freed
	if freed > releaseAbove {
		s.book.freed = 0
	}
	s.mu.Unlock()
	if done {
		s.exit(0)
	}
	if freed > releaseAbove {
		release()
	}
	poke(s.room)
}

func poke(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// connected begins to use a link that is welcome.
func (s *shim) connected(l link) {
	s.mu.Lock()
	s.link = l
	s.mu.Unlock()
	s.send()
}

// disconnected answers what nobody else will answer any more.
func (s *shim) disconnected(l link) {
	l.hangUp()
	s.mu.Lock()
	s.link = nil
	lines := s.book.disconnected()
	s.book.printing++
	s.mu.Unlock()
	s.sending.Lock() // nobody writes to it any more
	l.close()
	s.sending.Unlock()
	s.printAll(lines)
	s.watchPending()
}

// send has what is to be sent written, and does not wait for that: the other end
// may not read, and neither it nor our client may be left unread meanwhile.
func (s *shim) send() {
	s.mu.Lock()
	begin := !s.flushing
	s.flushing = true
	s.mu.Unlock()
	if begin {
		go s.flush()
	}
}

// flush writes what is to be sent, in its order.
func (s *shim) flush() {
	s.sending.Lock()
	for {
		s.mu.Lock()
		l := s.link
		var frame []byte
		if l != nil {
			frame = s.book.next()
		}
		s.flushing = frame != nil
		s.mu.Unlock()
		if frame == nil {
			break
		}
		if err := l.write(frame); err != nil {
			// Whoever reads notices it too, but must read all first: a line that was
			// accepted must not be sent again.
			l.endWriting()
			s.mu.Lock()
			s.flushing = false
			s.mu.Unlock()
			break
		}
	}
	s.sending.Unlock()
	s.progress()
}

// pumpLines takes the client's lines to their end.
func (s *shim) pumpLines() {
	l := lines{read: s.read, limit: s.limits.line, take: func(size int) []byte {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.book.used.take(size)
	}}
	for {
		s.waitForRoom()
		t, frame, err := l.next()
		if err != nil {
			break
		}
		s.mu.Lock()
		s.book.add(t, frame, s.now())
		refused := s.refusing
		var answers [][]byte
		if refused {
			answers = s.book.giveUp(whyEnded)
			s.book.printing++
		}
		s.mu.Unlock()
		if refused {
			s.printAll(answers)
			continue
		}
		s.watchPending()
		poke(s.wake)
		s.send()
		runtime.Gosched() // so that it is written before reading takes the processor
	}
	s.mu.Lock()
	s.ended = true
	refusing := s.refusing
	s.mu.Unlock()
	if refusing {
		s.exit(0)
	}
	s.limitFinish()
	s.send() // which ends us when everything is done
	poke(s.wake)
}

// giveUp answers everything that is open with an error, and returns the status.
func (s *shim) giveUp(status int, why string) int {
	time.AfterFunc(lastAnswers, func() { s.exit(status) }) // the client may not read
	s.mu.Lock()
	s.refusing, s.link = true, nil
	answers := s.book.giveUp(why)
	s.book.printing++
	s.mu.Unlock()
	s.printAll(answers)
	return status
}

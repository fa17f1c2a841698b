package dashboard

import (
	"context"
	"sync"
	"time"

	"lamplighter/monitor"
)

// How long and how much is kept of what was answered.
const (
	freshTime = 900 * time.Millisecond // less than the second in which a page asks again
	maxKept   = 1 << 20                // bytes of one answer
	maxShelf  = 16 << 20               // bytes of all answers together
)

// question is one that may be answered to several at once.
type question struct {
	id   monitor.Identity
	port int
	name string // of the route
	body string
}

// shelf joins those who ask the same at the same time, and keeps answers for a
// moment, so that several open pages cost an instance no more than one. It is
// not a singleflight.Group because a request ends when the last who waits for
// it has left, and because a change has to part those who ask afterwards from
// those who asked before. Its lock is never held while something is awaited.
type shelf struct {
	mu    sync.Mutex
	calls map[question]*call
	kept  int // bytes
}

// call is one request to an instance, and then its answer.
type call struct {
	shelf   *shelf
	about   question
	done    chan struct{} // closed when the answer is there
	answer  answer        // written before done is closed
	cancel  context.CancelFunc
	lingers bool

	// Under the shelf's lock.
	waiting int // how many have not left
	ended   bool
	kept    int // bytes of the answer that count on the shelf
}

// join returns the call that answers q: one that is there, or a new one that
// runs ask. Who joined has to leave. A call that lingers goes on when all have
// left, any other is cancelled.
func (s *shelf) join(ctx context.Context, q question, lingers bool, ask func(context.Context) answer) *call {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.calls[q]; c != nil {
		c.waiting++
		return c
	}
	// It serves others too, so it does not end with the one who asked first.
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	c := &call{shelf: s, about: q, done: make(chan struct{}), cancel: cancel, lingers: lingers, waiting: 1}
	if s.calls == nil {
		s.calls = map[question]*call{}
	}
	s.calls[q] = c
	go func() {
		defer cancel()
		c.end(ask(ctx))
	}()
	return c
}

// end takes the answer in.
func (c *call) end(a answer) {
	s := c.shelf
	s.mu.Lock()
	defer s.mu.Unlock()
	c.answer, c.ended = a, true
	close(c.done)
	if c.waiting == 0 {
		a.release()
	}
	if s.calls[c.about] != c {
		return // a change came between, or nobody wanted it any more
	}
	size := len(a.body) + len(c.about.body)
	if a.failure != nil || size > maxKept || s.kept+size > maxShelf {
		delete(s.calls, c.about)
		return
	}
	c.kept = size
	s.kept += size
	time.AfterFunc(freshTime, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.calls[c.about] == c {
			s.remove(c)
		}
	})
}

// leave is called once by each who joined, after the last use of the answer.
func (c *call) leave() {
	s := c.shelf
	s.mu.Lock()
	defer s.mu.Unlock()
	c.waiting--
	switch {
	case c.waiting > 0:
	case c.ended:
		c.answer.release()
	case !c.lingers:
		c.cancel()
		if s.calls[c.about] == c {
			s.remove(c)
		}
	}
}

// drop forgets what an instance answered before it was changed. Who waits still
// gets an answer, but nobody joins them.
func (s *shelf) drop(id monitor.Identity) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for q, c := range s.calls {
		if q.id == id {
			s.remove(c)
		}
	}
}

// remove takes a call off the shelf, under the lock.
func (s *shelf) remove(c *call) {
	delete(s.calls, c.about)
	s.kept -= c.kept
	c.kept = 0
}

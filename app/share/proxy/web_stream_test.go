package proxy

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// stalled is the way to a client that does not read, as net/http has it: writing
// waits for its deadline.
type stalled struct {
	http.ResponseWriter
	mu      sync.Mutex
	due     time.Time
	changed chan struct{}
}

func newStalled() *stalled {
	return &stalled{ResponseWriter: httptest.NewRecorder(), changed: make(chan struct{}, 100)}
}

func (s *stalled) SetWriteDeadline(t time.Time) error {
	s.mu.Lock()
	s.due = t
	s.mu.Unlock()
	s.changed <- struct{}{}
	return nil
}

func (s *stalled) Write([]byte) (int, error) {
	for {
		s.mu.Lock()
		due := s.due
		s.mu.Unlock()
		switch {
		case due.IsZero():
			<-s.changed
		case !time.Now().Before(due):
			return 0, os.ErrDeadlineExceeded
		default:
			select {
			case <-s.changed:
			case <-time.After(time.Until(due)):
			}
		}
	}
}

func newWebSession() *webSession {
	return &webSession{log: quiet(), replies: map[uint64]*reply{}, ended: make(chan struct{})}
}

// A client that opens its stream again, because it lost the one before without
// our noticing, gets what was being sent on that.
func TestWebStreamThatStalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newWebSession()
		lost := newReply(newStalled(), false)
		s.listen(lost)
		sent := make(chan error)
		go func() { sent <- s.Deliver(0, false, []byte("message")) }()
		synctest.Wait()
		began := time.Now()
		recorder := httptest.NewRecorder()
		s.listen(newReply(recorder, false))
		if err := <-sent; err != nil {
			t.Error(err)
		}
		if took := time.Since(began); took != 0 {
			t.Errorf("it waited for %v", took)
		}
		if got := recorder.Body.String(); strings.Count(got, "data: message\n") != 1 {
			t.Errorf("the next stream got %q", got)
		}
	})
}

// A stream that takes nothing holds up its session for a while only, and what was
// to be sent waits for the next stream.
func TestWebStreamThatTakesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newWebSession()
		s.listen(newReply(newStalled(), false))
		began := time.Now()
		if err := s.Deliver(0, false, []byte("message")); err != nil {
			t.Error(err)
		}
		if took := time.Since(began); took != writeTime {
			t.Errorf("it waited for %v", took)
		}
		if s.stream != nil || len(s.waiting) != 1 {
			t.Errorf("stream %v, %q wait", s.stream, s.waiting)
		}
	})
}

// failing is the way to a client that has gone.
type failing struct{ http.ResponseWriter }

func (failing) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

func TestWebWhatWaitsIsNotLost(t *testing.T) {
	s := newWebSession()
	for _, line := range []string{"one", "two"} {
		if err := s.Deliver(0, false, []byte(line)); err != nil {
			t.Fatal(err)
		}
	}
	s.listen(newReply(failing{httptest.NewRecorder()}, false))
	recorder := httptest.NewRecorder()
	s.listen(newReply(recorder, false))
	got := recorder.Body.String()
	if one, two := strings.Index(got, "data: one\n"), strings.Index(got, "data: two\n"); one < 0 || two < one {
		t.Errorf("the next stream got %q", got)
	}
	if len(s.waiting) != 0 || s.bytes != 0 {
		t.Errorf("%q wait, %d bytes", s.waiting, s.bytes)
	}
}

package proxy

import (
	"context"
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

// streaming serves a GET stream.
func streaming(s *webSession, w http.ResponseWriter) {
	r := newReply(w, false)
	s.listen(r)
	go r.serve(context.Background(), s)
	synctest.Wait()
}

// A stream that takes nothing holds up nobody, and what was to be sent on it goes to the next
// one.
func TestWebStreamThatTakesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newWebSession()
		defer close(s.ended)
		streaming(s, newStalled())
		began := time.Now()
		if err := s.Deliver(0, false, []byte("message")); err != nil || time.Since(began) != 0 {
			t.Errorf("%v, and it waited for %v", err, time.Since(began))
		}
		synctest.Wait() // until it is being sent
		recorder := httptest.NewRecorder()
		streaming(s, recorder)
		if got := recorder.Body.String(); strings.Count(got, "data: message\n") != 1 || time.Since(began) != 0 {
			t.Errorf("the next stream got %q after %v", got, time.Since(began))
		}
	})
}

// What is longer than may wait is sent to who reads.
func TestWebStreamOfALongMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newWebSession()
		defer close(s.ended)
		recorder := httptest.NewRecorder()
		streaming(s, recorder)
		_ = s.Deliver(0, false, make([]byte, mostWaitingBytes+1))
		synctest.Wait()
		if n := recorder.Body.Len(); n <= mostWaitingBytes {
			t.Errorf("%d bytes were sent", n)
		}
	})
}

// failing is the way to a client that has gone.
type failing struct{ http.ResponseWriter }

func (failing) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

func TestWebWhatWaitsIsNotLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newWebSession()
		defer close(s.ended)
		for _, line := range []string{"one", "two"} {
			if err := s.Deliver(0, false, []byte(line)); err != nil {
				t.Fatal(err)
			}
		}
		streaming(s, failing{httptest.NewRecorder()})
		recorder := httptest.NewRecorder()
		streaming(s, recorder)
		got := recorder.Body.String()
		if one, two := strings.Index(got, "data: one\n"), strings.Index(got, "data: two\n"); one < 0 || two < one {
			t.Errorf("the next stream got %q", got)
		}
		if len(s.waiting) != 0 {
			t.Errorf("%q wait", s.waiting)
		}
	})
}

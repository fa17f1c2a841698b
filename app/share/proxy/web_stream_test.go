package proxy

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"lamplighter/app/apptest"
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

func (*stalled) Flush() {}

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

// streaming serves a GET stream.
func streaming(s *webSession, w http.ResponseWriter) {
	r := newReply(w, false)
	s.listen(r)
	go r.serve(context.Background(), s)
	synctest.Wait()
}

// A stream that takes nothing holds up what comes behind it for a while, and that goes to
// another one then.
func TestWebStreamThatTakesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &webSession{log: quiet(), unused: time.NewTimer(time.Hour), idle: time.Hour, ended: make(chan struct{})}
		defer close(s.ended)
		recorder := httptest.NewRecorder()
		streaming(s, recorder)
		streaming(s, newStalled())
		began := time.Now()
		for _, line := range []string{"first", "second"} {
			if err := s.Deliver(0, false, []byte(line)); err != nil {
				t.Error(err)
			}
		}
		synctest.Wait()
		if got := recorder.Body.String(); strings.Count(got, "data: second\n") != 1 || time.Since(began) != writeTime {
			t.Errorf("the other stream got %q after %v", got, time.Since(began))
		}
	})
}

// What belongs to no request goes to the GET stream of its client, or, while there is none,
// with what it waits for.
func TestWebWithoutAStream(t *testing.T) {
	s := serveWeb(t, nil)
	c := s.begin(t, "/a")
	got := messages(c.ask(http.MethodPost, callLine(5, "wait", "{}")))
	apptest.Eventually(t, "it waits", func() bool { return s.world.server("/a").InFlight() == 1 })
	web := s.web.all()[0]
	if err := web.Deliver(0, false, []byte(`"no GET"`)); err != nil || take(t, got) != `"no GET"` {
		t.Errorf("%v, or it got something else", err)
	}
	stream := c.listen()
	if err := web.Deliver(0, false, []byte(`"GET"`)); err != nil || take(t, stream) != `"GET"` {
		t.Errorf("%v, or it got something else", err)
	}
	s.world.server("/a").Release()
	if line := take(t, got); !strings.Contains(line, `"id":5,"result"`) {
		t.Errorf("got %s", line)
	}
}

// What belongs to a request whose answer takes it no more goes where what belongs to none goes.
func TestWebNewestStream(t *testing.T) {
	s := &webSession{replies: []*reply{{}, {seq: 3}, {}, {seq: 5}, {seq: 6, json: true}}}
	for seq, want := range map[uint64]int{0: 2, 3: 1, 4: 2, 5: 3, 6: 2} {
		if s.replyFor(seq, false) != s.replies[want] {
			t.Errorf("what belongs to %d goes elsewhere", seq)
		}
	}
}

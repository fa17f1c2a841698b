package api

import (
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"lamplighter/monitor"
)

// stream sends server-sent events (WHATWG HTML, section 9.2): the status, as an
// event of that name, and whole snapshots without a name, now and after each
// change. A reader that does not keep up misses what came in between; only this
// goroutine waits for it.
func (r routes) stream(w http.ResponseWriter, req *http.Request) {
	done, ok := r.openStream(w, req)
	if !ok {
		return
	}
	defer done()
	if conn, web := webConnOf(req.Context()); web {
		defer conn.web.watch()()
	}
	snapshots, cancel := r.parts.Source.Subscribe()
	defer cancel()
	ended, cancelEnded := r.parts.Recorder.Subscribe()
	defer cancelEnded()
	beat := time.NewTicker(r.heartbeat)
	defer beat.Stop()

	told := r.facts(r.parts.Recorder.Ended())
	var text []byte
	status, err := r.sheet.status(told, r.statusOf)
	for err == nil {
		if err = send(w, status, text); err != nil {
			return // the reader has gone, or takes nothing
		}
		list := told.ended
		status, text = nil, nil
		select {
		case <-req.Context().Done():
			return
		case s := <-snapshots:
			text, err = r.sheet.event(s, time.Now())
		case list = <-ended:
		case <-beat.C:
			text = []byte(":\n\n")
		}
		if now := r.facts(list); err == nil && !now.same(told) {
			told = now
			status, err = r.sheet.status(now, r.statusOf)
		}
	}
	r.parts.Log.Error("an event cannot be sent", "error", err)
}

// openStream takes a place for a stream and sets its header; done gives the place
// back. ok is false when there is no place, which was answered, or nothing to
// send.
func (r routes) openStream(w http.ResponseWriter, req *http.Request) (done func(), ok bool) {
	select {
	case r.streams <- struct{}{}:
	default:
		w.Header().Set("Connection", "close") // it has a place too
		r.fail(w, http.StatusServiceUnavailable, fmt.Sprintf("%d streams are open, which is the most; close one and ask again", cap(r.streams)))
		return nil, false
	}
	done = func() { <-r.streams }
	header := w.Header()
	header.Set("Content-Type", "text/event-stream")
	header.Set("Cache-Control", "no-store")
	header.Set("X-Content-Type-Options", "nosniff")
	if req.Method == http.MethodHead {
		done()
		return nil, false
	}
	return done, true
}

// send sends parts of an answer at once.
func send(w http.ResponseWriter, parts ...[]byte) error {
	length := 0
	for _, text := range parts {
		n, err := w.Write(text)
		if err != nil {
			return err
		}
		length += n
	}
	if length == 0 {
		return nil
	}
	return http.NewResponseController(w).Flush()
}

// named is an event with a name.
func named(name string, v any) ([]byte, error) {
	body, err := Marshal(v)
	return slices.Concat([]byte("event: "+name+"\ndata: "), body, []byte("\n\n")), err
}

// sheetAge is how long an encoded snapshot is as good as new: what it counts in
// seconds is still right.
const sheetAge = time.Second

// sheet is the newest snapshot and the newest status as events, which all
// streams share.
type sheet struct {
	mu       sync.Mutex
	snapshot *monitor.Snapshot
	at       time.Time
	text     []byte

	facts facts
	told  []byte // the status of these facts; nil: none yet
}

// status encodes the status of some facts. The text must not be changed.
func (s *sheet) status(f facts, statusOf func(facts) Status) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.told != nil && s.facts.same(f) {
		return s.told, nil
	}
	text, err := named("status", statusOf(f))
	if err != nil {
		return nil, err
	}
	s.facts, s.told = f, text
	return s.told, nil
}

// event encodes a snapshot. The text must not be changed.
func (s *sheet) event(snapshot *monitor.Snapshot, now time.Time) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.snapshot == snapshot && now.Sub(s.at) < sheetAge {
		return s.text, nil
	}
	body, err := Marshal(InstancesOf(snapshot, now))
	if err != nil {
		return nil, err
	}
	s.snapshot, s.at, s.text = snapshot, now, slices.Concat([]byte("data: "), body, []byte("\n\n"))
	return s.text, nil
}

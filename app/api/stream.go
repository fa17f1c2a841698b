package api

import (
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"time"

	"lamplighter/app/dashboard"
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
	out := sender{w: w}
	if conn, web := webConnOf(req.Context()); web {
		defer conn.web.watch()()
		if dashboard.TakesGzip(req.Header.Values("Accept-Encoding")) {
			defer out.compress()()
		}
	}
	snapshots, cancel := r.parts.Source.Subscribe()
	defer cancel()
	ended, cancelEnded := r.parts.Recorder.Subscribe()
	defer cancelEnded()
	beat := time.NewTicker(r.heartbeat)
	defer beat.Stop()

	told := r.statusNow(r.parts.Recorder.Ended())
	var text []byte
	status, err := r.sheet.status(told)
	for err == nil {
		if err = out.send(status, text); err != nil {
			return // the reader has gone, or takes nothing
		}
		list := told.Ended
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
		if now := r.statusNow(list); err == nil && !reflect.DeepEqual(now, told) {
			told = now
			status, err = r.sheet.status(now)
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
	done = func() {
		if <-r.streams; len(r.streams) == 0 {
			r.sheet.clear()
		}
	}
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

// sender sends parts of an answer at once.
type sender struct {
	w   http.ResponseWriter
	zip *gzip.Writer // nil: as they are
}

// compress has what follows compressed, of which a snapshot of many servers needs a
// tenth; end ends that.
func (s *sender) compress() (end func() error) {
	s.w.Header().Set("Content-Encoding", "gzip")
	s.zip, _ = gzip.NewWriterLevel(s.w, gzip.BestSpeed) // which is a level
	return s.zip.Close
}

func (s *sender) send(parts ...[]byte) error {
	var to io.Writer = s.w
	if s.zip != nil {
		to = s.zip
	}
	length := 0
	for _, text := range parts {
		n, err := to.Write(text)
		if err != nil {
			return err
		}
		length += n
	}
	if length == 0 {
		return nil
	}
	if s.zip != nil {
		if err := s.zip.Flush(); err != nil {
			return err
		}
	}
	return http.NewResponseController(s.w).Flush()
}

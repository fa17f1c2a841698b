package proxy

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"lamplighter/monitor"
)

// The two types of content that MCP has.
const (
	jsonType   = "application/json"
	streamType = "text/event-stream"
)

// writeTime is what a client has to take one event. Nobody takes anything from a
// stream that it has forgotten, and what sends on it is held up.
const writeTime = 30 * time.Second

// message is a line for a client over HTTP.
type message struct {
	line     []byte
	isAnswer bool // to the request that waits
}

// reply is the answer to a request over HTTP. The goroutine of the request alone writes it.
type reply struct {
	w        http.ResponseWriter
	json     bool // one message, else a stream of events
	wrote    bool
	answered bool

	seq   uint64        // of the line that it answers; guarded by webSession.mu
	lines chan message  // what is to be written; closed when nothing follows
	bell  monitor.Bell  // of the GET stream: something waits for it
	over  chan struct{} // closed when nothing is written any more
}

func newReply(w http.ResponseWriter, json bool) *reply {
	return &reply{w: w, json: json, lines: make(chan message), bell: monitor.NewBell(), over: make(chan struct{})}
}

// serve writes what comes, until nothing follows, or the client or the session has gone.
func (r *reply) serve(ctx context.Context, s *webSession) {
	defer s.leave(r)
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	var err error
	for err == nil {
		select {
		case m, more := <-r.lines:
			if !more {
				r.limit() // for its end
				return
			}
			r.answered = m.isAnswer
			if err = r.send(m.line); err != nil && !m.isAnswer {
				s.push(m.line)
			}
		case <-r.bell:
			err = s.sendWaiting(r)
		case <-beat.C: // shows that we are still there
			if !r.json {
				err = r.write([]byte(":\n\n"))
			}
		case <-s.ended:
			return
		case <-ctx.Done():
			return
		}
	}
}

// start sends the header of a stream.
func (r *reply) start() {
	if r.json {
		return
	}
	begin(r.w, http.StatusOK, streamType)
	r.wrote = true
	_ = r.write() // what comes fails as well
}

// send writes a message.
func (r *reply) send(line []byte) error {
	r.wrote = true
	if r.json {
		r.limit()
		return writeJSON(r.w, http.StatusOK, line)
	}
	return r.write([]byte("event: message\ndata: "), line, []byte("\n\n"))
}

// write writes a part of a stream at once.
func (r *reply) write(parts ...[]byte) error {
	r.limit()
	for _, part := range parts {
		if _, err := r.w.Write(part); err != nil {
			return err
		}
	}
	return http.NewResponseController(r.w).Flush()
}

// limit sets the time for what is written next.
func (r *reply) limit() {
	// Where there is no deadline (a recorder in a test) there is no connection.
	_ = http.NewResponseController(r.w).SetWriteDeadline(time.Now().Add(writeTime))
}

// writeJSON answers with one message.
func writeJSON(w http.ResponseWriter, status int, line []byte) error {
	w.Header().Set("Content-Length", strconv.Itoa(len(line)))
	begin(w, status, jsonType)
	_, err := w.Write(line)
	return err
}

// begin writes the header of an answer.
func begin(w http.ResponseWriter, status int, contentType string) {
	header := w.Header()
	header.Set("Content-Type", contentType)
	header.Set("Cache-Control", "no-store")
	header.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
}

package proxy

import (
	"context"
	"net/http"
	"strconv"
	"time"
)

// The two types of content that MCP has.
const (
	jsonType   = "application/json"
	streamType = "text/event-stream"
)

// writeTime is what a client has to take one event. Nobody takes anything from a
// stream that it has forgotten, and what sends on it is held up.
const writeTime = 30 * time.Second

// heartbeat is how long there is between two comments of a stream.
const heartbeat = 15 * time.Second

// message is a line for a client over HTTP.
type message struct {
	line     []byte // nil when nothing answers the request any more
	isAnswer bool   // to the request that waits
}

// reply is the answer to a POST, or a GET stream. The goroutine of its request alone
// writes it.
type reply struct {
	w        http.ResponseWriter
	json     bool // one message, else a stream of events
	answered bool

	seq   uint64        // of the line that it answers, 0 of a GET stream
	lines chan message  // what is to be written
	over  chan struct{} // closed when nothing is written any more
}

func newReply(w http.ResponseWriter, json bool) *reply {
	return &reply{w: w, json: json, lines: make(chan message), over: make(chan struct{})}
}

// take hands a message to who writes it, false when nobody does.
func (r *reply) take(m message) bool {
	select {
	case r.lines <- m:
		return true
	case <-r.over:
		return false
	}
}

// serve writes what comes, until the answer is written, or the client or the session has
// gone.
func (r *reply) serve(ctx context.Context, s *webSession) {
	defer s.leave(r)
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	var err error
	if !r.json {
		writeHeader(r.w, http.StatusOK, streamType)
		err = r.write()
	}
	for err == nil && !r.answered {
		select {
		case m := <-r.lines:
			r.answered = m.isAnswer
			err = r.send(m.line)
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

// send writes a message. nil is none.
func (r *reply) send(line []byte) error {
	switch {
	case r.json && line == nil:
		r.w.WriteHeader(http.StatusAccepted)
	case r.json:
		r.limit()
		return writeJSON(r.w, http.StatusOK, line)
	case line != nil:
		return r.write([]byte("event: message\ndata: "), line, []byte("\n\n"))
	}
	return nil
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
	writeHeader(w, status, jsonType)
	_, err := w.Write(line)
	return err
}

// writeHeader writes the header of an answer.
func writeHeader(w http.ResponseWriter, status int, contentType string) {
	header := w.Header()
	header.Set("Content-Type", contentType)
	header.Set("Cache-Control", "no-store")
	header.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
}

package front

import (
	"net/http"
	"strconv"
	"sync"
)

// The two types of content that MCP has.
const (
	jsonType   = "application/json"
	streamType = "text/event-stream"
)

// reply is the answer to a request over HTTP while it is being written. What
// writes and what waits for the end of it are different goroutines.
type reply struct {
	seq  uint64 // of the line that it answers
	json bool   // one message, else a stream of events

	mu     sync.Mutex
	w      http.ResponseWriter
	open   bool
	wrote  bool
	closed chan struct{}
}

func newReply(w http.ResponseWriter, json bool) *reply {
	return &reply{w: w, json: json, open: true, closed: make(chan struct{})}
}

// start sends the header of a stream.
func (r *reply) start() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.json || !r.open || r.wrote {
		return
	}
	r.startLocked()
	r.flushLocked()
}

func (r *reply) startLocked() {
	header := r.w.Header()
	header.Set("Content-Type", streamType)
	header.Set("Cache-Control", "no-store")
	header.Set("X-Content-Type-Options", "nosniff")
	r.w.WriteHeader(http.StatusOK)
	r.wrote = true
}

// send writes a message. It is false when that could not be: the reply has ended,
// or there is no room for this in it.
func (r *reply) send(line []byte) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.open || r.json && r.wrote {
		return false
	}
	if r.json {
		r.wrote = true
		return r.checkLocked(writeJSON(r.w, http.StatusOK, line))
	}
	if !r.wrote {
		r.startLocked()
	}
	for _, part := range [][]byte{[]byte("event: message\ndata: "), line, []byte("\n\n")} {
		if _, err := r.w.Write(part); !r.checkLocked(err) {
			return false
		}
	}
	return r.checkLocked(r.flushLocked())
}

// beat shows that we are still there.
func (r *reply) beat() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.open && !r.json {
		if _, err := r.w.Write([]byte(":\n\n")); r.checkLocked(err) {
			r.checkLocked(r.flushLocked())
		}
	}
}

func (r *reply) flushLocked() error { return http.NewResponseController(r.w).Flush() }

// checkLocked closes the reply when it cannot be written any more.
func (r *reply) checkLocked(err error) bool {
	if err != nil && r.open {
		r.open = false
		close(r.closed)
	}
	return err == nil
}

// close ends it. Nothing is written after that.
func (r *reply) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.open {
		r.open = false
		close(r.closed)
	}
}

// answered tells, after the end, whether anything was written.
func (r *reply) answered() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.wrote
}

// writeJSON answers with one message.
func writeJSON(w http.ResponseWriter, status int, line []byte) error {
	header := w.Header()
	header.Set("Content-Type", jsonType)
	header.Set("Content-Length", strconv.Itoa(len(line)))
	header.Set("Cache-Control", "no-store")
	header.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, err := w.Write(line)
	return err
}

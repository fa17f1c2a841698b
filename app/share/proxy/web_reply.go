package proxy

import (
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
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

// reply is the answer to a request over HTTP while it is being written. What
// writes and what waits for the end of it are different goroutines.
type reply struct {
	seq  uint64      // of the line that it answers
	json bool        // one message, else a stream of events
	over atomic.Bool // abort was called

	mu     sync.Mutex // held while writing
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
	r.limitLocked()
	r.startLocked()
	r.flushLocked()
}

// limitLocked sets the time for what is written next.
func (r *reply) limitLocked() {
	// Where there is no deadline (a recorder in a test) there is no connection.
	control := http.NewResponseController(r.w)
	_ = control.SetWriteDeadline(time.Now().Add(writeTime))
	if r.over.Load() {
		_ = control.SetWriteDeadline(time.Now())
	}
}

// abort ends what is being written, without waiting for it. Unlike all else it
// may not be called once its request was served.
func (r *reply) abort() {
	r.over.Store(true)
	_ = http.NewResponseController(r.w).SetWriteDeadline(time.Now())
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
	r.limitLocked()
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
		r.limitLocked()
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

// close ends it. Nothing is written after that but its end. It waits for what is
// being written.
func (r *reply) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.open {
		// Its end is still to be written, which holds up nobody else.
		_ = http.NewResponseController(r.w).SetWriteDeadline(time.Now().Add(writeTime))
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

package proxy

import (
	"net"
	"sync"
	"time"

	"lamplighter/app/socket"
)

// heldUp is how long a line is taken before anybody looks whether its client is
// still there.
const heldUp = time.Second

// watch looks whether the other end of a connection is still there while nobody
// reads from it, because the session is held up: a client that has gone would hold
// up its server otherwise.
type watch struct {
	conn  net.Conn
	gone  func()
	timer *time.Timer

	mu      sync.Mutex
	looking bool
}

func newWatch(conn net.Conn, gone func()) *watch {
	w := &watch{conn: conn, gone: gone}
	w.timer = time.AfterFunc(time.Hour, w.look)
	w.timer.Stop()
	return w
}

// begin and done bracket what may take long.
func (w *watch) begin() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.looking = true
	w.timer.Reset(heldUp)
}

func (w *watch) done() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.looking = false
	w.timer.Stop()
}

func (w *watch) look() {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case !w.looking:
	case socket.PeerGone(w.conn):
		w.gone()
	default:
		w.timer.Reset(heldUp)
	}
}

package api

import (
	"log/slog"
	"net"
	"net/http"
	"sync"
)

// limits bound what clients may keep open, so that looking at processes never
// runs out of descriptors, each of which a connection takes.
type limits struct {
	streams     int
	connections int // of one listener, streams included
}

// The most that is of use: every view of a user's desktop, many times.
const (
	mostStreams     = 256
	mostConnections = mostStreams + mostStreams/2
)

// limitsOf shares out descriptors, the number that the process may have open: a
// sixth for streams, which all listeners share, and for each of the four
// listeners a fifth for connections, streams included.
func limitsOf(descriptors uint64) limits {
	return limits{
		streams:     int(max(min(descriptors/6, mostStreams), 1)),
		connections: int(max(min(descriptors/5, mostConnections), 2)),
	}
}

// doorkeeper closes connections beyond a number at once. Its note is for
// http.Server.ConnState.
type doorkeeper struct {
	most   int
	serves string // what, in words
	log    *slog.Logger

	mu     sync.Mutex
	open   map[net.Conn]bool
	closed int
}

func newDoorkeeper(most int, serves string, log *slog.Logger) *doorkeeper {
	return &doorkeeper{most: most, serves: serves, log: log, open: map[net.Conn]bool{}}
}

func (d *doorkeeper) note(conn net.Conn, state http.ConnState) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch state {
	case http.StateNew:
		if len(d.open) < d.most {
			d.open[conn] = true
			return
		}
		conn.Close()
		d.closed++
		if d.closed&(d.closed-1) == 0 {
			d.log.Warn("closed a connection to "+d.serves+": too many are open", "open", len(d.open), "count", d.closed)
		}
	case http.StateClosed, http.StateHijacked:
		delete(d.open, conn)
	case http.StateActive, http.StateIdle: // still open
	}
}

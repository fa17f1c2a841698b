// Package mcp is an MCP server as its client sees it, over streamable HTTP.
//
// Messages are never decoded: what is sent and what is received are lines of
// JSON, and pass as they are, with their ids, their numbers and what nobody
// knows. Only the answer to initialize is looked into, for the version. The older
// transport, HTTP with SSE, is spoken only to learn whether a server accepts it.
//
// What the protocol says is in its specification, under "Transports": one POST
// for each message, answered with JSON, an event stream or 202; one GET for what
// the server sends by itself; Mcp-Session-Id and MCP-Protocol-Version on
// everything after initialize; DELETE at the end; 404 from a server that does not
// know the session. Events are never asked for again with Last-Event-ID: Serena
// does not keep them.
//
// Which server it is, whose MCP session, and what becomes of a request when it ends
// is decided in app/share/proxy.
package mcp

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"sync/atomic"
	"time"
)

// What an error of a Send Is, so that everybody is told the fate of a request.
var (
	// ErrNotSent says that the server surely did not carry it out: it did not
	// get all of it. It may be sent again.
	ErrNotSent = errors.New("the server did not get it")
	// ErrUnknown says that the server does not know the session, so that it did
	// not carry it out either. It may be sent again in a new session.
	ErrUnknown = errors.New("the server does not know the session any more")
	// ErrLost says that the server got it, and that its answer did not come or
	// not completely: whether it was carried out is not known. What each got
	// before may hold the answer.
	ErrLost = errors.New("the server's answer did not arrive")
)

// Refused is an answer of HTTP with an error. The server did not carry out what
// was sent, unless the error Is ErrLost, as it is for the statuses that say that
// the server failed.
type Refused struct {
	Status int
	Text   string // what the server says, of any content and up to 4 KiB
}

// Error is the text with the status.
func (r *Refused) Error() string {
	text := fmt.Sprintf("the server refused it with HTTP status %d (%s)", r.Status, http.StatusText(r.Status))
	if r.Text != "" {
		text += ": " + r.Text
	}
	return text
}

// Is tells that an Internal Server Error, a Bad Gateway and a Gateway Timeout
// may come from the middle of the work.
func (r *Refused) Is(target error) bool {
	switch r.Status {
	case http.StatusInternalServerError, http.StatusBadGateway, http.StatusGatewayTimeout:
		return target == ErrLost
	}
	return false
}

// Options are what a Server needs.
type Options struct {
	URL       string            // of the server's endpoint; plain HTTP
	Transport http.RoundTripper // from NewTransport; one for all sessions of a server

	// Receive gets what the server sends by itself, and with what nobody else takes:
	// of each stream one line at a time and in order. The line is its to keep. While it
	// runs, the stream is not read on. nil = nobody wants it.
	Receive func(line []byte)
}

// The times of a connection.
const (
	dialTimeout = 10 * time.Second // the loopback answers at once or never
	// uvicorn, with which Serena serves, closes a connection that was idle for
	// 5 s: a request must not meet that, also when the server has been looking at its
	// clock for seconds because the machine is busy.
	idleTimeout = 2 * time.Second
	// continueTimeout is how long a server may leave a long request's header
	// without an answer before the rest is sent anyway: older ones never
	// answer, and a busy one blocks for seconds.
	continueTimeout = 2 * time.Second
)

// NewTransport makes what carries the sessions of one server. It connects to
// addresses of the loopback only, through no proxy. Its idle connections end by
// themselves after 4 s, or with CloseIdleConnections.
func NewTransport() *http.Transport {
	dialer := &net.Dialer{Timeout: dialTimeout, KeepAlive: -1}
	return &http.Transport{
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			if at, err := netip.ParseAddrPort(address); err != nil || !at.Addr().IsLoopback() { // a name may lead anywhere
				return nil, fmt.Errorf("%s is not on this machine", address)
			}
			c, err := dialer.DialContext(ctx, network, address)
			if err != nil {
				return nil, err
			}
			return &conn{Conn: c}, nil
		},
		DisableCompression:    true, // costs more than it saves on the loopback
		MaxIdleConnsPerHost:   64,   // the default of 2 makes most clients connect each time
		IdleConnTimeout:       idleTimeout,
		ExpectContinueTimeout: continueTimeout,
	}
}

// conn remembers whether a write to it failed: then the server did not get all
// of the request that was written last, which the errors of net/http do not say.
type conn struct {
	net.Conn
	broken atomic.Bool
}

// Write writes p, as net.Conn has it.
func (c *conn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	if n < len(p) {
		c.broken.Store(true)
	}
	return n, err
}

package api

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"lamplighter/monitor/loopback"
	"lamplighter/monitor/process"
)

// webConn is a connection by TCP that was let in.
type webConn struct {
	net.Conn
	web     *Web
	proven  bool // the other end is our user's
	outside bool // the other end is not on this system

	mu    sync.Mutex
	limit time.Time // of what is written, as SetWriteDeadline was told; zero: none
}

// welcome lets in what our user has opened, and what nobody can tell about.
func (w *Web) welcome(conn net.Conn) (net.Conn, error) {
	local, remote, err := loopback.Ends(conn)
	if err != nil {
		return nil, err
	}
	ours, err := w.ours(local, remote)
	switch {
	case err == nil && ours:
		return &webConn{Conn: conn, web: w, proven: true}, nil
	case err == nil:
		return nil, errors.New("another user's program connects")
	case errors.Is(err, process.ErrGone):
		return nil, errGone
	case !errors.Is(err, fs.ErrNotExist):
		return &webConn{Conn: conn, web: w}, nil
	case w.forwarded:
		return &webConn{Conn: conn, web: w, outside: true}, nil
	}
	return nil, errGone
}

var errGone = errors.New("who connected has gone")

// findOutWhetherPeersShow connects to ourselves: where the system cannot tell
// that this is us, everybody needs the token.
func (w *Web) findOutWhetherPeersShow(ctx context.Context) {
	err := w.seeOurselves(ctx)
	if err != nil && ctx.Err() == nil {
		w.options.Log.Warn("the system does not tell who connects, so pages need a token", "error", err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.needToken = w.forwarded || err != nil
}

func (w *Web) seeOurselves(ctx context.Context) error {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp4", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer l.Close()
	theirs, err := new(net.Dialer).DialContext(ctx, "tcp4", l.Addr().String())
	if err != nil {
		return err
	}
	defer theirs.Close()
	local, remote, err := loopback.Ends(theirs)
	if err != nil {
		return err
	}
	ours, err := w.ours(remote, local)
	if err == nil && !ours {
		err = errors.New("a connection of our own counts as another user's")
	}
	return err
}

// Write gives up on a reader that takes nothing for so long that nobody can be
// there any more, or nobody who deserves it.
func (c *webConn) Write(b []byte) (int, error) {
	const part = 16 << 10 // each gets the time
	written := 0
	for {
		if err := c.hurry(); err != nil {
			return written, err
		}
		n, err := c.Conn.Write(b[:min(part, len(b))])
		written, b = written+n, b[n:]
		if err != nil || len(b) == 0 {
			return written, err
		}
	}
}

// SetWriteDeadline sets when writing is to end, also for a reader that goes on
// taking something. Zero means that only Limits.Reader ends it.
func (c *webConn) SetWriteDeadline(t time.Time) error {
	c.mu.Lock()
	c.limit = t
	c.mu.Unlock()
	return c.hurry()
}

// SetDeadline sets both deadlines.
func (c *webConn) SetDeadline(t time.Time) error {
	return errors.Join(c.SetReadDeadline(t), c.SetWriteDeadline(t))
}

// hurry sets the deadline of what is written next, or is being written: the end
// of Limits.Reader, or the limit if that comes first.
func (c *webConn) hurry() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	due := time.Now().Add(c.web.limits.Reader)
	if !c.limit.IsZero() && c.limit.Before(due) {
		due = c.limit
	}
	return c.Conn.SetWriteDeadline(due)
}

// askers looks for the processes that hold the other end. It reads the
// descriptors of all processes, so it is for orders only.
func (c *webConn) askers() ([]int, error) {
	local, remote, err := loopback.Ends(c.Conn)
	if err != nil {
		return nil, err
	}
	all, err := process.Connections(int(local.Port()))
	if err != nil {
		return nil, err
	}
	pids := holders(all, remote)
	if len(pids) == 0 && !c.outside {
		return nil, errUnseen
	}
	return pids, nil
}

// holders are those who have the far end of one connection.
func holders(all []process.Connection, end netip.AddrPort) []int {
	var pids []int
	for _, c := range all {
		if c.Peer == end && c.PID > 0 {
			pids = append(pids, c.PID)
		}
	}
	return pids
}

// withWebConn is the ConnContext of the web server.
func withWebConn(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, peerKey{}, conn)
}

// newToken makes a secret of 256 bits.
func newToken() string {
	secret := make([]byte, 32)
	_, _ = rand.Read(secret) // it never fails
	return hex.EncodeToString(secret)
}

// authenticate asks for the token where the connection proves nothing. The
// page's files are for everybody: they hold no secret, and bring the token.
func (w *Web) authenticate(req *http.Request) *refusal {
	if conn, web := webConnOf(req.Context()); web && conn.proven || isPageFile(req) {
		return nil
	}
	values := req.Header.Values("Authorization")
	if len(values) == 1 {
		scheme, given, _ := strings.Cut(values[0], " ")
		want, got := sha256.Sum256([]byte(w.token)), sha256.Sum256([]byte(given))
		if strings.EqualFold(scheme, "Bearer") && subtle.ConstantTimeCompare(want[:], got[:]) == 1 {
			return nil
		}
	}
	return &refusal{http.StatusForbidden, "the system does not tell who asks, so a token is needed; open the page with lamplighter open"}
}

// isPageFile reports whether a request is for the page or one of its files.
func isPageFile(req *http.Request) bool {
	if req.Method != http.MethodGet && req.Method != http.MethodHead {
		return false
	}
	if plain, err := plainPath(req); err != nil || !plain {
		return false
	}
	return slices.Contains(pagePaths, req.URL.Path) || strings.HasPrefix(req.URL.Path, pageRoot+"assets/")
}

// refusals logs what was refused, the more rarely the more there is.
type refusals struct {
	serves string
	log    *slog.Logger

	mu    sync.Mutex
	count int
}

func newRefusals(serves string, log *slog.Logger) *refusals {
	return &refusals{serves: serves, log: log}
}

func (r *refusals) note(why error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.count++; r.count&(r.count-1) == 0 {
		r.log.Warn("refused a connection to "+r.serves, "reason", why, "count", r.count)
	}
}

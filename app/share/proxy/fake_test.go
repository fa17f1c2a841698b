package proxy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"

	"lamplighter/app/mcp"
	"lamplighter/app/share"
	"lamplighter/app/share/wire"
)

// upstream is a server that is no process, with calls that end when a test says so. It is
// what carries requests to it.
type upstream struct {
	mu       sync.Mutex
	opened   int
	sessions map[string]bool // that the server knows, and whether a process has left them
	calls    []*fakeCall     // requests that wait for a fate
	carried  map[string]int  // how often each request was carried out, by its id
	got      []string        // all lines, in order
	alive    bool
	ends     bool     // it is about to
	late     []string // requests that it was asked all the same
	mute     bool     // initialize is not answered
	slow     bool     // notifications are taken, and that is not told
}

func newUpstream() *upstream {
	return &upstream{sessions: map[string]bool{}, carried: map[string]int{}}
}

// group is what sessions of this world are behind.
func (w *upstream) group() *fakeGroup {
	return &fakeGroup{why: "it was killed", wake: func() share.Endpoint {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.alive = true
		return share.Endpoint{URL: "http://server/mcp", Transport: w}
	}}
}

// die ends the server with all that is in flight.
func (w *upstream) die() {
	w.mu.Lock()
	w.alive = false
	clear(w.sessions)
	calls := w.calls
	w.calls = nil
	for _, c := range calls {
		w.carried[c.id]++ // it may have been
	}
	w.mu.Unlock()
	for _, c := range calls {
		c.end(mcp.ErrLost)
	}
}

// forget makes the server forget its sessions. What is in flight goes on.
func (w *upstream) forget() {
	w.mu.Lock()
	defer w.mu.Unlock()
	clear(w.sessions)
}

// leave says that whoever has the sessions ends, and leaves them to the server.
func (w *upstream) leave() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for id := range w.sessions {
		w.sessions[id] = true
	}
}

// take takes one of the calls in flight; nil when there is none.
func (w *upstream) take(n int) *fakeCall {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.calls) == 0 {
		return nil
	}
	n %= len(w.calls)
	c := w.calls[n]
	w.calls = slices.Delete(w.calls, n, n+1)
	return c
}

// give takes a call that nobody waits for any more, which may have been carried out.
func (w *upstream) give(c *fakeCall) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if i := slices.Index(w.calls, c); i >= 0 {
		w.calls = slices.Delete(w.calls, i, i+1)
		w.carried[c.id]++
	}
}

func (w *upstream) lines() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.got)
}

// said is an answer of HTTP.
func said(status int, kind string, body io.ReadCloser) *http.Response {
	return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {kind}}, Body: body}
}

// errUnreached is that of a request of which nothing was read.
var errUnreached = errors.New("connection refused")

// RoundTrip is part of http.RoundTripper.
func (w *upstream) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx, session := r.Context(), r.Header.Get("Mcp-Session-Id")
	w.mu.Lock()
	unlock := sync.OnceFunc(w.mu.Unlock)
	defer unlock()
	_, knows := w.sessions[session]
	switch {
	case ctx.Err() != nil || !w.alive:
		return nil, errUnreached
	case r.Method == http.MethodDelete:
		delete(w.sessions, session)
		return said(http.StatusOK, "", http.NoBody), nil
	case r.Method == http.MethodGet:
		return said(http.StatusMethodNotAllowed, "", http.NoBody), nil
	case session != "" && !knows:
		return said(http.StatusNotFound, "", http.NoBody), nil
	}
	line, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	m := wire.Split(line)
	isSilent := w.mute && session == "" || w.slow && m.Kind != wire.Request
	if session != "" {
		w.got = append(w.got, string(line))
	}
	switch {
	case isSilent:
		unlock()
		<-ctx.Done()
		return nil, ctx.Err()
	case session == "":
		w.opened++
		session = fmt.Sprint("session-", w.opened)
		w.sessions[session] = false
		answer := said(http.StatusOK, jsonType, io.NopCloser(strings.NewReader(string(resultLine(m.ID, []byte(`{"protocolVersion":"2025-06-18"}`))))))
		answer.Header.Set("Mcp-Session-Id", session)
		return answer, nil
	case m.Kind != wire.Request:
		return said(http.StatusAccepted, "", http.NoBody), nil
	case strings.HasPrefix(string(m.ID), `"lamplighter-`):
		return said(http.StatusOK, streamType, http.NoBody), nil
	}
	if w.ends {
		w.late = append(w.late, string(m.ID))
	}
	c := &fakeCall{world: w, line: string(line), id: string(m.ID), begun: make(chan struct{})}
	c.in, c.out = io.Pipe()
	w.calls = append(w.calls, c)
	unlock()
	context.AfterFunc(ctx, func() {
		w.give(c)
		c.end(ctx.Err())
	})
	<-c.begun
	switch {
	case errors.Is(c.err, mcp.ErrNotSent):
		_, _ = r.GetBody() // as one of which nothing was written
		return nil, c.err
	case c.err != nil:
		return nil, c.err
	}
	return said(c.status, streamType, c.in), nil
}

// fakeCall is a request that waits for its fate.
type fakeCall struct {
	world    *upstream
	line, id string

	once   sync.Once
	begun  chan struct{} // closed when its answer has begun, with status, or there is none, for err
	status int
	err    error

	in  *io.PipeReader
	out *io.PipeWriter
}

func (c *fakeCall) begin(status int, err error) {
	c.once.Do(func() {
		c.status, c.err = status, err
		close(c.begun)
	})
}

// each sends a line.
func (c *fakeCall) each(line []byte) {
	c.begin(http.StatusOK, nil)
	fmt.Fprintf(c.out, "data: %s\n\n", line) // to whoever still waits for it
}

// end ends it: with an answer if one was sent, or as an error of mcp has it.
func (c *fakeCall) end(err error) {
	var refused *mcp.Refused
	switch {
	case errors.As(err, &refused):
		c.begin(refused.Status, nil)
	case errors.Is(err, mcp.ErrUnknown):
		c.begin(http.StatusNotFound, nil)
	default:
		c.begin(http.StatusOK, err)
	}
	if err != nil {
		err = errors.New("connection reset")
	}
	c.out.CloseWithError(err)
}

// answer carries the request out, and answers it when answers is true.
func (c *fakeCall) answer(answers bool) {
	c.world.mu.Lock()
	c.world.carried[c.id]++
	c.world.mu.Unlock()
	if answers {
		c.each(resultLine([]byte(c.id), []byte(`"done"`)))
	}
	c.end(nil)
}

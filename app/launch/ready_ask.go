package launch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// leaveTimeout is how long a server may take to let a session go.
const leaveTimeout = 500 * time.Millisecond

// mcpProbe talks MCP just as far as to learn whether a server accepts it.
type mcpProbe struct{ http *http.Client }

func newMCPProbe() *mcpProbe {
	return &mcpProbe{&http.Client{
		Transport: &http.Transport{
			DialContext:            (&net.Dialer{}).DialContext, // no proxy
			DisableKeepAlives:      true,
			DisableCompression:     true,
			MaxResponseHeaderBytes: 64 << 10,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// address is where MCP may be on a port.
func address(port int, path string) *url.URL {
	return &url.URL{Scheme: "http", Host: net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), Path: path}
}

// accepts sends initialize and returns the path at which it was accepted, which
// differs from path when the server has redirected it. The session that this
// made is ended.
func (a *mcpProbe) accepts(ctx context.Context, transport string, port int, path string) (string, error) {
	to := address(port, path)
	if before, query, ok := strings.Cut(path, "?"); ok {
		to.Path, to.RawQuery = before, query
	}
	if transport == SSE {
		return path, a.overSSE(ctx, to)
	}
	for range 2 { // a server may add or want a slash
		next, err := a.overHTTP(ctx, to)
		if next == nil {
			return to.RequestURI(), err
		}
		to = next
	}
	return path, errors.New("it redirects again and again")
}

// overHTTP asks a server of streamable HTTP. It returns an address when the
// server wants to be asked there.
func (a *mcpProbe) overHTTP(ctx context.Context, to *url.URL) (next *url.URL, err error) {
	resp, err := a.post(ctx, to)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	switch resp.StatusCode {
	case http.StatusOK:
	case http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return sameServer(to, resp.Header.Get("Location"))
	default:
		return nil, statusError(resp)
	}
	if err := readInitialized(resp.Header.Get("Content-Type"), resp.Body); err != nil {
		return nil, err
	}
	if session := resp.Header.Get("Mcp-Session-Id"); session != "" {
		a.leave(ctx, to, session)
	}
	return nil, nil
}

// leave ends a session. A server that does not know how loses it by itself.
func (a *mcpProbe) leave(ctx context.Context, to *url.URL, session string) {
	ctx, cancel := context.WithTimeout(ctx, leaveTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodDelete, to.String(), nil)
	if err != nil {
		return
	}
	req.Header.Set("Mcp-Session-Id", session)
	req.Header.Set("Mcp-Protocol-Version", "2025-03-26")
	if resp, err := a.http.Do(req); err == nil {
		resp.Body.Close()
	}
}

// overSSE asks a server of the older transport: a stream tells where to send
// messages, and carries the answers. The session ends with the stream.
func (a *mcpProbe) overSSE(ctx context.Context, to *url.URL) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, to.String(), nil)
	if err != nil {
		return err
	}
	req.Header.Set("Accept", "text/event-stream")
	stream, err := a.http.Do(req)
	if err != nil {
		return err
	}
	defer stream.Body.Close()
	if stream.StatusCode != http.StatusOK {
		return statusError(stream)
	}
	events := newSSEReader(stream.Body)
	first, err := events.next()
	if err != nil {
		return err
	}
	messages, err := endpoint(to, first)
	if err != nil {
		return err
	}
	resp, err := a.post(ctx, messages)
	if err != nil {
		return err
	}
	resp.Body.Close()
	if resp.StatusCode/100 != 2 {
		return statusError(resp)
	}
	return awaitInitialized(events)
}

func (a *mcpProbe) post(ctx context.Context, to *url.URL) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, to.String(), strings.NewReader(initialize))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	return a.http.Do(req)
}

// httpError is an answer that is no consent.
type httpError struct{ status string }

func (e httpError) Error() string { return "it answered with " + e.status }

func statusError(resp *http.Response) error {
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 4<<10))
	return httpError{fmt.Sprintf("%d %s", resp.StatusCode, http.StatusText(resp.StatusCode))}
}

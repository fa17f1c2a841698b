package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"time"

	"lamplighter/app/share/wire"
)

// closeLimit is how long a server may take to let a session go.
const closeLimit = 2 * time.Second

// Server is an MCP server with a session of ours that it knows. Its methods may
// be called from any goroutine.
type Server struct {
	transport http.RoundTripper
	url       *url.URL
	receive   func([]byte)
	id        string
	version   string // of the protocol, as the server chose it; "" when it did not say

	life context.Context // of the session; all that is in flight ends with it
	end  context.CancelFunc

	listening, closing sync.Once
	answered           chan struct{} // see Listen
}

// errClosed is what ends the requests of a session that is closed.
var errClosed = errors.New("the session was closed")

// Open begins a session with the line of an initialize request. The answer is
// the line with the response; when that is an error of JSON-RPC there is no
// session, and no error. The error is as with Ask.
func Open(ctx context.Context, o Options, initialize []byte) (s *Server, answer []byte, err error) {
	s, err = newServer(o)
	if err != nil {
		return nil, nil, err
	}
	answer, err = s.ask(ctx, initialize, func(answer *http.Response) {
		if answer.StatusCode < http.StatusBadRequest {
			s.id = answer.Header.Get("Mcp-Session-Id")
		}
	})
	if err != nil {
		s.Close(context.WithoutCancel(ctx)) // a server may keep for long what was begun
		return nil, nil, err
	}
	m := wire.Split(answer)
	if m.Result == nil {
		s.Close(ctx)
		return nil, answer, nil
	}
	var result struct{ ProtocolVersion string }
	_ = json.Unmarshal(m.Result, &result) // of another type it names none
	s.version = result.ProtocolVersion
	return s, answer, nil
}

func newServer(o Options) (*Server, error) {
	u, err := url.Parse(o.URL)
	if err != nil || u.Scheme != "http" || u.Host == "" || u.User != nil {
		return nil, fmt.Errorf("the address of the server, %q, is no plain http address", o.URL)
	}
	s := &Server{transport: o.Transport, url: u, receive: o.Receive, answered: make(chan struct{})}
	if s.receive == nil {
		s.receive = func([]byte) {}
	}
	s.life, s.end = context.WithCancel(context.Background())
	return s, nil
}

// Close ends the GET stream and what is in flight, and tells the server to forget the
// session, which it may or may not do before ctx is done and within 2 s; it is not told at
// all when ctx is done already. What is in flight is not cancelled, as a client that hangs up
// does not cancel anything. Only the first of several calls tells it. A Receive that is at
// work goes on.
func (s *Server) Close(ctx context.Context) {
	s.closing.Do(func() {
		s.end()
		if s.id == "" {
			return
		}
		ctx, cancel := context.WithTimeout(ctx, closeLimit)
		defer cancel()
		if answer, err := s.transport.RoundTrip(s.request(ctx, http.MethodDelete)); err == nil {
			_ = answer.Body.Close()
		}
	})
}

// request is a request without a body.
func (s *Server) request(ctx context.Context, method string) *http.Request {
	r := &http.Request{
		Method: method, URL: s.url, Host: s.url.Host, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{
			"Accept":       {"application/json, text/event-stream"},
			"Content-Type": {"application/json"},
			"User-Agent":   {"lamplighter"},
		},
	}
	for name, value := range map[string]string{"Mcp-Session-Id": s.id, "Mcp-Protocol-Version": s.version} {
		if value != "" {
			r.Header.Set(name, value)
		}
	}
	return r.WithContext(ctx)
}

package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"sync"
	"time"

	"lamplighter/app/share/wire"
)

// answerGrace is how long the stream with the answer to initialize may stay open
// after the answer.
const answerGrace = time.Second

// abandonLimit is how long Open may take longer, to end a session that it could
// not open wholly.
const abandonLimit = 2 * time.Second

// Server is an MCP server with a session of ours that it knows. Its methods may
// be called from any goroutine.
type Server struct {
	transport http.RoundTripper
	url       *url.URL
	receive   func([]byte)
	log       *slog.Logger
	id        string
	version   string
	header    http.Header // of each request; read only

	life context.Context // of the session; all that is in flight ends with it
	end  context.CancelFunc

	mu     sync.Mutex
	stream chan struct{} // closed when the GET stream has ended for good; nil when there was none
}

// errClosed is what ends the requests of a session that is closed.
var errClosed = errors.New("the session was closed")

// Open begins a session with the line of an initialize request. The answer is
// the line with the response; when that is an error of JSON-RPC there is no
// session, and no error. What the server sends before it goes to Receive. The
// error is as with Send.
func Open(ctx context.Context, o Options, initialize []byte) (s *Server, answer []byte, err error) {
	s, err = newServer(o)
	if err != nil {
		return nil, nil, err
	}
	sending, cancel := context.WithCancel(ctx)
	defer cancel()
	err = s.send(sending, initialize, func(line []byte) {
		switch {
		case wire.Split(line).Kind != wire.Response:
			s.receive(line)
		case answer == nil:
			answer = line
			// Some servers leave the stream open.
			time.AfterFunc(answerGrace, cancel)
		}
	}, s.opened)
	switch {
	case answer != nil: // what came after it is no matter
	case err != nil:
		s.abandon(ctx)
		return nil, nil, err
	default:
		s.abandon(ctx)
		return nil, nil, fmt.Errorf("%w: initialize was not answered", ErrLost)
	}
	m := wire.Split(answer)
	if m.Result == nil {
		s.Close(ctx)
		return nil, answer, nil
	}
	var result struct {
		ProtocolVersion string `json:"protocolVersion"`
	}
	if json.Unmarshal(m.Result, &result) == nil && result.ProtocolVersion != "" {
		s.version = result.ProtocolVersion
		s.header = maps.Clone(s.header)
		s.header.Set("Mcp-Protocol-Version", s.version)
	}
	return s, answer, nil
}

// abandon ends a session that was begun and is of no use, also when ctx is done: a
// server may keep it for long.
func (s *Server) abandon(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), abandonLimit)
	defer cancel()
	s.Close(ctx)
}

func newServer(o Options) (*Server, error) {
	u, err := o.parse()
	if err != nil {
		return nil, err
	}
	life, end := context.WithCancel(context.Background())
	s := &Server{
		transport: o.Transport, url: u, receive: o.Receive, log: o.Log, life: life, end: end,
		header: http.Header{
			"Accept":       {"application/json, text/event-stream"},
			"Content-Type": {"application/json"},
			"User-Agent":   {"lamplighter"},
		},
	}
	if s.receive == nil {
		s.receive = func([]byte) {}
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	return s, nil
}

// opened takes the id from the header of the answer to initialize.
func (s *Server) opened(answer *http.Response) {
	if id := answer.Header.Get("Mcp-Session-Id"); id != "" && answer.StatusCode < http.StatusBadRequest {
		s.id = id
		s.header = maps.Clone(s.header) // the request has the old one
		s.header.Set("Mcp-Session-Id", id)
	}
}

// Version is that of the protocol, as the server chose it; "" when it did not
// say.
func (s *Server) Version() string { return s.version }

// Close ends the GET stream and what is in flight, and tells the server to forget the
// session, which it may or may not do before ctx is done; it is not told at all when
// ctx is done already. What is in flight is not cancelled, as a client that hangs up
// does not cancel anything. Only the first of several calls tells it. Close returns when
// Receive is not called any more, or ctx is done.
func (s *Server) Close(ctx context.Context) {
	s.mu.Lock()
	first := s.life.Err() == nil
	s.end()
	stream := s.stream
	s.mu.Unlock()
	if first && s.id != "" {
		s.forget(ctx) // first: a Receive that hangs must not take its time
	}
	if stream != nil {
		select {
		case <-stream:
		case <-ctx.Done():
		}
	}
}

// forget tells the server that the session has ended.
func (s *Server) forget(ctx context.Context) {
	answer, err := s.transport.RoundTrip(s.request(ctx, http.MethodDelete))
	if err != nil {
		s.log.Debug("the end of an MCP session could not be told to its server", "error", err)
		return
	}
	_, _ = io.CopyN(io.Discard, answer.Body, 4<<10) // so that the connection can be used again
	_ = answer.Body.Close()
}

// request is a request without a body.
func (s *Server) request(ctx context.Context, method string) *http.Request {
	r := &http.Request{
		Method: method, URL: s.url, Host: s.url.Host, Header: s.header, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}
	return r.WithContext(ctx)
}

// OpenOwn begins a session in which only we ask, ready for Ask. The caller closes it.
func OpenOwn(ctx context.Context, o Options) (*Server, error) {
	s, answer, err := Open(ctx, o, []byte(Hello))
	switch {
	case err != nil:
		return nil, err
	case s == nil:
		return nil, fmt.Errorf("it answered %.200q", answer)
	}
	if err := s.Send(ctx, []byte(`{"jsonrpc":"2.0","method":"notifications/initialized"}`), nil); err != nil {
		s.Close(ctx)
		return nil, err
	}
	return s, nil
}

// Ask sends a request and returns the line of its response, nil when none came. The
// error is as with Send.
func (s *Server) Ask(ctx context.Context, request []byte) (response []byte, err error) {
	err = s.Send(ctx, request, func(line []byte) {
		if wire.Split(line).Kind == wire.Response {
			response = line
		}
	})
	return response, err
}

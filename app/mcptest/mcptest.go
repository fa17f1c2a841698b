// Package mcptest has an MCP server for the tests of what speaks MCP. It
// speaks streamable HTTP as Serena does, is part of the test's process, and does
// on demand what servers do wrong.
//
// Only tests import it. A real Serena is monitor/serena/serenatest's.
package mcptest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"lamplighter/app/apptest"
)

// Server is a server on a port of its own on the loopback. Its methods may be
// called at any time from any goroutine.
//
// Its tools are, all of them with any arguments besides their own, and with {"ms": N} N
// milliseconds later:
//
//	echo      answers {"session": …, "arguments": …} as structured content
//	count     answers how often it was called in this session
//	wait      answers when Release was called
//	big       {"bytes": N} answers with a text of N bytes
//	progress  {"steps": N} sends N notifications/progress with the request's token, then answers
//	log       {"steps": N} sends N notifications/message, then answers
//	ask       sends a sampling/createMessage request, and answers with what the client said
//	notify    sends notifications/tools/list_changed on the GET stream, then answers
//	stray     sends an answer with an id that nobody asked for, then answers
//	silent    ends its stream without an answer
//	fail      answers with an error of JSON-RPC
//	die       kills the server
//
// A cancelled call is never answered: its stream ends.
type Server struct {
	t    testing.TB
	port int

	mu         sync.Mutex
	behaviour  Behaviour
	http       *http.Server // nil while it is killed
	dead       chan struct{}
	release    chan struct{}
	sessions   map[string]*session
	numbered   int // sessions until now
	asked      int // requests to clients until now
	received   []Received
	executed   []Call
	violations []string
	working    sync.WaitGroup
}

// Behaviour is what the server does. The zero value is a good server.
type Behaviour struct {
	JSON  bool  // answers are application/json, not event streams
	NoGet bool  // there is no GET stream: 405
	Deaf  bool  // no POST is even answered with headers, until Release or the end of the connection
	Limit int64 // of a body; more is answered with 413; 0 = 4 MiB, as with Serena

	// Instead says what is done with a POST instead; nil, or nil as its answer,
	// is nothing. It is called for many requests at a time.
	Instead func(Received) *Reaction
}

// Reaction is what the server does with one POST instead of what it should.
type Reaction struct {
	Status      int    // 0 = 200
	ContentType string // "" = text/event-stream
	Header      http.Header
	Body        []byte // sent in one go
	Cut         bool   // after the body the connection is reset
	Hang        bool   // after the body nothing comes until Release, Kill or the end of the connection
	Execute     bool   // the call counts as executed
}

// Received is one request that came.
type Received struct {
	HTTP    string // POST, GET, DELETE
	Session string // "" = none given
	Line    string // body of a POST
	Method  string // of JSON-RPC; "" = a response, or no message
	ID      string // as written
	Header  http.Header
}

// Call is one call of a tool that was carried out.
type Call struct {
	Session, Tool, Arguments string
}

type session struct {
	id          string
	version     string
	initialized bool
	counted     int
	listening   *stream // nil = no GET stream
	inFlight    map[string]chan struct{}
	waiting     map[string]chan []byte // requests to the client
	ended       chan struct{}
}

// stream is an open GET stream.
type stream struct {
	lines  chan []byte
	hushed chan struct{}
}

// New starts a server, which ends with the test. What it saw that no client may
// do fails the test then: see Violations.
func New(t testing.TB) *Server {
	t.Helper()
	s := &Server{t: t, port: apptest.FreePort(t), sessions: map[string]*session{}, release: make(chan struct{})}
	if err := s.listen(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.Kill()
		for _, v := range s.Violations() {
			t.Error("a client of the server " + v)
		}
	})
	return s
}

func (s *Server) listen() error {
	listener, err := net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(s.port))
	if err != nil {
		return fmt.Errorf("listening: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	server := &http.Server{Handler: http.HandlerFunc(s.serve), ReadHeaderTimeout: time.Minute, ConnState: s.count}
	s.http, s.dead = server, make(chan struct{})
	s.working.Go(func() {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			s.t.Errorf("serving: %v", err)
		}
	})
	return nil
}

// count counts connections: net/http keeps one for half a second when it did not
// read all of a request.
func (s *Server) count(_ net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		s.working.Add(1)
	case http.StateClosed:
		s.working.Done()
	}
}

// URL is where the server listens, also while it is killed.
func (s *Server) URL() string { return fmt.Sprintf("http://127.0.0.1:%d/mcp", s.port) }

// Set changes what the server does from the next request on.
func (s *Server) Set(change func(*Behaviour)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.behaviour)
}

func (s *Server) current() Behaviour {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.behaviour
}

// Kill ends the server as SIGKILL does: all connections end wherever they are,
// and all sessions are forgotten. It returns when nothing of it runs.
func (s *Server) Kill() {
	s.die()
	s.working.Wait()
}

// die is Kill without waiting.
func (s *Server) die() {
	s.mu.Lock()
	server := s.http
	s.http = nil
	if server != nil {
		close(s.dead)
		s.forget()
	}
	s.mu.Unlock()
	if server != nil {
		_ = server.Close() // there is nothing to be done about it
	}
}

// Dead is closed when this run of the server has been killed.
func (s *Server) Dead() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dead
}

// Restart kills the server, if it runs, and starts it again on the same port.
// It knows no sessions then.
func (s *Server) Restart() {
	s.t.Helper()
	s.Kill()
	if err := s.listen(); err != nil {
		s.t.Fatal(err)
	}
}

// Forget makes the server forget all sessions: they are answered with 404.
func (s *Server) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forget()
}

func (s *Server) forget() {
	for _, c := range s.sessions {
		close(c.ended)
	}
	clear(s.sessions)
}

// Release lets go on what waits or hangs now: the tool wait, Behaviour.Deaf,
// Reaction.Hang.
func (s *Server) Release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.release)
	s.release = make(chan struct{})
}

// Sessions are the ids of the sessions that are open, sorted.
func (s *Server) Sessions() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var ids []string
	for id := range s.sessions {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// Received is all that came until now, of all sessions and all runs, in order.
func (s *Server) Received() []Received {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.received)
}

// Lines are the bodies of what was posted in a session, in order; "" is what was
// posted without one.
func (s *Server) Lines(session string) []string {
	var lines []string
	for _, r := range s.Received() {
		if r.HTTP == http.MethodPost && r.Session == session {
			lines = append(lines, r.Line)
		}
	}
	return lines
}

// Executed are the calls of tools that were carried out, in all runs.
func (s *Server) Executed() []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.executed)
}

// InFlight is how many requests of all sessions are being worked on.
func (s *Server) InFlight() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, c := range s.sessions {
		n += len(c.inFlight)
	}
	return n
}

// Listening reports whether a session has an open GET stream.
func (s *Server) Listening(session string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.sessions[session]
	return c != nil && c.listening != nil
}

// Notify sends a line on the GET stream of a session; false when there is none.
func (s *Server) Notify(session string, line string) bool {
	s.mu.Lock()
	c := s.sessions[session]
	var stream *stream
	if c != nil {
		stream = c.listening
	}
	dead := s.dead
	s.mu.Unlock()
	if stream == nil {
		return false
	}
	select {
	case stream.lines <- []byte(line):
		return true
	case <-stream.hushed:
	case <-c.ended:
	case <-dead:
	}
	return false
}

// Hush ends the GET stream of a session; the client may open it again.
func (s *Server) Hush(session string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.sessions[session]; c != nil && c.listening != nil {
		close(c.listening.hushed)
		c.listening = nil
	}
}

// Violations are what clients did that they must not: the same id twice in
// flight, a missing header, Last-Event-ID, an answer to what was not asked.
// Reading them forgets them.
func (s *Server) Violations() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := s.violations
	s.violations = nil
	return list
}

func (s *Server) violation(format string, a ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.violations = append(s.violations, fmt.Sprintf(format, a...))
}

// hang waits until Release, Kill, or the end of the connection.
func (s *Server) hang(ctx context.Context) {
	s.mu.Lock()
	release, dead := s.release, s.dead
	s.mu.Unlock()
	select {
	case <-release:
	case <-dead:
	case <-ctx.Done():
	}
}

// Event is a line as one event of a stream, as Serena writes it.
func Event(line string) []byte { return event([]byte(line)) }

func event(line []byte) []byte {
	b := make([]byte, 0, len(line)+64)
	b = append(b, "event: message\r\n"...)
	for part := range bytes.SplitSeq(line, []byte("\n")) {
		b = append(b, "data: "...)
		b = append(b, part...)
		b = append(b, "\r\n"...)
	}
	return append(b, "\r\n"...)
}

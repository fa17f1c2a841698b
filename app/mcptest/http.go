package mcptest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"slices"
	"strings"

	"lamplighter/app/share/wire"
)

// latest is the version of MCP for clients that want one we do not know.
const latest = "2025-11-25"

var versions = []string{"2024-11-05", "2025-03-26", "2025-06-18", latest}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	if s.http == nil {
		s.mu.Unlock()
		panic(http.ErrAbortHandler)
	}
	s.working.Add(1)
	s.mu.Unlock()
	defer s.working.Done()
	limit := s.current().Limit
	if limit == 0 {
		limit = 4 << 20
	}
	var text bytes.Buffer
	text.Grow(int(min(max(r.ContentLength, 0), limit)) + bytes.MinRead)
	_, err := text.ReadFrom(http.MaxBytesReader(w, r.Body, limit))
	body := text.Bytes()
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		http.Error(w, "Request body too large", http.StatusRequestEntityTooLarge)
		return
	case err != nil:
		return // half a body: the client has gone
	}
	m := wire.Split(body)
	got := Received{
		HTTP: r.Method, Session: r.Header.Get("Mcp-Session-Id"), Line: string(body), Method: m.Method, ID: string(m.ID),
		Header: r.Header.Clone(),
	}
	s.mu.Lock()
	s.received = append(s.received, got)
	known := s.sessions[got.Session]
	s.mu.Unlock()
	if r.Header.Get("Last-Event-ID") != "" {
		s.violation("sent Last-Event-ID")
	}
	if r.URL.Path != "/mcp" {
		http.NotFound(w, r)
		return
	}
	if instead := s.current().Instead; instead != nil && r.Method == http.MethodPost {
		if reaction := instead(got); reaction != nil {
			s.react(w, r, m, got, *reaction)
			return
		}
	}
	switch {
	case got.Session != "" && known == nil:
		refuse(w, http.StatusNotFound, "Session not found")
	case got.Session == "" && m.Method != "initialize":
		refuse(w, http.StatusBadRequest, "Bad Request: Missing session ID")
	case known != nil && r.Header.Get("Mcp-Protocol-Version") != known.version:
		s.violation("of %s sent %s with the protocol version %q, not %q", known.version, r.Method, r.Header.Get("Mcp-Protocol-Version"), known.version)
		refuse(w, http.StatusBadRequest, "Bad Request: Unsupported protocol version")
	case r.Method == http.MethodPost:
		s.post(w, r, known, m, body)
	case r.Method == http.MethodGet:
		s.get(w, r, known)
	case r.Method == http.MethodDelete:
		s.mu.Lock()
		if s.sessions[known.id] == known {
			delete(s.sessions, known.id)
			close(known.ended)
		}
		s.mu.Unlock()
		w.WriteHeader(http.StatusOK)
	default:
		refuse(w, http.StatusMethodNotAllowed, "Method Not Allowed")
	}
}

func refuse(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(wire.ErrorLine(nil, wire.CodeInvalid, text), '\n')) // the client may have gone
}

func (s *Server) react(w http.ResponseWriter, r *http.Request, m wire.Message, got Received, reaction Reaction) {
	if reaction.Execute {
		tool, arguments := call(m)
		s.execute(Call{Session: got.Session, Tool: tool, Arguments: arguments})
	}
	for name, values := range reaction.Header {
		w.Header()[name] = values
	}
	w.Header().Set("Content-Type", "text/event-stream")
	if reaction.ContentType != "" {
		w.Header().Set("Content-Type", reaction.ContentType)
	}
	if reaction.Status != 0 || len(reaction.Body) > 0 || !reaction.Cut && !reaction.Hang {
		w.WriteHeader(max(reaction.Status, http.StatusOK))
		_, _ = w.Write(reaction.Body) // the client may have gone
		_ = http.NewResponseController(w).Flush()
	}
	if reaction.Hang {
		s.hang(r.Context())
	}
	if reaction.Cut {
		panic(http.ErrAbortHandler)
	}
}

func (s *Server) post(w http.ResponseWriter, r *http.Request, c *session, m wire.Message, body []byte) {
	b := s.current()
	accept := r.Header.Get("Accept")
	if !strings.Contains(accept, "application/json") || !strings.Contains(accept, "text/event-stream") {
		refuse(w, http.StatusNotAcceptable, "Not Acceptable: Client must accept both application/json and text/event-stream")
		return
	}
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		refuse(w, http.StatusUnsupportedMediaType, "Unsupported Media Type: Content-Type must be application/json")
		return
	}
	// What is long is looked at once only, because tests with -race are slow.
	if len(body) < 1<<20 && !json.Valid(body) || m.Kind == wire.Garbage || m.Kind == wire.Batch {
		refuse(w, http.StatusBadRequest, "Parse error")
		return
	}
	if b.Deaf {
		s.hang(r.Context())
	}
	if m.Kind != wire.Request {
		s.told(c, m, body)
		w.WriteHeader(http.StatusAccepted)
		return
	}
	if c == nil {
		if c = s.open(m); c == nil {
			refuse(w, http.StatusServiceUnavailable, "the server is gone")
			return
		}
		w.Header().Set("Mcp-Session-Id", c.id)
	}
	t := &turn{server: s, w: w, ctx: r.Context(), session: c, id: m.ID, message: m, behaviour: b, cancelled: make(chan struct{})}
	if !t.begin() {
		return
	}
	defer t.settle()
	t.answer()
}

// told takes a notification, or the answer to a request of ours.
func (s *Server) told(c *session, m wire.Message, body []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c == nil {
		return
	}
	switch {
	case m.Kind == wire.Response:
		waiting := c.waiting[string(m.ID)]
		if waiting == nil {
			s.violations = append(s.violations, fmt.Sprintf("answered in %s what was not asked: %s", c.id, body))
			return
		}
		delete(c.waiting, string(m.ID))
		waiting <- bytes.Clone(body)
	case m.Method == "notifications/initialized":
		c.initialized = true
	case m.Method == "notifications/cancelled":
		var params struct {
			RequestID json.RawMessage `json:"requestId"`
		}
		_ = json.Unmarshal(m.Params, &params) // then there is none
		if cancelled := c.inFlight[string(params.RequestID)]; cancelled != nil {
			select {
			case <-cancelled:
			default:
				close(cancelled)
			}
		}
	}
}

func (s *Server) open(m wire.Message) *session {
	var params struct {
		ProtocolVersion string `json:"protocolVersion"`
	}
	_ = json.Unmarshal(m.Params, &params) // then it is another one
	version := latest
	if slices.Contains(versions, params.ProtocolVersion) {
		version = params.ProtocolVersion
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.http == nil {
		return nil
	}
	s.numbered++
	c := &session{
		id: fmt.Sprintf("session-%d", s.numbered), version: version,
		inFlight: map[string]chan struct{}{}, waiting: map[string]chan []byte{}, ended: make(chan struct{}),
	}
	s.sessions[c.id] = c
	return c
}

func (s *Server) get(w http.ResponseWriter, r *http.Request, c *session) {
	if !strings.Contains(r.Header.Get("Accept"), "text/event-stream") {
		refuse(w, http.StatusNotAcceptable, "Not Acceptable: Client must accept text/event-stream")
		return
	}
	if s.current().NoGet {
		refuse(w, http.StatusMethodNotAllowed, "Method Not Allowed")
		return
	}
	s.mu.Lock()
	taken, dead := c.listening != nil, s.dead
	stream := &stream{lines: make(chan []byte), hushed: make(chan struct{})}
	if !taken {
		c.listening = stream
	}
	s.mu.Unlock()
	if taken {
		refuse(w, http.StatusConflict, "Conflict: Only one SSE stream is allowed per session")
		return
	}
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if c.listening == stream {
			c.listening = nil
		}
	}()
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Mcp-Session-Id", c.id)
	w.WriteHeader(http.StatusOK)
	flush := http.NewResponseController(w).Flush
	_ = flush() // the client may have gone
	for {
		select {
		case line := <-stream.lines:
			_, _ = w.Write(event(line))
		case <-stream.hushed:
			return
		case <-c.ended:
			return
		case <-dead:
			return
		case <-r.Context().Done():
			return
		}
		_ = flush()
	}
}

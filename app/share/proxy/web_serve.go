package proxy

import (
	"errors"
	"net/http"
	"strings"
	"time"

	"lamplighter/app/payload"
	"lamplighter/app/share"
	"lamplighter/app/share/wire"
	"lamplighter/monitor"
)

// Headers of a request: the MCP session, and the version of the protocol.
const (
	sessionHeader = "Mcp-Session-Id"
	versionHeader = "Mcp-Protocol-Version"
)

// ServeMCP answers a request of one who speaks MCP: POST, GET and DELETE. Who
// calls it has checked that the request may come in, and that a body is JSON. who
// finds out which process asks, and may take its time.
func (server *Server) ServeMCP(rw http.ResponseWriter, req *http.Request, who func() monitor.Client) {
	switch req.Method {
	case http.MethodPost:
		server.post(rw, req, who)
	case http.MethodGet, http.MethodHead:
		server.get(rw, req)
	case http.MethodDelete:
		server.delete(rw, req)
	default:
		rw.Header().Set("Allow", "GET, HEAD, POST, DELETE")
		fail(rw, nil, http.StatusMethodNotAllowed, req.Method+" is not possible here; use POST, GET or DELETE")
	}
}

// fail answers with an error, of the request with that id; nil belongs to none.
func fail(rw http.ResponseWriter, id []byte, status int, text string) {
	code := wire.CodeInvalid
	if status == http.StatusServiceUnavailable {
		code = wire.CodeUnavailable
	}
	_ = writeJSON(rw, status, wire.ErrorLine(id, code, shown(text)))
}

// find returns the session that a request names. Nil means that there is none,
// which was answered.
func (server *Server) find(rw http.ResponseWriter, req *http.Request) *webSession {
	named := req.Header.Values(sessionHeader)
	if len(named) != 1 || named[0] == "" {
		fail(rw, nil, http.StatusBadRequest, "the request has to name its MCP session in the header "+sessionHeader+", or begin one with initialize")
		return nil
	}
	server.mu.Lock()
	s := server.sessions[named[0]]
	server.mu.Unlock()
	if s == nil {
		fail(rw, nil, http.StatusNotFound, "there is no such MCP session, or it has ended; begin another one with initialize")
		return nil
	}
	for _, version := range req.Header.Values(versionHeader) { // MCP 2025-06-18, "Protocol Version Header"
		// Serena takes each one that it knows, whichever was agreed on; we tell it that one.
		if _, err := time.Parse(time.DateOnly, version); err != nil {
			fail(rw, nil, http.StatusBadRequest, "the header "+versionHeader+" does not name a version of the protocol, such as 2025-06-18")
			return nil
		}
	}
	return s
}

func (server *Server) delete(rw http.ResponseWriter, req *http.Request) {
	s := server.find(rw, req)
	if s == nil {
		return
	}
	s.session.Gone()
	select { // so that the next request knows it no more
	case <-s.ended:
	case <-req.Context().Done():
	}
}

func (server *Server) get(rw http.ResponseWriter, req *http.Request) {
	s := server.find(rw, req)
	if s == nil {
		return
	}
	if !accepts(req, streamType) {
		fail(rw, nil, http.StatusNotAcceptable, "a GET is answered with "+streamType+"; accept that")
		return
	}
	if req.Method == http.MethodHead {
		writeHeader(rw, http.StatusOK, streamType)
		return
	}
	r := newReply(rw, false)
	s.listen(r) // before its client knows that it is there
	r.serve(req.Context(), s)
}

func (server *Server) post(rw http.ResponseWriter, req *http.Request, who func() monitor.Client) {
	stream := accepts(req, streamType)
	if !stream && !accepts(req, jsonType) {
		fail(rw, nil, http.StatusNotAcceptable, "a POST is answered with "+jsonType+" or "+streamType+"; accept both")
		return
	}
	line, status, err := payload.ReadLong(rw, req, wire.MaxLine)
	if err != nil {
		fail(rw, nil, status, err.Error())
		return
	}
	m := wire.Split(line)
	switch m.Kind {
	case wire.Batch:
		fail(rw, nil, http.StatusBadRequest, "a batch is not taken: send each message in a request of its own")
		return
	case wire.Garbage:
		_ = writeJSON(rw, http.StatusBadRequest, wire.ErrorLine(nil, wire.CodeParse, "the body is no message of JSON-RPC 2.0"))
		return
	}
	var s *webSession
	switch begins := m.Kind == wire.Request && len(req.Header.Values(sessionHeader)) == 0; {
	case begins && m.Method == "server/discover":
		_ = writeJSON(rw, http.StatusOK, undiscovered(m.ID))
	case begins && m.Method == "initialize":
		s = server.open(rw, req, m, who)
	default:
		s = server.find(rw, req)
	}
	if s == nil {
		return
	}
	if m.Kind != wire.Request {
		s.session.take(s.number(m, line, nil))
		rw.WriteHeader(http.StatusAccepted)
		return
	}
	r := newReply(rw, !stream)
	go s.session.take(s.number(m, line, r)) // which may wait for room, and is numbered before what the client sends after the header
	r.serve(req.Context(), s)
	if isClosed(s.ended) && !r.answered {
		_ = r.send(wire.ErrorLine(m.ID, wire.CodeInternal, "the MCP session has ended before there was an answer; this may have been carried out"))
	}
}

// open begins a session for an initialize. Nil means that there is none, which was answered.
func (server *Server) open(rw http.ResponseWriter, req *http.Request, initialize wire.Message, who func() monitor.Client) (s *webSession) {
	var plan share.Plan
	var err error
	switch dirs := req.URL.Query()["project"]; {
	case len(dirs) == 0:
		plan, err = server.options.Ask.ForAddress(req.Context(), "", server.options.Usual())
	case len(dirs) == 1 && dirs[0] != "":
		plan, err = server.options.Ask.ForProject(req.Context(), dirs[0], server.options.Usual())
	default:
		err = &share.InputError{Text: "the address names no project, or several: write /mcp?project=DIR, or /mcp alone"}
	}
	if plan.Alone != "" {
		err = errors.New("the server cannot be shared, so that it cannot be had here: " + plan.Alone + "; start it with lamplighter-connect")
	}
	if err == nil {
		s, err = server.begin(plan, initialize, who)
	}
	var input *share.InputError
	switch {
	case errors.As(err, &input):
		fail(rw, initialize.ID, http.StatusBadRequest, err.Error())
	case err != nil:
		fail(rw, initialize.ID, http.StatusServiceUnavailable, err.Error())
	default:
		rw.Header().Set(sessionHeader, s.id)
	}
	return s
}

// accepts reports whether a request takes an answer of that type. One that says
// nothing takes everything (RFC 9110, 12.5.1).
func accepts(req *http.Request, kind string) bool {
	said := strings.ToLower(strings.Join(req.Header.Values("Accept"), ","))
	top, _, _ := strings.Cut(kind, "/")
	takes := func(media string) bool { return strings.Contains(said, media) }
	return said == "" || takes(kind) || takes(top+"/*") || takes("*/*")
}

package serenatest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// Replayed is a server in the test's own process that answers as a real Serena of
// its version did: the routes of the dashboard, and MCP at /mcp, on one port. A
// request that the transcript does not have fails the test.
//
// A request that was recorded several times in a state gets these answers in turn,
// the last of them from then on. One that had no answer in its state waits until
// the state is another.
type Replayed struct {
	Transcript Transcript
	Port       int // on 127.0.0.1
	MCPURL     string

	t      testing.TB
	server *httptest.Server

	mu       sync.Mutex
	state    string
	left     chan struct{}  // closed when the state is another
	given    map[string]int // answers so far, by what was asked
	asked    []string
	sessions map[string]bool // of MCP; true while it has a stream
	opened   int             // sessions until now
}

// Replay starts a Replayed in a state. It ends with the test.
func Replay(t testing.TB, version, state string) *Replayed {
	t.Helper()
	p := &Replayed{Transcript: Recorded(t, version), t: t, sessions: map[string]bool{}}
	p.Enter(state)
	p.server = httptest.NewServer(p)
	t.Cleanup(p.Close)
	p.Port = p.server.Listener.Addr().(*net.TCPAddr).Port
	p.MCPURL = p.server.URL + mcpPath
	return p
}

// Enter puts the server into a state, from its beginning.
func (p *Replayed) Enter(state string) {
	p.t.Helper()
	if p.Transcript.state(state) == nil {
		p.t.Fatalf("the transcript of Serena %s has no state %q", p.Transcript.Version, state)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.left != nil {
		close(p.left)
	}
	p.state, p.left, p.given = state, make(chan struct{}), map[string]int{}
}

// Close ends the server and every connection to it.
func (p *Replayed) Close() {
	p.server.CloseClientConnections()
	p.server.Close()
}

// Asked is all that was asked until now, as transcripts have it.
func (p *Replayed) Asked() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.asked...)
}

func (p *Replayed) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	session, about := p.session(r)
	long := r.ContentLength > maxPost && about == ""
	var body []byte
	if refused := p.Transcript.answers(NoProject, "POST "+mcpPath+tooLong); !long || len(refused) > 0 && refused[0].Status == http.StatusOK {
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			return // who asked has gone
		}
	}
	ask := r.Method + " " + r.URL.Path + tooLong
	if !long {
		ask = askOf(r, body, about)
	}
	e, left, ok := p.next(ask)
	for ok && e.Waits {
		select {
		case <-left:
			e, left, ok = p.next(ask)
		case <-r.Context().Done():
			return
		}
	}
	if !ok {
		p.t.Errorf("the transcript of Serena %s has no answer to %q in this state", p.Transcript.Version, ask)
		w.WriteHeader(http.StatusNotImplemented)
		return
	}
	if strings.HasSuffix(ask, " initialize") {
		session = p.open()
	}
	for name, value := range e.Header {
		w.Header().Set(name, value)
	}
	if e.Header[sessionHeader] != "" {
		w.Header().Set(sessionHeader, session)
	}
	stream := strings.HasPrefix(e.Header["Content-Type"], "text/event-stream")
	switch {
	case stream && r.Method == http.MethodGet:
		p.listen(w, r, session)
		return
	case r.Method == http.MethodDelete:
		p.forget(session)
	}
	w.WriteHeader(e.Status)
	if stream {
		fmt.Fprintf(w, "event: message\r\ndata: %s\r\n\r\n", withID(e.JSON, body))
	} else {
		_, _ = w.Write(append([]byte(e.Text), e.JSON...)) // who asked may have gone
	}
}

const sessionHeader = "Mcp-Session-Id"

// next is the answer to what is asked now.
func (p *Replayed) next(ask string) (e Exchange, left <-chan struct{}, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	answers := p.Transcript.answers(p.state, ask)
	if start, is := strings.CutPrefix(ask, askLog); is && len(answers) == 0 {
		answers = p.logFrom(start)
	}
	if len(answers) == 0 {
		return Exchange{}, nil, false
	}
	n := min(p.given[ask], len(answers)-1)
	p.given[ask]++
	p.asked = append(p.asked, ask)
	return answers[n], p.left, true
}

// askLog is how a question for the log begins; the index of the first record follows.
const askLog = "POST /get_log_messages {\"start_idx\":"

// logFrom is the log of a state from a record on: transcripts have it from its beginning.
func (p *Replayed) logFrom(start string) []Exchange {
	whole := p.Transcript.answers(p.state, askLog+"0}")
	first, err := strconv.Atoi(strings.TrimSuffix(start, "}"))
	if len(whole) == 0 || err != nil {
		return nil
	}
	var log map[string]any
	if err := json.Unmarshal(whole[0].JSON, &log); err != nil {
		return nil
	}
	records, _ := log["messages"].([]any)
	log["messages"] = records[min(first, len(records)):]
	e := whole[0]
	if e.JSON, err = json.Marshal(log); err != nil {
		return nil
	}
	return []Exchange{e}
}

// session is the one that a request names, and what askOf is told of it.
func (p *Replayed) session(r *http.Request) (id, about string) {
	if r.URL.Path != mcpPath {
		return "", ""
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	id = r.Header.Get(sessionHeader)
	listening, known := p.sessions[id]
	switch {
	case !known:
		return id, unknownSession
	case listening && r.Method == http.MethodGet:
		return id, secondStream
	}
	return id, ""
}

func (p *Replayed) open() (id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.opened++
	id = fmt.Sprintf("%032x", p.opened)
	p.sessions[id] = false
	return id
}

func (p *Replayed) forget(session string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.sessions, session)
}

// listen keeps a stream on which nothing is sent open until who asked goes away.
func (p *Replayed) listen(w http.ResponseWriter, r *http.Request, session string) {
	hold := func(open bool) {
		p.mu.Lock()
		defer p.mu.Unlock()
		if _, known := p.sessions[session]; known {
			p.sessions[session] = open
		}
	}
	hold(true)
	defer hold(false)
	w.WriteHeader(http.StatusOK)
	if f, ok := w.(http.Flusher); ok {
		f.Flush()
	}
	<-r.Context().Done()
}

// withID is a message with the id of the request that it answers.
func withID(message, request []byte) []byte {
	var answer map[string]json.RawMessage
	var asked struct {
		ID json.RawMessage `json:"id"`
	}
	if json.Unmarshal(message, &answer) != nil || json.Unmarshal(request, &asked) != nil || asked.ID == nil {
		return message
	}
	answer["id"] = asked.ID
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(answer) != nil {
		return message
	}
	return bytes.TrimSpace(b.Bytes())
}

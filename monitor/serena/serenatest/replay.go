package serenatest

import (
	"crypto/rand"
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

	t        testing.TB
	server   *httptest.Server
	sessions sync.Map // of MCP

	mu    sync.Mutex
	state string
	left  chan struct{}  // closed when the state is another
	given map[string]int // answers so far, by what was asked
	asked []string
}

// Replay starts a Replayed in a state. It ends with the test.
func Replay(t testing.TB, version, state string) *Replayed {
	t.Helper()
	p := &Replayed{Transcript: Recorded(t, version), t: t}
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
	var body []byte
	var err error
	long := r.ContentLength > maxPost
	if !long {
		body, err = io.ReadAll(r.Body)
	}
	session := r.Header.Get(sessionHeader)
	_, known := p.sessions.Load(session)
	ask := askOf(r, body, known)
	e, left := p.next(ask)
	for e.Waits {
		select {
		case <-left:
			e, left = p.next(ask)
		case <-r.Context().Done():
			return
		}
	}
	if long && e.Status == http.StatusOK { // else it is refused without being read
		body, err = io.ReadAll(r.Body)
	}
	if err != nil {
		return // who asked has gone
	}
	switch {
	case strings.HasSuffix(ask, " initialize"):
		session = rand.Text()
		p.sessions.Store(session, true)
	case r.Method == http.MethodDelete:
		p.sessions.Delete(session)
	}
	for name, value := range e.Header {
		if name == sessionHeader {
			value = session
		}
		w.Header().Set(name, value)
	}
	w.WriteHeader(e.Status)
	switch stream := strings.HasPrefix(e.Header["Content-Type"], "text/event-stream"); {
	case stream && r.Method == http.MethodGet: // nothing is sent on it
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	case stream:
		fmt.Fprintf(w, "event: message\r\ndata: %s\r\n\r\n", withID(e.JSON, body))
	default:
		_, _ = w.Write(append([]byte(e.Text), e.JSON...)) // who asked may have gone
	}
}

// next is the answer to what is asked now, and what is closed when the state is another.
func (p *Replayed) next(ask string) (e Exchange, left <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	answers := p.Transcript.answers(p.state, ask)
	if start, is := strings.CutPrefix(ask, askLog); is && len(answers) == 0 {
		answers = p.logFrom(start)
	}
	if len(answers) == 0 {
		p.t.Errorf("the transcript of Serena %s has no answer to %q in the state %q", p.Transcript.Version, ask, p.state)
		return Exchange{Status: http.StatusNotImplemented}, nil
	}
	n := min(p.given[ask], len(answers)-1)
	p.given[ask]++
	p.asked = append(p.asked, ask)
	return answers[n], p.left
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
	log, _ := decode(whole[0].JSON).(map[string]any)
	records, _ := log["messages"].([]any)
	log["messages"] = records[min(first, len(records)):]
	whole[0].JSON = encode(log)
	return whole[:1]
}

// withID is a message with the id of the request that it answers.
func withID(message, request []byte) []byte {
	answer, _ := decode(message).(map[string]any)
	asked, _ := decode(request).(map[string]any)
	if answer == nil || asked["id"] == nil {
		return message
	}
	answer["id"] = asked["id"]
	return encode(answer)
}

// maxPost is the longest body that a server of Version takes over MCP.
const maxPost = 4 << 20

const (
	mcpPath       = "/mcp"
	sessionHeader = "Mcp-Session-Id"
)

// What stands behind a request that names a session which there is not, one with a body
// longer than maxPost, and one for another host.
const (
	unknownSession = ", unknown session"
	tooLong        = ", longer than 4 MiB"
	otherHost      = ", for another host"
)

// askOf is a request as transcripts have it: method and path, then what the
// answer depends on. Of a message of MCP that is its method, of a tool call its
// name and arguments as well; its id and what a client says of itself are not in it.
//
//	POST /get_memory {"memory_name":"first"}
//	POST /mcp tools/call {"arguments":{"relative_path":"."},"name":"list_dir"}
//	GET /mcp, unknown session
func askOf(r *http.Request, body []byte, knownSession bool) string {
	ask := r.Method + " " + r.URL.Path
	if host, _, err := net.SplitHostPort(r.Host); err != nil || host != "127.0.0.1" && host != "localhost" {
		return ask + otherHost
	}
	if r.URL.Path != mcpPath {
		return strings.TrimSpace(ask + " " + canonical(body))
	}
	var message struct {
		Method string          `json:"method"`
		Params json.RawMessage `json:"params"`
	}
	_ = json.Unmarshal(body, &message) // of no method then
	switch {
	case !knownSession && message.Method != "initialize":
		return ask + unknownSession
	case r.ContentLength > maxPost:
		return ask + tooLong
	case message.Method == "tools/call":
		return ask + " " + message.Method + " " + canonical(message.Params)
	}
	return strings.TrimSpace(ask + " " + message.Method)
}

package mcptest

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"lamplighter/app/share/wire"
)

// turn is one request and its answer.
type turn struct {
	server    *Server
	w         http.ResponseWriter
	ctx       context.Context
	session   *session
	id        []byte
	message   wire.Message
	behaviour Behaviour
	cancelled chan struct{}
	release   chan struct{} // of the server, when it began: who sees it in flight can let it go
	streaming bool
}

// begin enters the request among those in flight.
func (t *turn) begin() bool {
	s := t.server
	s.mu.Lock()
	defer s.mu.Unlock()
	if t.session.inFlight[string(t.id)] != nil {
		s.violations = append(s.violations, fmt.Sprintf("of %s used the id %s twice at a time", t.session.id, t.id))
		refuse(t.w, http.StatusConflict, "the id is in flight")
		return false
	}
	t.session.inFlight[string(t.id)], t.release = t.cancelled, s.release
	return true
}

// settle takes the request out of those in flight, unless it is another's by now.
func (t *turn) settle() {
	s := t.server
	s.mu.Lock()
	defer s.mu.Unlock()
	if t.session.inFlight[string(t.id)] == t.cancelled {
		delete(t.session.inFlight, string(t.id))
	}
}

// send writes a message of the answer; last is the response itself. Who has that
// may use the id again at once, so the request is settled before.
func (t *turn) send(line []byte, last bool) {
	if last {
		t.settle()
	}
	if t.behaviour.JSON {
		if !last {
			return
		}
		t.w.Header().Set("Content-Type", "application/json")
		_, _ = t.w.Write(line) // the client may have gone
		return
	}
	t.stream()
	_, _ = t.w.Write(event(line))
	_ = http.NewResponseController(t.w).Flush()
}

// stream sends the headers of an event stream, as Serena does before it works.
func (t *turn) stream() {
	if !t.streaming && !t.behaviour.JSON {
		t.streaming = true
		t.w.Header().Set("Content-Type", "text/event-stream")
		t.w.WriteHeader(http.StatusOK)
		_ = http.NewResponseController(t.w).Flush() // the client may have gone
	}
}

func (t *turn) result(format string, a ...any) {
	line := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":`, t.id)
	line = fmt.Appendf(line, format, a...)
	t.send(append(line, '}'), true)
}

func (t *turn) text(text string) {
	quoted, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	t.result(`{"content":[{"type":"text","text":%s}],"isError":false}`, quoted)
}

// pause waits; false when the answer is not wanted any more.
func (t *turn) pause(until <-chan struct{}, d time.Duration) bool {
	var timer <-chan time.Time
	if until == nil {
		real := time.NewTimer(d)
		defer real.Stop()
		timer = real.C
	}
	t.server.mu.Lock()
	dead := t.server.dead
	t.server.mu.Unlock()
	select {
	case <-until:
		return true
	case <-timer:
		return true
	case <-t.cancelled:
	case <-t.session.ended:
	case <-dead:
		panic(http.ErrAbortHandler)
	case <-t.ctx.Done():
	}
	return false
}

func (t *turn) answer() {
	s, m := t.server, t.message
	s.mu.Lock()
	initialized := t.session.initialized
	s.mu.Unlock()
	t.stream()
	switch {
	case m.Method == "initialize":
		t.result(`{"protocolVersion":%q,"capabilities":{"tools":{"listChanged":true},"logging":{},"resources":{"subscribe":true}},"serverInfo":{"name":"mcptest","version":"1"},"unknown":{"kept":1.50}}`, t.session.version)
	case m.Method == "ping":
		t.result(`{}`)
	case !initialized:
		t.send(wire.ErrorLine(t.id, -32602, "Received request before initialization was complete"), true)
	case m.Method == "tools/list":
		t.result("%s", t.tools())
	case m.Method == "tools/call":
		t.call()
	default:
		t.send(wire.ErrorLine(t.id, wire.CodeMethodNotFound, "Method not found"), true)
	}
}

func (t *turn) tools() string {
	var list []string
	for _, name := range strings.Fields("echo count wait big progress log ask notify stray silent fail die") {
		list = append(list, fmt.Sprintf(`{"name":%q,"inputSchema":{"type":"object"}}`, name))
	}
	return `{"tools":[` + strings.Join(list, ",") + `]}`
}

// call reads the name and the arguments of a call of a tool.
func call(m wire.Message) (tool, arguments string) {
	var params struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	}
	if m.Method != "tools/call" || json.Unmarshal(m.Params, &params) != nil {
		return "", ""
	}
	if params.Arguments == nil {
		params.Arguments = json.RawMessage("{}")
	}
	return params.Name, string(params.Arguments)
}

func (s *Server) execute(c Call) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.executed = append(s.executed, c)
}

func (t *turn) call() {
	tool, arguments := call(t.message)
	t.server.execute(Call{Session: t.session.id, Tool: tool, Arguments: arguments})
	var args struct{ MS, Bytes, Steps int }
	_ = json.Unmarshal([]byte(arguments), &args) // they are for other tools then
	if args.MS > 0 && !t.pause(nil, time.Duration(args.MS)*time.Millisecond) {
		return
	}
	switch tool {
	case "echo":
		t.result(`{"content":[{"type":"text","text":"echo"}],"structuredContent":{"session":%q,"arguments":%s},"isError":false}`, t.session.id, arguments)
	case "count":
		t.server.mu.Lock()
		t.session.counted++
		n := t.session.counted
		t.server.mu.Unlock()
		t.text(fmt.Sprint(n))
	case "wait":
		if t.pause(t.release, 0) {
			t.text("waited")
		}
	case "big":
		t.text(strings.Repeat("x", args.Bytes))
	case "progress":
		t.progress(args.Steps)
	case "log":
		for i := range args.Steps {
			t.send(fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":{"session":%q,"step":%d}}}`, t.session.id, i), false)
		}
		t.text("logged")
	case "ask":
		t.ask()
	case "notify":
		t.server.Notify(t.session.id, `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
		t.text("notified")
	case "stray":
		t.send([]byte(`{"jsonrpc":"2.0","id":"nobody asked","result":{}}`), false)
		t.text("strayed")
	case "silent":
	case "fail":
		t.send(wire.ErrorLine(t.id, wire.CodeInternal, "it failed"), true)
	case "die":
		t.server.die()
		panic(http.ErrAbortHandler)
	default:
		quoted, err := json.Marshal("Unknown tool: " + tool)
		if err != nil {
			panic(err)
		}
		t.result(`{"content":[{"type":"text","text":%s}],"isError":true}`, quoted)
	}
}

func (t *turn) progress(steps int) {
	var params struct {
		Meta struct {
			ProgressToken json.RawMessage `json:"progressToken"`
		} `json:"_meta"`
	}
	_ = json.Unmarshal(t.message.Params, &params) // then there is no token
	if params.Meta.ProgressToken != nil {
		for i := range steps {
			t.send(fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":%d,"message":%q}}`,
				params.Meta.ProgressToken, i, t.session.id), false)
		}
	}
	t.text("progressed")
}

func (t *turn) ask() {
	s := t.server
	answered := make(chan []byte, 1)
	s.mu.Lock()
	s.asked++
	id := s.asked
	t.session.waiting[fmt.Sprint(id)] = answered
	s.mu.Unlock()
	t.send(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":"sampling/createMessage","params":{"messages":[],"maxTokens":1}}`, id), false)
	said := make(chan struct{})
	var answer []byte
	s.working.Go(func() {
		select {
		case answer = <-answered:
			close(said)
		case <-t.session.ended:
		case <-t.ctx.Done():
		}
	})
	if t.pause(said, 0) {
		t.text(string(answer))
	}
}

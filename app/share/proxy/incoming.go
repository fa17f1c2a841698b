package proxy

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"

	"lamplighter/app/share/wire"
)

// incoming passes on what the server sends: on the stream of a request, or on
// that of the MCP session when there is none.
func (s *Session) incoming(lk *link, of *item, line []byte) {
	m := wire.Split(line)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.isOver() || of == nil && isClosed(lk.closed) { // nobody waits for that
		return
	}
	switch m.Kind {
	case wire.Response:
		s.incomingAnswer(lk, m, line)
	case wire.Request, wire.Notification:
		if m.Kind == wire.Request {
			s.asked[idKey(m.ID)] = question{link: lk}
		} else if strings.HasSuffix(m.Method, "/list_changed") && s.link == lk {
			s.o.Servers.Forget()
		}
		var seq uint64
		if of != nil && !of.told {
			seq = of.seq
		}
		s.write(func() error { return s.o.Out.Deliver(seq, false, line) })
	default:
		s.odd.log(s.o.Log, slog.LevelWarn, "The server sent what is no message of JSON-RPC; it was dropped", "bytes", len(line))
	}
}

// incomingAnswer finds the request that is answered. Servers may answer on
// another stream than that of the request.
func (s *Session) incomingAnswer(lk *link, m wire.Message, line []byte) {
	r := s.pending[idKey(m.ID)]
	if r == nil || r.link != lk || string(m.ID) == "null" {
		s.odd.log(s.o.Log, slog.LevelWarn, "The server answered what nobody asked for; it was dropped", "bytes", len(line))
		return
	}
	if m.Result != nil && s.link == lk { // else it may be that of another project
		s.learn(r, m.Result)
	}
	if r.activates {
		if answer, ok := readMembers(m.Result); ok && !answer.IsError {
			r.leaves = s.o.Servers.Project()
		}
	}
	s.tell(r, line)
}

// noteTool looks for calls of Serena's REPL, whose sessions hold variables.
func (s *Session) noteTool(params []byte) {
	if !mayName(params, "serena_repl") {
		return
	}
	call, err := readCall(params)
	var session string
	if value := call.arguments["session"]; err != nil || call.name != "serena_repl" || len(value) > 0 && json.Unmarshal(value, &session) != nil {
		return // also when its arguments are of the wrong type: then it does nothing
	}
	s.o.Servers.Seen(session)
}

// progressStep is how much progress a message shows. The server may count as well, and
// each number has to be larger than the one before.
const progressStep = 0.001

// tellHang tells the client that a request waits because the server does not answer, where
// it does not and the client has asked for progress.
func (s *Session) tellHang(it *item) {
	text := s.o.Servers.Hang()
	if text == "" {
		return
	}
	asked, _ := readMembers(it.Params)
	token := asked.Meta.ProgressToken
	if !isGiven(token) {
		return
	}
	it.progress += progressStep
	line := fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":%.3f,"message":%q}}`, token, it.progress, text)
	s.write(func() error {
		if it.answerWritten {
			return nil
		}
		return s.o.Out.Deliver(it.seq, false, line)
	})
}

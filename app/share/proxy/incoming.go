package proxy

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"lamplighter/app/share/wire"
)

// incoming passes on what the server sends: on the stream of a request, or on
// that of the MCP session when there is none.
func (l *Session) incoming(lk *link, of *item, line []byte) {
	m := wire.Split(line)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ending || of == nil && isClosed(lk.closed) { // nobody waits for that
		return
	}
	switch m.Kind {
	case wire.Response:
		l.incomingAnswer(lk, of, m, line)
	case wire.Request, wire.Notification:
		if m.Kind == wire.Request {
			l.asked[idKey(m.ID)] = question{link: lk}
		} else if strings.HasSuffix(m.Method, "/list_changed") && l.link == lk {
			l.o.Servers.Forget()
		}
		var seq uint64
		if of != nil && !of.told {
			seq = of.seq
		}
		l.write(func() error { return l.o.Out.Deliver(seq, false, line) })
	default:
		l.noteOdd("The server sent what is no message of JSON-RPC", len(line))
	}
}

// incomingAnswer finds the request that is answered. Servers may answer on
// another stream than that of the request.
func (l *Session) incomingAnswer(lk *link, of *item, m wire.Message, line []byte) {
	unread := string(m.ID) == "null"
	r := l.pending[idKey(m.ID)]
	if unread || r != nil && r.link != lk {
		r = nil
	}
	if unread && of != nil && !of.told && m.Error != nil {
		// The server could not read the request. Its client would not know which one.
		r = of
		line = slices.Concat([]byte(`{"jsonrpc":"2.0","id":`), of.ID, []byte(`,"error":`), m.Error, []byte(`}`))
	}
	if r == nil {
		l.noteOdd("The server answered what nobody asked for", len(line))
		return
	}
	r.answered = true
	if m.Result != nil && l.link == lk { // else it may be that of another project
		l.learn(r, m.Result)
	}
	if r.activates {
		if answer, ok := readMembers(m.Result); ok && !answer.IsError {
			r.leaves = r.target
		}
	}
	l.tell(r, line)
}

// noteOdd logs that the server does what it should not.
func (l *Session) noteOdd(what string, size int) {
	l.odd.log(l.o.Log, slog.LevelWarn, what+"; it was dropped", "bytes", size)
}

// noteTool looks for calls of Serena's REPL, whose sessions hold variables.
func (l *Session) noteTool(params []byte) {
	if !mayName(params, "serena_repl") {
		return
	}
	call, err := readCall(params)
	var session string
	if value := call.arguments["session"]; err != nil || call.name != "serena_repl" || len(value) > 0 && json.Unmarshal(value, &session) != nil {
		return // also when its arguments are of the wrong type: then it does nothing
	}
	l.o.Servers.Seen(session)
}

// unanswered are the requests whose fate was not told.
func (l *Session) unanswered() (list []*item) {
	for _, it := range l.pending {
		if !it.told {
			list = append(list, it)
		}
	}
	return list
}

// progressStep is how much progress a message shows. The server may count as well, and
// each number has to be larger than the one before.
const progressStep = 0.001

// tellHang tells the client that a request waits because the server does not answer, where
// it does not and the client has asked for progress.
func (l *Session) tellHang(it *item) {
	text := l.o.Servers.Hang()
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
	l.write(func() error {
		l.mu.Lock()
		possible := !it.told && !l.ending
		l.mu.Unlock()
		if !possible {
			return nil
		}
		return l.o.Out.Deliver(it.seq, false, line)
	})
}

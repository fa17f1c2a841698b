package proxy

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"lamplighter/app/share/wire"
)

// incoming passes on what the server sends: on the stream of a request, or on
// that of the MCP session when there is none.
func (l *Session) incoming(lk *link, of *item, line []byte) {
	m := wire.Split(line)
	l.mu.Lock()
	muted, former := lk.muted || l.ending, lk.retired
	var seq uint64
	if of != nil && !of.told {
		seq = of.seq
	}
	l.mu.Unlock()
	if muted {
		return
	}
	switch m.Kind {
	case wire.Response:
		l.incomingAnswer(lk, of, m, line)
	case wire.Request:
		if len(m.ID) > maxAskID {
			l.noteOdd("The server has asked something under a very long id", len(line))
			return
		}
		if l.ask(lk, m.ID) {
			l.write(func() error { return l.o.Out.Deliver(seq, false, line) })
		}
	case wire.Notification:
		switch {
		case strings.HasSuffix(m.Method, "/list_changed") && !former:
			l.o.Servers.Forget()
		case m.Method == "notifications/cancelled":
			l.withdraw(lk, cancelledKey(m.Params))
		}
		l.write(func() error { return l.o.Out.Deliver(seq, false, line) })
	default:
		l.noteOdd("The server sent what is no message of JSON-RPC", len(line))
	}
}

// incomingAnswer finds the request that is answered. Servers may answer on
// another stream than that of the request.
func (l *Session) incomingAnswer(lk *link, of *item, m wire.Message, line []byte) {
	l.mu.Lock()
	unread := string(m.ID) == "null"
	r := l.pending[idKey(m.ID)]
	if unread || r != nil && (r.link != lk || r.stage != sent) {
		r = nil
	}
	if unread && of != nil && !of.told && m.Error != nil {
		// The server could not read the request. Its client would not know which one.
		r = of
		line = slices.Concat([]byte(`{"jsonrpc":"2.0","id":`), of.ID, []byte(`,"error":`), m.Error, []byte(`}`))
	}
	if r != nil {
		r.answered = true
	}
	l.mu.Unlock()
	if r == nil {
		l.noteOdd("The server answered what nobody asked for", len(line))
		return
	}
	if m.Result != nil {
		l.learn(lk, r, m.Result)
	}
	if r.activates {
		l.activated(r, m.Result)
	}
	l.tell(r, line)
}

// asker is a request of a server that the client has not answered.
type asker struct {
	link *link
	id   []byte
}

// ask enters a request of the server, whose answer the client may then send. It
// is false when it was refused.
func (l *Session) ask(lk *link, id []byte) bool {
	key := idKey(id)
	l.mu.Lock()
	room := len(l.asked) < maxAsks
	if room {
		l.asked[key] = asker{lk, bytes.Clone(id)}
	}
	l.mu.Unlock()
	if !room {
		l.refuse(lk, id, "the client has not answered too many requests")
	}
	return room
}

// withdraw forgets a request that its server has cancelled, which a client does not
// answer. One that answers all the same answers nobody (MCP 2025-06-18,
// "Cancellation").
func (l *Session) withdraw(lk *link, key string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.asked[key].link == lk {
		delete(l.asked, key)
	}
}

// refuse answers a request of the server with an error. A server that takes no
// such answers gets no more of them after a while: each costs a connection.
func (l *Session) refuse(lk *link, id []byte, why string) {
	l.mu.Lock()
	session := lk.session
	possible := session != nil && l.refusing < mostRefusals
	if possible {
		l.refusing++
	}
	l.mu.Unlock()
	if !possible {
		return
	}
	session.Begin(context.Background(), wire.ErrorLine(id, wire.CodeInternal, why), nil, func(error) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.refusing--
	})
}

// unask tells the client that nobody waits for its answers any more.
func (l *Session) unask(ids [][]byte) {
	for _, id := range ids {
		l.write(func() error { return l.o.Out.Deliver(0, false, cancellation(id, "the server has ended")) })
	}
}

// learn keeps what may be answered without a server.
func (l *Session) learn(lk *link, r *item, result []byte) {
	l.mu.Lock()
	params, under, former := r.Params, l.under, lk.retired
	l.mu.Unlock()
	if r.Method != "tools/list" || !plainList(params) || hasMore(result) || former { // it may be that of another project
		return
	}
	l.noteTools(result)
	if under != "" {
		l.o.Servers.Store(r.Method, under, bytes.Clone(result))
	}
}

// noteOdd logs once that the server does what it should not.
func (l *Session) noteOdd(what string, size int) {
	l.mu.Lock()
	first := !l.odd
	l.odd = true
	l.mu.Unlock()
	if first {
		l.o.Log.Warn(what+"; it was dropped, and more of it will not be logged", "bytes", size)
	}
}

// noteTool looks for calls of Serena's REPL, whose sessions hold variables.
func (l *Session) noteTool(params []byte) {
	if !bytes.Contains(params, []byte("serena_repl")) && !bytes.Contains(params, []byte(`\u`)) {
		return
	}
	var p struct {
		Name      string `json:"name"`
		Arguments struct {
			Session string `json:"session"`
		} `json:"arguments"`
	}
	if json.Unmarshal(params, &p) != nil || p.Name != "serena_repl" {
		return // also when its arguments are of the wrong type: then it does nothing
	}
	l.o.Servers.Seen(p.Arguments.Session)
}

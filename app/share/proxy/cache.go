package proxy

import (
	"bytes"

	"lamplighter/app/share/wire"
)

// under is what the answer to a request depends on, besides the server; "" when it is not
// kept.
func (l *Session) under(it *item) string {
	switch {
	case it.Method == "initialize":
		return cacheKey(it.Params)
	case it.Method == "tools/list" && isWholeList(it.Params):
		return cacheKey(wire.Split(l.state.initialize).Params)
	}
	return ""
}

// fromCache answers a request without a server, if its answer is known.
func (l *Session) fromCache(it *item) (ok bool) {
	var result []byte
	if under := l.under(it); under != "" {
		l.outside(func() { result, ok = l.o.Servers.Cached(it.Method, under) }) // looks at files
	}
	switch {
	case !ok:
		return false
	case it.Method == "initialize":
		l.state.initialize = bytes.Clone(it.line)
	default:
		l.noteTools(result)
	}
	l.tell(it, resultLine(it.ID, result))
	return true
}

// learn keeps the result of a request that may be answered without a server later.
func (l *Session) learn(it *item, result []byte) {
	under := l.under(it)
	if under == "" {
		return
	}
	if page, ok := readMembers(result); !ok || page.NextCursor != nil {
		return
	}
	if it.Method == "tools/list" {
		l.noteTools(result)
	}
	l.o.Servers.Store(it.Method, under, result)
}

// answerHung answers from memory what a server was asked before it was found to hang, and
// has the rest told that it waits.
func (l *Session) answerHung(lk *link) {
	for _, it := range l.unanswered() {
		if it.link == lk && !l.fromCache(it) && !it.told {
			it.overdue.Reset(0)
		}
	}
}

package proxy

import "lamplighter/app/share/wire"

// under is what the answers to the client depend on; see cacheKey.
func (l *Session) under() string { return cacheKey(wire.Split(l.state.initialize).Params) }

// listFromCache answers a tools/list without a server.
func (l *Session) listFromCache(it *item) bool {
	if it.Method != "tools/list" || !isWholeList(it.Params) {
		return false
	}
	result, ok := l.cached(it.Method, l.under())
	if ok {
		l.noteTools(result)
		l.tell(it, resultLine(it.ID, result))
	}
	return ok
}

// cached is Servers.Cached, which looks at files, but under "" there is nothing.
func (l *Session) cached(method, under string) (result []byte, ok bool) {
	if under != "" {
		l.outside(func() { result, ok = l.o.Servers.Cached(method, under) })
	}
	return result, ok
}

// answerHung answers from memory what a server was asked before it was found to hang, and
// has the rest told that it waits.
func (l *Session) answerHung(lk *link) {
	for _, it := range l.unanswered() {
		if it.link == lk && !l.listFromCache(it) && !it.told {
			it.overdue.Reset(0)
		}
	}
}

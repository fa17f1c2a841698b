package proxy

// listFromCache answers a tools/list without a server.
func (l *Session) listFromCache(it *item) bool {
	l.mu.Lock()
	under, params := l.state.under, it.Params
	l.mu.Unlock()
	if it.Method != "tools/list" || under == "" || !isWholeList(params) {
		return false
	}
	result, ok := l.o.Servers.Cached(it.Method, under)
	if ok {
		l.noteTools(result)
		l.tell(it, resultLine(it.ID, result))
	}
	return ok
}

// answerHung answers from memory what a server was asked before it was found to hang.
func (l *Session) answerHung(lk *link) {
	for _, it := range l.unanswered() {
		l.mu.Lock()
		asked := it.link == lk
		l.mu.Unlock()
		if asked {
			l.listFromCache(it)
		}
	}
}

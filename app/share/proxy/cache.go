package proxy

import (
	"bytes"
	"maps"

	"lamplighter/app/share/wire"
)

// under is what the answer to a request depends on, besides the server; "" when it is not
// kept.
func (s *Session) under(it *item) string {
	switch {
	case it.Method == "initialize":
		return cacheKey(it.Params)
	case it.Method == "tools/list" && isFirstPage(it.Params):
		return cacheKey(wire.Split(s.initializeLine).Params)
	}
	return ""
}

// fromCache answers a request without a server, if its answer is known.
func (s *Session) fromCache(it *item) (ok bool) {
	var result []byte
	if under := s.under(it); under != "" {
		s.outside(func() { result, ok = s.o.Servers.Cached(it.Method, under) }) // looks at files
	}
	switch {
	case !ok:
		return false
	case it.Method == "initialize":
		s.initializeLine = bytes.Clone(it.line)
	default:
		s.noteTools(result)
	}
	s.tell(it, resultLine(it.ID, result))
	return true
}

// learn keeps the result of a request that may be answered without a server later.
func (s *Session) learn(it *item, result []byte) {
	under := s.under(it)
	if under == "" {
		return
	}
	if page, ok := readMembers(result); !ok || page.NextCursor != nil {
		return
	}
	if it.Method == "tools/list" {
		s.noteTools(result)
	}
	s.o.Servers.Store(it.Method, under, result)
}

// answerKnown answers from memory what a server was asked before it was found to hang, or has
// ended, and has the rest told that it waits.
func (s *Session) answerKnown(lk *link) {
	for it := range maps.Clone(s.sent) {
		if it.link == lk && !it.told && !s.fromCache(it) && !it.told {
			it.overdue.Reset(0)
		}
	}
}

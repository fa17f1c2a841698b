package proxy

import (
	"encoding/json"
	"fmt"

	"lamplighter/app/share/wire"
)

// listFromCache answers a tools/list without a server.
func (l *Session) listFromCache(it *item) bool {
	l.mu.Lock()
	under, params := l.under, it.Params
	l.mu.Unlock()
	if it.Method != "tools/list" || under == "" || !plainList(params) {
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

// unanswered are the requests whose fate was not told.
func (l *Session) unanswered() (list []*item) {
	l.mu.Lock()
	defer l.mu.Unlock()
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

// Progress tells the client why its requests wait, where it has asked for that.
func (l *Session) Progress(text string) {
	for _, it := range l.unanswered() {
		l.write(func() error {
			l.mu.Lock()
			it.progress += progressStep
			line := progressLine(it.Message, it.progress, text)
			possible := line != nil && it.accepted && !it.told && !l.ending
			l.mu.Unlock()
			if !possible {
				return nil
			}
			return l.o.Out.Deliver(it.seq, false, line)
		})
	}
}

// progressLine is the notification of progress for a request, nil when nobody has
// asked for it.
func progressLine(request wire.Message, progress float64, text string) []byte {
	var p struct {
		Meta struct {
			Token json.RawMessage `json:"progressToken"`
		} `json:"_meta"`
	}
	if json.Unmarshal(request.Params, &p) != nil || len(p.Meta.Token) == 0 || string(p.Meta.Token) == "null" {
		return nil
	}
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":%.3f,"message":%q}}`, p.Meta.Token, progress, text)
}

package proxy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"lamplighter/app/share/wire"
)

// stage is how far a line has come.
type stage byte

const (
	queued stage = iota // waits for its turn, or for a server
	sent                // the server has it, or part of it
)

// item is one line of the client.
type item struct {
	wire.Message
	seq   uint64
	line  []byte
	key   string    // of its id; see idKey
	taken time.Time // when it came

	cancels *item // the request that this cancels; nil for none

	activates bool // it may change the project of the client; see Session.activate

	accepted bool // guarded by Session.out

	// guarded by Session.mu, as line and Params once it was taken
	size      int // that Session.held has of it
	stage     stage
	link      *link // that it was sent on
	tries     int
	told      bool // its fate has been told, or is being told
	cancelled time.Time
	wanted    bool    // the server works on it, and the client waits for it; see Session.wanted
	answered  bool    // the server has answered it, whether anybody wanted that or not
	progress  float64 // that Session.Progress has shown
	abort     func()  // ends its call; nil before it was sent
	ended     func()  // of Servers.Began; nil before it needed the server
}

// overdueAfter is how long a request waits for the server before it is accepted
// all the same: a shim gives up what is not accepted for 60 s, and must not do so
// for what is carried out later.
const overdueAfter = 20 * time.Second

// Take takes a line of the client, with the number that the shim gave it, in the
// order of the client. The line belongs to the session from then on. It blocks only
// while too much waits.
func (l *Session) Take(seq uint64, line []byte) {
	it := &item{Message: wire.Split(line), seq: seq, line: line}
	switch {
	case it.Kind == wire.Garbage && json.Valid(line):
		l.answerHere(it, wire.ErrorLine(nil, wire.CodeInvalid, "this is no request, notification or answer of JSON-RPC 2.0"))
	case it.Kind == wire.Garbage, it.Kind == wire.Request && !json.Valid(it.ID): // no answer could hold that id
		l.answerHere(it, wire.ErrorLine(nil, wire.CodeParse, "this line is not JSON"))
	case it.Kind == wire.Batch:
		l.answerHere(it, wire.ErrorLine(nil, wire.CodeInvalid, "a batch is not taken: send each message on a line of its own"))
	case it.Kind == wire.Request && it.Method == "ping":
		l.answerHere(it, resultLine(it.ID, []byte("{}")))
	case it.Kind == wire.Request && it.Method == "server/discover":
		l.answerHere(it, undiscovered(it.ID))
	case it.Kind == wire.Request:
		l.takeRequest(it)
	case it.Kind == wire.Response && l.o.Root != nil && idKey(it.ID) == rootsID:
		l.takeRoots(it)
	case it.Kind == wire.Response:
		l.enqueue(it, true)
	case it.Method == "notifications/cancelled":
		l.takeCancellation(it)
	default:
		l.enqueue(it, false)
	}
}

// undiscovered answers server/discover, which clients of the protocol 2026-07-28 ask
// first; they begin with initialize when it is unknown. Serena would accept it over
// stdio and then have no MCP session.
func undiscovered(id []byte) []byte {
	return wire.ErrorLine(id, wire.CodeMethodNotFound, "server/discover is not supported: begin with initialize")
}

// TakeLong takes the beginning of a line that is longer than wire.MaxLine.
func (l *Session) TakeLong(seq uint64, head []byte) {
	id, kind := readHead(head)
	text := fmt.Sprintf("this message is longer than the limit of %d MiB, and was not passed on", wire.MaxLine>>20)
	if kind == wire.Response { // then the server waits for it
		line := wire.ErrorLine(id, wire.CodeInternal, text)
		it := &item{Message: wire.Split(line), seq: seq, line: line}
		if l.accept(it) { // nothing answers it, which the shim cannot tell from its beginning
			l.write(func() error { return l.o.Out.Settle(seq) })
			l.enqueue(it, true)
		}
		return
	}
	if id != nil {
		l.mu.Lock()
		twice := l.pending[idKey(id)] != nil
		l.mu.Unlock()
		if twice { // the client would take it for the answer to the other one
			id = nil
		}
	}
	l.answerHere(&item{seq: seq}, wire.ErrorLine(id, wire.CodeInvalid, text))
}

// answerHere answers what no server is needed for.
func (l *Session) answerHere(it *item, answer []byte) {
	l.write(func() error {
		if err := l.o.Out.Accept(it.seq); err != nil {
			return err
		}
		return l.o.Out.Deliver(it.seq, true, answer)
	})
}

func (l *Session) takeRequest(it *item) {
	it.key = idKey(it.ID)
	it.activates = l.o.Plan != nil && activates(it.Message)
	l.mu.Lock()
	twice := l.pending[it.key] != nil
	if !twice && !l.ending {
		l.pending[it.key] = it
		l.open++
	}
	l.mu.Unlock()
	if twice {
		l.answerHere(it, wire.ErrorLine(it.ID, wire.CodeInvalid, "a request with this id is in flight"))
		return
	}
	l.enqueue(it, false)
}

// takeCancellation settles what was not sent yet, and lets the rest overtake.
func (l *Session) takeCancellation(it *item) {
	it.key = cancelledKey(it.Params)
	l.mu.Lock()
	r := l.pending[it.key]
	running := r != nil && r.stage == sent && !r.told
	l.mu.Unlock()
	it.cancels = r
	if running {
		l.enqueue(it, true)
		return
	}
	l.accept(it)
	if r != nil && !l.cancelHere(r) { // it was sent just now
		l.enqueue(it, true)
	}
}

// cancelHere settles a request that was not sent yet. It is false when it has
// been sent, and its fate is not told.
func (l *Session) cancelHere(r *item) bool {
	l.mu.Lock()
	if r.stage == sent || r.told {
		defer l.mu.Unlock()
		return r.told
	}
	r.told = true
	l.forgetLocked(r)
	l.mu.Unlock()
	l.accept(r)
	l.write(func() error { return l.o.Out.Settle(r.seq) })
	l.closed()
	return true
}

// enqueue hands a line to the pump, and waits while too much is held.
func (l *Session) enqueue(it *item, overtakes bool) {
	it.taken = time.Now()
	it.size = len(it.line) + perLine
	l.mu.Lock()
	defer l.mu.Unlock()
	limit := l.o.Limits.Held
	if overtakes { // the server may wait for it before it answers anything else
		limit *= 2
	}
	for l.held > 0 && l.held+it.size > limit && !l.ending {
		l.changed.Wait()
	}
	if l.ending {
		return
	}
	l.held += it.size
	if overtakes {
		l.urgent = append(l.urgent, it)
	} else {
		l.queue = append(l.queue, it)
	}
	if it.Kind == wire.Request && l.overdue == nil {
		l.overdue = time.AfterFunc(overdueAfter, l.acceptOverdue)
	}
	l.changed.Broadcast()
}

// done lets go of what enqueue counted.
func (l *Session) done(it *item) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held -= it.size
	it.size, it.line, it.Params, it.Result, it.Error = 0, nil, nil, nil, nil
	l.changed.Broadcast()
}

// acceptOverdue accepts the requests that have waited for long.
func (l *Session) acceptOverdue() {
	now := time.Now()
	l.mu.Lock()
	l.overdue = nil
	var old []*item
	next := time.Duration(0)
	for _, it := range append(slices.Clone(l.queue), l.current) {
		if it == nil || it.Kind != wire.Request || it.told {
			continue
		}
		if wait := overdueAfter - now.Sub(it.taken); wait <= 0 {
			old = append(old, it)
		} else if next == 0 || wait < next {
			next = wait
		}
	}
	if next > 0 && !l.ending {
		l.overdue = time.AfterFunc(next, l.acceptOverdue)
	}
	l.mu.Unlock()
	for _, it := range old {
		l.accept(it)
	}
}

// accept tells the client that a line is being worked on, once. When it is false
// nothing may be done with the line: the next process gets it again.
func (l *Session) accept(it *item) bool {
	return l.write(func() error {
		if it.accepted {
			return nil
		}
		it.accepted = true
		if it.activates { // if we die now, nobody knows what came of it
			if err := l.o.Out.Moved(""); err != nil {
				return err
			}
		}
		return l.o.Out.Accept(it.seq)
	})
}

// tell answers a request, unless its fate was told before.
func (l *Session) tell(it *item, line []byte) {
	l.mu.Lock()
	if it.told {
		l.mu.Unlock()
		return
	}
	it.told = true
	l.unwantLocked(it)
	l.forgetLocked(it)
	l.mu.Unlock()
	l.write(func() error {
		if err := l.o.Out.Deliver(it.seq, true, line); err != nil || !it.activates {
			return err
		}
		return l.o.Out.Moved(l.knownProject())
	})
	l.closed()
}

// fail answers a request with an error.
func (l *Session) fail(it *item, code int, text string) {
	l.accept(it)
	l.tell(it, wire.ErrorLine(it.ID, code, text))
}

// closed counts a request whose fate has been told.
func (l *Session) closed() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open--
	l.checkDrainedLocked()
	l.changed.Broadcast()
}

// unwantLocked makes room for another request when nobody waits for this one any
// more.
func (l *Session) unwantLocked(it *item) {
	if it.wanted {
		it.wanted = false
		l.wanted--
		l.changed.Broadcast()
	}
}

// forgetLocked makes the id of a request free again.
func (l *Session) forgetLocked(it *item) {
	if l.pending[it.key] == it {
		delete(l.pending, it.key)
	}
}

// resultLine is the answer with a result.
func resultLine(id, result []byte) []byte {
	line := append([]byte(`{"jsonrpc":"2.0","id":`), id...)
	line = append(line, `,"result":`...)
	line = append(line, result...)
	return append(line, '}')
}

// idKey makes ids equal that a server may take for the same: Serena finds the
// stream of a request by str(id), so that 1 and "1" in flight get each other's
// answers (mcp/server/streamable_http.py of the Python SDK).
func idKey(id []byte) string {
	if len(id) == 0 || id[0] != '"' {
		return numberKey(string(id))
	}
	if !bytes.ContainsRune(id, '\\') {
		return string(id[1 : len(id)-1])
	}
	var text string
	if json.Unmarshal(id, &text) != nil {
		return string(id)
	}
	return text
}

// numberKey makes 1.0 and 1e0 the same as 1. What is too large for that stays as
// it is written.
func numberKey(number string) string {
	if number == "-0" {
		return "0"
	}
	if !strings.ContainsAny(number, ".eE") {
		return number
	}
	var f float64
	if json.Unmarshal([]byte(number), &f) != nil || f != float64(int64(f)) || f > 1<<53 || f < -1<<53 {
		return number
	}
	return fmt.Sprint(int64(f))
}

// cancelledKey is the key of the request that notifications/cancelled is about, ""
// when it names none.
func cancelledKey(params []byte) string {
	var p struct {
		RequestID json.RawMessage `json:"requestId"`
	}
	if json.Unmarshal(params, &p) != nil {
		return ""
	}
	return idKey(p.RequestID)
}

// cancellation is the notification that cancels a request.
func cancellation(id []byte, reason string) []byte {
	line := append([]byte(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":`), id...)
	return fmt.Appendf(line, `,"reason":%q}}`, reason)
}

// readHead reads the beginning of a message: its id, nil when that is not in
// there, and whether it is a wire.Response.
func readHead(head []byte) (id []byte, kind wire.Kind) {
	d := json.NewDecoder(bytes.NewReader(head))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, wire.Garbage
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			break
		}
		switch name {
		case "method":
			kind = wire.Request
		case "result", "error":
			kind = wire.Response
		}
		var value json.RawMessage
		if d.Decode(&value) != nil {
			break
		}
		if name == "id" && (value[0] == '"' || value[0] == '-' || value[0] >= '0' && value[0] <= '9') {
			id = value
		}
	}
	if id == nil {
		kind = wire.Garbage
	}
	return id, kind
}

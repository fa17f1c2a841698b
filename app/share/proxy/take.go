package proxy

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"lamplighter/app/share/wire"
)

// item is one line of the client.
type item struct {
	wire.Message
	seq  uint64
	line []byte

	// activates says that it may change the project of the client, see Session.activate.
	// leaves is the one that the client has with the answer, "" for none.
	activates bool
	leaves    string

	accepted, answerWritten bool // guarded by Session.out

	size     int   // that Session.held has of it
	link     *link // that it was, or is to be, sent on; nil while it waits for the server behind what is before it
	tries    int
	told     bool        // its fate has been told, or is being told
	progress float64     // that tellHang has shown
	overdue  *time.Timer // see Session.waitsLong
	abort    func()      // ends its call; nil before it was sent
}

// overdueAfter is how long a request waits for the server before it is accepted
// all the same: a shim gives up what is not accepted for 60 s, and must not do so
// for what is carried out later.
const overdueAfter = 20 * time.Second

// progressEvery is how often one that waits for a server that hangs is told so, from then on.
const progressEvery = 15 * time.Second

// Take takes a line of the client, with the number that the shim gave it, in the
// order of the client. The line belongs to the session from then on. It blocks only
// while too much waits.
func (s *Session) Take(seq uint64, line []byte) {
	s.take(&item{Message: wire.Split(line), seq: seq, line: line})
}

func (s *Session) take(it *item) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case it.Kind == wire.Garbage && json.Valid(it.line):
		s.tell(it, wire.ErrorLine(nil, wire.CodeInvalid, "this is no request, notification or answer of JSON-RPC 2.0"))
	case it.Kind == wire.Garbage, it.Kind == wire.Request && !json.Valid(it.ID): // no answer could hold that id
		s.tell(it, wire.ErrorLine(nil, wire.CodeParse, "this line is not JSON"))
	case it.Kind == wire.Batch:
		s.tell(it, wire.ErrorLine(nil, wire.CodeInvalid, "a batch is not taken: send each message on a line of its own"))
	case it.Kind == wire.Request && it.Method == "ping":
		s.tell(it, resultLine(it.ID, []byte("{}")))
	case it.Kind == wire.Request && it.Method == "server/discover":
		s.tell(it, undiscovered(it.ID))
	case it.Kind == wire.Request:
		s.takeRequest(it)
	case it.Kind == wire.Response:
		s.takeResponse(it)
	case it.Method == "notifications/cancelled":
		s.takeCancellation(it)
	default:
		s.enqueue(it)
	}
}

// undiscovered answers server/discover, which clients of the protocol 2026-07-28 ask
// first; they begin with initialize when it is unknown. Serena would accept it over
// stdio and then have no MCP session.
func undiscovered(id []byte) []byte {
	return wire.ErrorLine(id, wire.CodeMethodNotFound, "server/discover is not supported: begin with initialize")
}

// TakeLong takes the beginning of a line that is longer than wire.MaxLine.
func (s *Session) TakeLong(seq uint64, head []byte) {
	id := wire.Split(head).ID // unless it stands behind the beginning
	s.mu.Lock()
	defer s.mu.Unlock()
	if !json.Valid(id) || s.pending[idKey(id)] != nil { // the client would take it for the answer to the other one
		id = nil
	}
	text := fmt.Sprintf("this message is longer than the limit of %d MiB, and was not passed on", wire.MaxLine>>20)
	s.tell(&item{seq: seq}, wire.ErrorLine(id, wire.CodeInvalid, text))
}

func (s *Session) takeRequest(it *item) {
	key := idKey(it.ID)
	if s.pending[key] != nil {
		s.fail(it, wire.CodeInvalid, "a request with this id is in flight")
		return
	}
	it.activates = s.o.Plan != nil && activates(it.Message)
	s.pending[key] = it
	s.enqueue(it)
}

// takeResponse passes on the client's answer to who has asked it.
func (s *Session) takeResponse(it *item) {
	key := idKey(it.ID)
	asked := s.asked[key]
	delete(s.asked, key)
	if asked.roots != nil {
		asked.roots <- it.Result
	}
	s.overtake(it, asked.link)
}

// takeCancellation settles a request. Its server hears of it if it was sent; it keeps the
// id until the server lets go of it then: Serena runs it to its end.
func (s *Session) takeCancellation(it *item) {
	cancelled, _ := readMembers(it.Params)
	r := s.pending[idKey(cancelled.RequestID)]
	if r == nil || r.told {
		s.overtake(it, nil)
		return
	}
	lk := r.link
	if lk != nil {
		s.o.Servers.Lingering(unseen)
		time.AfterFunc(unseen, r.abort) // which does nothing when it has ended
	}
	s.tell(r, nil)
	s.overtake(it, lk)
}

// overtake has a line passed on before all that waits: the server may wait for it before
// it answers anything else. Without a link nobody waits for it.
func (s *Session) overtake(it *item, lk *link) {
	if lk == nil {
		s.accept(it)
		return
	}
	it.link = lk
	s.enqueue(it)
}

// enqueue hands a line to the pump, and waits while too much is held.
func (s *Session) enqueue(it *item) {
	it.size = len(it.line) + perLine
	limit := s.o.Limits.Held
	if it.link != nil { // it overtakes
		limit *= 2
	}
	for s.held > 0 && s.held+it.size > limit && !s.isOver() {
		s.changed.Wait()
	}
	if s.isOver() {
		return
	}
	s.held += it.size
	if it.Kind == wire.Request {
		it.overdue = time.AfterFunc(overdueAfter, func() { s.waitsLong(it) })
	}
	s.lineUp(it)
}

// lineUp gives a line its place in the queue: in the order of the client, but behind
// those alone that overtake if it does so.
func (s *Session) lineUp(it *item) {
	at := len(s.queue)
	for at > 0 && s.queue[at-1].link == nil && (it.link != nil || s.queue[at-1].seq > it.seq) {
		at--
	}
	s.queue = slices.Insert(s.queue, at, it)
	s.changed.Broadcast()
}

// done lets go of what enqueue counted.
func (s *Session) done(it *item) {
	if it.overdue != nil {
		it.overdue.Stop()
	}
	s.held -= it.size
	it.size, it.line, it.Params, it.Result, it.Error = 0, nil, nil, nil, nil
	s.changed.Broadcast()
}

// waitsLong accepts a request that has waited for long, or whose server is shut, and from
// then on tells again and again that it waits whenever that hangs.
func (s *Session) waitsLong(it *item) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if it.told || s.isOver() {
		return
	}
	s.accept(it)
	s.tellHang(it)
	if !it.told && !s.isOver() {
		it.overdue.Reset(progressEvery)
	}
}

// accept tells the client that a line is being worked on, once. When it is false
// nothing may be done with the line: the next process gets it again.
func (s *Session) accept(it *item) bool {
	return s.write(func() error {
		if it.accepted {
			return nil
		}
		it.accepted = true
		if it.activates { // if we die now, nobody knows what came of it
			if err := s.o.Out.Moved(""); err != nil {
				return err
			}
		}
		return s.o.Out.Accept(it.seq)
	})
}

// tell tells the fate of a request, unless it was told before: its answer, nil when
// it was cancelled. Then it keeps its id while the server works on it.
func (s *Session) tell(it *item, answer []byte) {
	if it.told {
		return
	}
	it.told = true
	if it.leaves != "" {
		s.project = it.leaves
	}
	if answer != nil || it.link == nil {
		s.forget(it)
	}
	s.changed.Broadcast() // there is room for another one
	s.accept(it)
	s.write(func() error {
		it.answerWritten = true
		if err := s.o.Out.Deliver(it.seq, true, answer); err != nil || !it.activates {
			return err
		}
		return s.o.Out.Moved(s.knownProject())
	})
}

// fail answers a request with an error.
func (s *Session) fail(it *item, code int, text string) {
	s.tell(it, wire.ErrorLine(it.ID, code, text))
}

// forget makes the id of a request free again.
func (s *Session) forget(it *item) {
	if key := idKey(it.ID); s.pending[key] == it {
		delete(s.pending, key)
	}
}

// resultLine is the answer with a result.
func resultLine(id, result []byte) []byte {
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":%s}`, id, result)
}

// idKey makes ids equal that a server may take for the same: Serena finds the
// stream of a request by str(id), so that 1 and "1" in flight get each other's
// answers (mcp/server/streamable_http.py of the Python SDK).
func idKey(id []byte) string {
	var value any
	_ = json.Unmarshal(id, &value) // what cannot be read stays as it is written
	switch value := value.(type) {
	case string:
		return value
	case float64: // 1.0 is 1; a larger number may not be the one that was written
		if value == math.Trunc(value) && math.Abs(value) < 1<<53 {
			return strconv.FormatInt(int64(value), 10)
		}
	}
	return string(id)
}

// cancellation is the notification that cancels a request.
func cancellation(id []byte, reason string) []byte {
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s,"reason":%q}}`, id, reason)
}

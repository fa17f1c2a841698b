package main

import (
	"bytes"
	"slices"
	"time"

	"lamplighter/app/share/wire"
)

// book knows the fate of each line of the client. It does nothing itself.
//
// A line waits until the background process accepts it, and is then open until
// it is answered, if something has to answer it.
type book struct {
	seq      uint64            // of the last line
	waiting  []entry           // in the client's order
	sent     int               // how many of waiting were written to the present connection
	size     int               // of waiting, in bytes
	open     map[uint64][]byte // ids of the accepted requests without an answer
	accepted uint64            // the greatest number that was accepted
	lost     uint64            // the greatest number that was accepted on an earlier connection, or has expired
	expired  map[uint64]bool   // those that were sent on the present connection, have expired, and may be accepted still
	printing int               // what was taken out of the book is being printed
	freed    int               // bytes of what does not wait any more, since this was set to 0
	writing  uint64            // the line that is being written, 0 for none
	written  []byte            // its frame, when it has arrived meanwhile
	used     used

	// What a next background process has to know.
	initialize  []byte // the client's, when it was answered with a result
	initialized []byte // its notifications/initialized, when that was accepted
	asked       []byte // its initialize without an answer
	askedAs     uint64 // the number of that
}

// entry is a line that waits.
type entry struct {
	seq   uint64
	frame []byte // with its header
	since time.Time
	kind  need
}

// need says whether a line that waits has to be answered.
type need byte

const (
	unknown need = iota
	answer
	nothing
)

// whyLost is the error of a request that was accepted by a background process which
// died before the answer.
const whyLost = "lamplighter ended while the server worked on this; it may have been carried out"

// add gives a line its number. The frame has room for its header at its
// beginning.
func (b *book) add(t wire.Type, frame []byte, now time.Time) {
	b.seq++
	wire.AppendHeader(frame[:0], wire.Header{Type: t, Seq: b.seq, Length: len(frame) - wire.HeaderLength})
	b.waiting = append(b.waiting, entry{seq: b.seq, frame: frame, since: now})
	b.size += len(frame)
}

// next is the next frame for the present connection, nil when there is none. The
// one before is written.
func (b *book) next() []byte {
	if b.written != nil {
		b.used.put(b.written)
	}
	b.writing, b.written = 0, nil
	if b.sent == len(b.waiting) {
		return nil
	}
	e := b.waiting[b.sent]
	b.sent++
	b.writing = e.seq
	return e.frame
}

// accept takes note that the background process answers for a line from now on.
// It is false when that line was not sent.
func (b *book) accept(seq uint64) bool {
	if b.expired[seq] {
		delete(b.expired, seq)
		return true
	}
	for i := range b.waiting[:b.sent] {
		if e := &b.waiting[i]; e.seq == seq {
			b.began(seq, e.message(), e.frame[wire.HeaderLength:])
		}
	}
	return b.arrived(seq)
}

// began takes note of a line that the background process works on.
func (b *book) began(seq uint64, m wire.Message, line []byte) {
	if m.Kind.NeedsAnswer() {
		if b.open == nil {
			b.open = map[uint64][]byte{}
		}
		b.open[seq] = append(b.used.take(len(m.ID)), m.ID...)
	}
	switch {
	case len(line) > wire.MaxBegin:
	case m.Method == "initialize":
		b.asked, b.askedAs, b.initialized = bytes.Clone(line), seq, nil
	case m.Method == "notifications/initialized":
		b.initialized = bytes.Clone(line)
	}
}

// answered takes note of the answer to a line.
func (b *book) answered(seq uint64, answer []byte) {
	if b.asked != nil && seq == b.askedAs {
		if wire.Split(answer).Result != nil {
			b.initialize = b.asked
		}
		b.asked = nil
	}
}

// arrived takes a line that was sent from those that wait.
func (b *book) arrived(seq uint64) bool {
	for i := range b.waiting[:b.sent] {
		if b.waiting[i].seq == seq {
			b.sent--
			if seq == b.writing {
				b.written = b.waiting[i].frame
			} else {
				b.used.put(b.waiting[i].frame)
			}
			b.remove(i)
			b.accepted = max(b.accepted, seq)
			return true
		}
	}
	return false
}

// remove takes out one that waits. The memory of the list stays for the next.
func (b *book) remove(i int) {
	b.size -= len(b.waiting[i].frame)
	b.freed += len(b.waiting[i].frame)
	if i == 0 && len(b.waiting) > 1 {
		b.waiting[0] = entry{}
		b.waiting = b.waiting[1:] // to move all of many would take too long
	} else {
		b.waiting = slices.Delete(b.waiting, i, i+1)
	}
}

// settle takes note that a line is answered, or will not be, and tells whether
// an answer may be printed. It may not when that line has its answer already,
// an error, because an earlier background process died.
func (b *book) settle(seq uint64) bool {
	if seq == 0 {
		return true
	}
	if b.expired[seq] {
		return false
	}
	if id, ok := b.open[seq]; ok {
		b.used.put(id)
		delete(b.open, seq)
		return true
	}
	return b.arrived(seq) || seq > b.lost && seq <= b.accepted
}

// disconnected returns what answers the open lines, now that nobody else will.
// What waits is sent again.
func (b *book) disconnected() [][]byte {
	var lines [][]byte
	for _, seq := range b.opened() {
		lines = append(lines, wire.ErrorLine(b.open[seq], wire.CodeInternal, whyLost))
	}
	b.open, b.expired = nil, nil
	b.sent, b.lost = 0, max(b.lost, b.accepted)
	return lines
}

func (b *book) opened() []uint64 {
	var all []uint64
	for seq := range b.open {
		all = append(all, seq)
	}
	slices.Sort(all)
	return all
}

// expire takes out the requests that have waited since then or longer, and
// returns their answers, others for those that were sent on the present
// connection. Lines that are no requests may wait, such as that the client is
// initialized: without them the rest of the conversation means something else.
func (b *book) expire(then time.Time, why, whySent string) [][]byte {
	var lines [][]byte
	for i := 0; i < len(b.waiting); i++ {
		e := &b.waiting[i]
		if e.since.After(then) {
			break
		}
		if e.needs() != answer {
			continue
		}
		text := why
		if i < b.sent {
			text = whySent
			b.sent--
			if b.expired == nil {
				b.expired = map[uint64]bool{}
			}
			b.expired[e.seq] = true
			if e.seq == b.writing {
				b.written = e.frame
			}
		}
		lines = append(lines, wire.ErrorLine(e.message().ID, wire.CodeUnavailable, text))
		b.lost = max(b.lost, e.seq)
		b.remove(i)
		i--
	}
	return lines
}

// giveUp answers everything, since nothing will be sent any more.
func (b *book) giveUp(why string) [][]byte {
	lines := b.disconnected()
	for i := range b.waiting {
		if b.waiting[i].needs() == answer {
			lines = append(lines, wire.ErrorLine(b.waiting[i].message().ID, wire.CodeUnavailable, why))
		}
	}
	b.waiting, b.size = nil, 0
	return lines
}

// needs reads the line, once.
func (e *entry) needs() need {
	if e.kind == unknown {
		e.kind = nothing
		if e.message().Kind.NeedsAnswer() {
			e.kind = answer
		}
	}
	return e.kind
}

// message is the line, garbage for one that is too long: its id may stand behind its
// beginning.
func (e *entry) message() wire.Message {
	if wire.Type(e.frame[0]) == wire.Long {
		return wire.Message{}
	}
	return wire.Split(e.frame[wire.HeaderLength:])
}

// isDone reports whether nothing is to come when the client sends nothing more.
// While there is no connection, only what has to be answered counts.
func (b *book) isDone(connected bool) bool {
	if b.printing > 0 || len(b.open) > 0 {
		return false
	}
	if connected {
		return len(b.waiting) == 0
	}
	for i := range b.waiting {
		if b.waiting[i].needs() == answer {
			return false
		}
	}
	return true
}

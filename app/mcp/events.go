package mcp

import (
	"bytes"
	"errors"
	"io"
	"sync"

	"lamplighter/app/share/wire"
)

const byteOrderMark = "\xef\xbb\xbf"

// Message is the type of an event that names none.
const Message = "message"

// events takes an event stream apart, as "Server-sent events" of the HTML
// standard has it, piece by piece wherever it was cut. Of each event only its type
// and the data are used: comments, ids and times to wait are not.
type events struct {
	limit  int // of a message
	part   linePart
	name   []byte // of the field, as far as it is read
	kind   []byte // of the event
	data   []byte
	filled bool // the event has data
	begun  bool // a line has been read, so that no mark of the byte order can come
	cr     bool // the last byte was \r, with which a \n may belong
}

// linePart is where in a line we are.
type linePart byte

const (
	inName  linePart = iota
	toValue          // behind the colon; one space is not part of the value
	inValue
)

// longName is longer than the names that matter.
const longName = 16

// feed takes the next piece, and gives each event that is complete to each. A
// piece is not kept.
func (e *events) feed(piece []byte, each func(kind string, data []byte)) error {
	for len(piece) > 0 {
		if e.cr {
			e.cr = false
			if piece[0] == '\n' {
				piece = piece[1:]
				continue
			}
		}
		end := bytes.IndexByte(piece, '\n')
		line := piece
		if end >= 0 {
			line = piece[:end]
		}
		if cr := bytes.IndexByte(line, '\r'); cr >= 0 {
			end = cr
			line = piece[:cr]
			e.cr = true
		}
		if err := e.take(line); err != nil {
			return err
		}
		if end < 0 {
			return nil
		}
		if err := e.endLine(each); err != nil {
			return err
		}
		piece = piece[end+1:]
	}
	return nil
}

// take takes a part of a line.
func (e *events) take(text []byte) error {
	if e.part == inName {
		colon := bytes.IndexByte(text, ':')
		name := text
		if colon >= 0 {
			name = text[:colon]
		}
		if room := longName - len(e.name); len(name) > room {
			name = name[:room]
		}
		e.name = append(e.name, name...)
		if colon < 0 {
			return nil
		}
		if err := e.named(); err != nil {
			return err
		}
		text = text[colon+1:]
		e.part = toValue
	}
	if len(text) == 0 {
		return nil
	}
	if e.part == toValue {
		e.part = inValue
		if text[0] == ' ' {
			text = text[1:]
		}
	}
	switch string(e.name) {
	case "data":
		if len(e.data)+len(text) > e.limit {
			return errTooLong
		}
		e.data = grow(e.data, len(text))
		e.data = append(e.data, text...)
	case "event":
		e.kind = append(e.kind, text[:min(len(text), longName-len(e.kind))]...)
	}
	return nil
}

// grow makes room for n more bytes. It doubles, as append does not for long
// slices, so that a long line is not copied often.
func grow(b []byte, n int) []byte {
	if len(b)+n <= cap(b) {
		return b
	}
	if len(b) == 0 {
		return make([]byte, 0, n)
	}
	return append(make([]byte, 0, max(min(2*len(b), wire.MaxLine), len(b)+n)), b...)
}

// named is called when the name of the field is complete.
func (e *events) named() error {
	if !e.begun {
		e.begun = true
		e.name = bytes.TrimPrefix(e.name, []byte(byteOrderMark))
	}
	switch string(e.name) {
	case "data":
		if e.filled {
			// Data on several lines is joined with an end of a line, which is
			// white space in JSON. The message has to be one line.
			if len(e.data) >= e.limit {
				return errTooLong
			}
			e.data = append(e.data, ' ')
		}
		e.filled = true
	case "event":
		e.kind = e.kind[:0]
	}
	return nil
}

func (e *events) endLine(each func(kind string, data []byte)) error {
	if e.part == inName {
		if err := e.named(); err != nil { // a line without a colon is a field without a value
			return err
		}
	}
	blank := e.part == inName && len(e.name) == 0
	e.part = inName
	e.name = e.name[:0]
	if !blank {
		return nil
	}
	data, kind := e.data, Message
	if len(e.kind) > 0 && string(e.kind) != Message {
		kind = string(e.kind)
	}
	e.data, e.kind, e.filled = nil, e.kind[:0], false
	// Empty data only tells an id.
	if len(bytes.TrimLeft(data, " \t")) > 0 {
		each(kind, data)
	}
	return nil
}

// readMessages is ReadEvents for messages of MCP, which no other type of event is.
func readMessages(r io.Reader, each func(line []byte)) error {
	return ReadEvents(r, func(kind string, data []byte) {
		if kind == Message {
			each(data)
		}
	})
}

// pieces are what streams are read into. An open stream holds one all the time.
var pieces = sync.Pool{New: func() any { return new([8 << 10]byte) }}

// longPiece is what is read at a time while a message is long.
const longPiece = 64 << 10

// ReadEvents reads an event stream to its end and gives each event that has data
// to each, the data as one line that is each's to keep. An event that the stream
// ends in does not count, as the standard has it.
func ReadEvents(r io.Reader, each func(kind string, data []byte)) error {
	small := pieces.Get().(*[8 << 10]byte)
	defer pieces.Put(small)
	e := events{limit: wire.MaxLine}
	for piece := small[:]; ; {
		n, err := r.Read(piece)
		if err := e.feed(piece[:n], each); err != nil {
			return err
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if long := len(e.data) >= longPiece; long != (len(piece) == longPiece) {
			piece = small[:]
			if long {
				piece = make([]byte, longPiece)
			}
		}
	}
}

package mcp

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"sync"

	"lamplighter/app/share/wire"
)

const byteOrderMark = "\xef\xbb\xbf"

// Message is the type of an event that names none.
const Message = "message"

// readers read streams. An open stream holds one all the time.
var readers = sync.Pool{New: func() any { return bufio.NewReaderSize(nil, 8<<10) }}

// ReadEvents reads an event stream to its end and gives each event that has data
// to each, the data as one line that is each's to keep. An event that the stream
// ends in does not count, as the standard has it.
func ReadEvents(r io.Reader, each func(kind string, data []byte)) error {
	reader := readers.Get().(*bufio.Reader)
	defer func() {
		reader.Reset(nil)
		readers.Put(reader)
	}()
	reader.Reset(r)
	return readEvents(reader, wire.MaxLine, each)
}

// readMessages is ReadEvents for messages of MCP, which no other type of event is.
func readMessages(r io.Reader, each func(line []byte)) error {
	return ReadEvents(r, func(kind string, data []byte) {
		if kind == Message {
			each(data)
		}
	})
}

// readEvents is ReadEvents for messages of up to limit bytes.
func readEvents(reader *bufio.Reader, limit int, each func(kind string, data []byte)) error {
	if mark, _ := reader.Peek(len(byteOrderMark)); string(mark) == byteOrderMark {
		_, _ = reader.Discard(len(mark)) // it is there
	}
	for e := (events{limit: limit}); ; {
		piece, err := reader.ReadSlice('\n')
		long := errors.Is(err, bufio.ErrBufferFull)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil && !long {
			return err
		}
		if err := e.take(piece, !long, each); err != nil {
			return err
		}
	}
}

// events takes an event stream apart, as "Server-sent events" of the HTML standard has
// it, except that no line ends with \r alone. Of each event only its type and the data
// are used: comments, ids and times to wait are not.
type events struct {
	limit  int    // of a message
	within bool   // a line, of which the beginning was taken
	isData bool   // and it is one of data
	kind   string // of the event
	data   bytes.Buffer
}

// take takes a piece of a line, the last one when it ends the line. A piece is not kept.
func (e *events) take(piece []byte, ends bool, each func(kind string, data []byte)) error {
	if ends {
		piece = bytes.TrimRight(piece, "\r\n")
	}
	if !e.within {
		if ends && len(piece) == 0 {
			e.end(each)
			return nil
		}
		name, value, _ := bytes.Cut(piece, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(name) {
		case "data":
			e.isData = true
			if e.data.Len() > 0 {
				e.data.WriteByte('\n')
			}
		case "event":
			e.kind = string(value)
		}
		piece = value
	}
	if e.isData {
		if e.data.Len()+len(piece) > e.limit {
			return errTooLong
		}
		e.data.Write(piece)
	}
	e.within = !ends
	e.isData = e.isData && !ends
	return nil
}

// end ends an event. Empty data only tells an id.
func (e *events) end(each func(kind string, data []byte)) {
	kind := e.kind
	if kind == "" {
		kind = Message
	}
	if line := oneLine(e.data.Bytes()); len(line) > 0 {
		each(kind, line)
	}
	e.kind, e.data = "", bytes.Buffer{}
}

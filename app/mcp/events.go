package mcp

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"io"

	"lamplighter/app/share/wire"
)

// Message is the type of an event that names none.
const Message = "message"

// ReadEvents reads an event stream to its end and gives each event that has data
// to each, the data as one line that is each's to keep. An event that the stream
// ends in does not count, as the standard has it.
func ReadEvents(r io.Reader, each func(kind string, data []byte)) error {
	return readEvents(r, wire.MaxLine, each)
}

// readMessages is ReadEvents for messages of MCP, which no other type of event is.
func readMessages(r io.Reader, each func(line []byte)) error {
	return ReadEvents(r, func(kind string, data []byte) {
		if kind == Message {
			each(data)
		}
	})
}

// lineSpace is what a line may have besides a message. It is the size of the
// buffer that is read ahead, too, so that a message as long as may be always fits.
const lineSpace = 8 << 10

// readEvents is ReadEvents for messages of up to limit bytes. It takes a stream apart as
// "Server-sent events" of the HTML standard has it, except that no line ends with \r alone.
// Of each event only its type and the data are used: comments, ids and times to wait are not.
func readEvents(r io.Reader, limit int, each func(kind string, data []byte)) error {
	limited := &io.LimitedReader{R: r}
	lines := bufio.NewReaderSize(limited, lineSpace)
	kind := ""
	var data []byte
	for {
		limited.N = int64(limit) + lineSpace
		line, err := lines.ReadBytes('\n')
		switch {
		case errors.Is(err, io.EOF) && limited.N <= 0:
			return errTooLong
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		line = bytes.TrimRight(line, "\r\n")
		if len(line) == 0 {
			if message := oneLine(data); len(message) > 0 { // without data it only tells an id
				each(cmp.Or(kind, Message), message)
			}
			kind, data = "", nil
			continue
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(name) {
		case "data":
			if len(data) > 0 {
				data = append(data, '\n')
			}
			data = append(data, value...)
		case "event":
			kind = string(value)
		}
		if len(data) > limit {
			return errTooLong
		}
	}
}

package mcp

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"io"

	"lamplighter/app/share/wire"
)

const byteOrderMark = "\xef\xbb\xbf"

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

// readEvents is ReadEvents for messages of up to limit bytes. It takes a stream apart as
// "Server-sent events" of the HTML standard has it, except that no line ends with \r alone.
// Of each event only its type and the data are used: comments, ids and times to wait are not.
func readEvents(r io.Reader, limit int, each func(kind string, data []byte)) error {
	lines := bufio.NewReaderSize(r, 8<<10)
	kind := ""
	var data []byte
	for first := true; ; first = false {
		line, err := readLine(lines, limit+len("data: \r\n"))
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		line = bytes.TrimRight(line, "\r\n")
		if first {
			line = bytes.TrimPrefix(line, []byte(byteOrderMark))
		}
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

// readLine reads a line with its \n. What stands behind the last one is none. A stream is
// open for long, so that nothing of a long line is kept.
func readLine(r *bufio.Reader, limit int) ([]byte, error) {
	var line bytes.Buffer
	for {
		piece, err := r.ReadSlice('\n')
		line.Write(piece)
		switch {
		case line.Len() > limit:
			return nil, errTooLong
		case err == nil:
			return line.Bytes(), nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}

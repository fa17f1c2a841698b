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
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, limit+len("data: \r\n"))
	lines.Split(wholeLines())
	kind := ""
	var data []byte
	for first := true; lines.Scan(); first = false {
		line := bytes.TrimRight(lines.Bytes(), "\r")
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
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return errTooLong
	}
	return lines.Err()
}

// wholeLines splits a stream at each \n, and drops what stands behind the last one. It looks
// at each byte once, however long a line is.
func wholeLines() bufio.SplitFunc {
	searched := 0
	return func(data []byte, _ bool) (advance int, line []byte, err error) {
		end := bytes.IndexByte(data[searched:], '\n')
		if end < 0 {
			searched = len(data)
			return 0, nil, nil
		}
		end += searched
		searched = 0
		return end + 1, data[:end], nil
	}
}

package events

import (
	"bytes"
	"encoding/json"
	"errors"
	"time"
	"unicode/utf8"

	"lamplighter/monitor"
)

// Bounds, in bytes. What is written stays below them; what is read and does
// not is skipped.
const (
	longestLine = 64 << 10
	longestText = 4 << 10 // of each text of an event
)

var errNoEvent = errors.New("it is not an event")

// encode makes the line of an event, its end included. Nothing in it can
// disturb a terminal.
func encode(e monitor.Event) ([]byte, error) {
	e = clean(e)
	e.At = e.At.UTC().Truncate(time.Millisecond)
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(e); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// parse reads a line without its end. Whoever may write to the file may have
// written it, so its texts are cleaned.
func parse(line []byte) (monitor.Event, error) {
	var e monitor.Event
	if err := json.Unmarshal(line, &e); err != nil {
		return monitor.Event{}, err
	}
	e = clean(e)
	if e.At.IsZero() || e.Kind == "" {
		return monitor.Event{}, errNoEvent
	}
	return e, nil
}

func clean(e monitor.Event) monitor.Event {
	e.Kind = monitor.EventKind(text(string(e.Kind)))
	e.ID, e.Label, e.Detail = text(e.ID), text(e.Label), text(e.Detail)
	return e
}

// text is s on one line and of a length that fits into one.
func text(s string) string {
	s = monitor.Clean(s)
	if len(s) <= longestText {
		return s
	}
	n := longestText - len("…")
	for !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}

// splitter cuts what is read, in pieces of any size, into lines. The zero value
// is at the beginning of a line.
type splitter struct {
	line []byte
	long bool // the line is too long and only waits for its end
}

// feed takes the next piece and calls each with every line that it completes:
// without its end, or nil for one that is too long. The lines are valid until
// each returns. Empty ones are left out.
func (s *splitter) feed(piece []byte, each func(line []byte)) {
	for len(piece) > 0 {
		end := bytes.IndexByte(piece, '\n')
		part := piece
		if end >= 0 {
			part, piece = piece[:end], piece[end+1:]
		} else {
			piece = nil
		}
		if s.long = s.long || len(s.line)+len(part) > longestLine; s.long {
			s.line = s.line[:0]
		} else {
			s.line = append(s.line, part...)
		}
		if end >= 0 {
			s.end(each)
		}
	}
}

// end calls each with what has come since the last end of a line, if anything,
// as feed does. Another line begins.
func (s *splitter) end(each func(line []byte)) {
	switch line := bytes.TrimSpace(s.line); {
	case s.long:
		each(nil)
	case len(line) > 0:
		each(line)
	}
	s.line, s.long = s.line[:0], false
}

package main

import (
	"bytes"

	"lamplighter/app/share/wire"
)

// chunkLength is how much is read at once.
const chunkLength = 64 << 10

// lines cuts what the client writes into lines. Each comes with room for a
// header before it.
type lines struct {
	read  func([]byte) (int, error)
	limit int                   // of a line, in bytes; wire.MaxLine
	take  func(size int) []byte // empty, with that capacity

	chunk []byte
	rest  []byte // of chunk, not yet looked at
	err   error
}

// next returns the next line without its end, as a wire.Line; of a line above
// the limit its head, as a wire.Long. Empty lines are none, and what stands after
// the last end of a line is one. The error is that of the end.
func (l *lines) next() (t wire.Type, frame []byte, err error) {
	var part []byte // of a line that goes on
	long := false
	for {
		if len(l.rest) == 0 {
			if l.err == nil {
				l.fill()
			}
			if len(l.rest) == 0 && l.err != nil {
				if t, frame = l.whole(part, nil, long); frame != nil {
					return t, frame, nil
				}
				return 0, nil, l.err
			}
		}
		end := bytes.IndexByte(l.rest, '\n')
		if end >= 0 {
			t, frame = l.whole(part, l.rest[:end], long)
			l.rest = l.rest[end+1:]
			if frame != nil {
				return t, frame, nil
			}
			part, long = nil, false
			continue
		}
		if !long {
			if part == nil {
				part = l.begin(len(l.rest))
			}
			part = append(part, l.rest...)
			// One more, which may be the \r of its end.
			if len(part)-wire.HeaderLength > l.limit+1 {
				part, long = bytes.Clone(part[:wire.HeaderLength+min(wire.HeadLength, l.limit)]), true
			}
		}
		l.rest = nil
	}
}

// fill reads until there is something, or the end.
func (l *lines) fill() {
	if l.chunk == nil {
		l.chunk = make([]byte, chunkLength)
	}
	for len(l.rest) == 0 && l.err == nil {
		var n int
		n, l.err = l.read(l.chunk)
		l.rest = l.chunk[:n]
	}
}

// whole makes a frame of the two parts of a line; nil when it is empty.
func (l *lines) whole(part, last []byte, long bool) (wire.Type, []byte) {
	if long {
		return wire.Long, part
	}
	if part == nil {
		part = l.begin(len(last))
	}
	frame := append(part, last...)
	if frame[len(frame)-1] == '\r' && len(frame) > wire.HeaderLength {
		frame = frame[:len(frame)-1]
	}
	switch n := len(frame) - wire.HeaderLength; {
	case n == 0:
		return 0, nil
	case n > l.limit:
		return wire.Long, bytes.Clone(frame[:wire.HeaderLength+min(wire.HeadLength, l.limit)])
	}
	return wire.Line, frame
}

// begin is room for a line, after that for its header.
func (l *lines) begin(size int) []byte {
	return l.take(wire.HeaderLength + size)[:wire.HeaderLength]
}

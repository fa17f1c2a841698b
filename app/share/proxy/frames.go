package proxy

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"sync"

	"lamplighter/app/share/wire"
	"lamplighter/monitor"
)

// bufferLength is what is read at a time, in bytes. Longer payloads are read past
// the buffer.
const bufferLength = 32 << 10

// trusted is how much memory a frame gets because its header says so, in bytes;
// more is had as it comes.
const trusted = 1 << 20

// nextFrame reads a frame of a shim. The payload is the caller's. The error Is
// wire.ErrFrame for what no shim sends, and io.EOF at the end between two frames.
func nextFrame(from *bufio.Reader) (wire.Header, []byte, error) {
	var head [wire.HeaderLength]byte
	if _, err := io.ReadFull(from, head[:]); err != nil {
		return wire.Header{}, nil, err
	}
	h, err := wire.ParseHeader(head[:])
	if err != nil {
		return wire.Header{}, nil, err
	}
	var payload bytes.Buffer
	payload.Grow(min(h.Length, trusted) + bytes.MinRead) // of which its last look at the end is
	if _, err := io.CopyN(&payload, from, int64(h.Length)); err != nil {
		return h, nil, io.ErrUnexpectedEOF
	}
	return h, payload.Bytes(), nil
}

// exitFailed is the exit status of a shim that cannot be served.
const exitFailed = 1

// mostColumns is how long a sentence may be, whose characters may have some bytes
// each; see wire.ParseHeader for the bytes.
const mostColumns = 2000

// outlet writes frames to a shim, each of them whole: it is an Outlet. It is
// safe for concurrent use. After an error it writes nothing more, and closes the connection.
type outlet struct {
	conn net.Conn

	mu     sync.Mutex
	buffer *bufio.Writer
}

func newOutlet(conn net.Conn) *outlet { return &outlet{conn: conn, buffer: bufio.NewWriter(conn)} }

func (o *outlet) write(t wire.Type, seq uint64, payload []byte) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	_, _ = o.buffer.Write(wire.AppendHeader(o.buffer.AvailableBuffer(), wire.Header{Type: t, Seq: seq, Length: len(payload)}))
	_, _ = o.buffer.Write(payload)
	err := o.buffer.Flush() // which has the error of either
	if err != nil {
		o.conn.Close()
	}
	return err
}

// Accept is part of Outlet.
func (o *outlet) Accept(seq uint64) error { return o.write(wire.Accept, seq, nil) }

// Deliver is part of Outlet. Of several lines for one request the shim
// prints all: only the answer has its number.
func (o *outlet) Deliver(seq uint64, answer bool, line []byte) error {
	switch {
	case !answer:
		return o.write(wire.Deliver, 0, line)
	case line == nil:
		return o.write(wire.Settle, seq, nil)
	}
	return o.write(wire.Deliver, seq, line)
}

// Moved is part of Outlet.
func (o *outlet) Moved(project string) error { return o.write(wire.Moved, 0, []byte(project)) }

func (o *outlet) bye(why string) error {
	return o.write(wire.Bye, 0, append([]byte{exitFailed}, shown(why)...))
}

// shown is a sentence that may hold foreign text, as users may see it.
func shown(sentence string) string { return monitor.Shorten(monitor.Clean(sentence), mostColumns) }

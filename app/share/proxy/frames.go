package proxy

import (
	"bufio"
	"fmt"
	"io"

	"lamplighter/app/share/wire"
)

// bufferLength is what is read at a time, in bytes. Longer payloads are read past
// the buffer.
const bufferLength = 32 << 10

// trusted is how much memory a frame gets because its header says so, in bytes;
// more is had as it comes.
const trusted = 1 << 20

// frames reads what a shim sends.
type frames struct{ r *bufio.Reader }

func newFrames(r io.Reader) *frames { return &frames{bufio.NewReaderSize(r, bufferLength)} }

// next returns the next frame. The payload is the caller's. The error Is
// wire.ErrFrame for what no shim sends, and io.EOF at the end between two frames.
func (f *frames) next() (wire.Header, []byte, error) {
	head, err := f.r.Peek(wire.HeaderLength)
	if err != nil {
		if err == io.EOF && len(head) > 0 {
			err = io.ErrUnexpectedEOF
		}
		return wire.Header{}, nil, err
	}
	h, err := wire.ParseHeader(head)
	if err != nil {
		return wire.Header{}, nil, err
	}
	if _, err := f.r.Discard(wire.HeaderLength); err != nil {
		return wire.Header{}, nil, err
	}
	payload := make([]byte, 0, min(h.Length, trusted))
	for len(payload) < h.Length {
		if len(payload) == cap(payload) {
			grown := make([]byte, len(payload), min(h.Length, 4*cap(payload)))
			copy(grown, payload)
			payload = grown
		}
		n, err := io.ReadFull(f.r, payload[len(payload):cap(payload)])
		payload = payload[:len(payload)+n]
		if err != nil {
			return h, nil, io.ErrUnexpectedEOF
		}
	}
	return h, payload, nil
}

// hello reads the first frame, which has to be one.
func (f *frames) hello() ([]byte, error) {
	h, payload, err := f.next()
	if err == nil && h.Type != wire.Hello {
		err = fmt.Errorf("%w: the first one is %q", wire.ErrFrame, h.Type)
	}
	return payload, err
}

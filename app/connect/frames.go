package main

import "lamplighter/app/share/wire"

// frames reads what the background process sends.
type frames struct {
	read func([]byte) (int, error)

	buffer     []byte
	start, end int // of what was read and not returned yet
}

// next returns the next frame. The payload is the caller's until the next call;
// see withEnd for what lies behind it.
func (f *frames) next() (wire.Header, []byte, error) {
	if f.buffer == nil {
		f.buffer = make([]byte, chunkLength+1)
	}
	if f.start == f.end {
		f.start, f.end = 0, 0
	}
	if err := f.need(wire.HeaderLength); err != nil {
		return wire.Header{}, nil, err
	}
	h, err := wire.ParseHeader(f.buffer[f.start:f.end])
	if err != nil {
		return wire.Header{}, nil, err
	}
	if wire.HeaderLength+h.Length > chunkLength {
		return f.large(h)
	}
	if err := f.need(wire.HeaderLength + h.Length); err != nil {
		return wire.Header{}, nil, err
	}
	begin := f.start + wire.HeaderLength
	f.start = begin + h.Length
	return h, f.buffer[begin:f.start:len(f.buffer)], nil
}

// need reads until n bytes are there, which fit into the buffer.
func (f *frames) need(n int) error {
	if f.start+n > chunkLength {
		f.end = copy(f.buffer, f.buffer[f.start:f.end])
		f.start = 0
	}
	for f.end-f.start < n {
		got, err := f.read(f.buffer[f.end:chunkLength])
		if err != nil {
			return err
		}
		f.end += got
	}
	return nil
}

// large reads a frame into memory of its own, which grows with what comes: the
// other end may only have said that much will.
func (f *frames) large(h wire.Header) (wire.Header, []byte, error) {
	payload := append([]byte(nil), f.buffer[f.start+wire.HeaderLength:f.end]...)
	f.start, f.end = 0, 0
	for len(payload) < h.Length {
		if len(payload) == cap(payload) {
			grown := make([]byte, len(payload), min(h.Length+1, 4*len(payload)+chunkLength))
			copy(grown, payload)
			payload = grown
		}
		n, err := f.read(payload[len(payload):min(cap(payload), h.Length)])
		if err != nil {
			return wire.Header{}, nil, err
		}
		payload = payload[:len(payload)+n]
	}
	return h, payload, nil
}

// withEnd calls print with a payload of next and a \n after it.
func withEnd(payload []byte, print func([]byte) error) error {
	if len(payload) == cap(payload) {
		return print(append(payload, '\n'))
	}
	line := payload[:len(payload)+1]
	next := line[len(payload)] // may be of the next frame
	line[len(payload)] = '\n'
	err := print(line)
	line[len(payload)] = next
	return err
}

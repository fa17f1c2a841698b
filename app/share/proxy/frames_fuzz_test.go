package proxy

import (
	"bytes"
	"errors"
	"io"
	"runtime"
	"testing"
	"testing/iotest"

	"lamplighter/app/share/wire"
)

// FuzzFrames reads any bytes as frames: what comes out is what went in, there is
// no more of it, and nothing that is no frame gets through.
func FuzzFrames(f *testing.F) {
	hello := wire.AppendHello(nil, greeting("/a"))
	for _, seed := range [][]byte{
		nil, []byte("GET / HTTP/1.1\r\n\r\n"), hello,
		append(wire.AppendHeader(nil, wire.Header{Type: wire.Hello, Length: len(hello)}), hello...),
		append(wire.AppendHeader(nil, wire.Header{Type: wire.Line, Seq: 1, Length: 2}), "{}"...),
		wire.AppendHeader(nil, wire.Header{Type: wire.Line, Seq: 1, Length: wire.MaxLine}),
		wire.AppendHeader(nil, wire.Header{Type: wire.End}),
	} {
		f.Add(seed, uint8(1))
		f.Add(seed, uint8(0))
	}
	f.Fuzz(func(t *testing.T, sent []byte, small uint8) {
		var r io.Reader = bytes.NewReader(sent)
		if small%2 == 1 {
			r = iotest.OneByteReader(r)
		}
		frames := newFrames(r)
		var got []byte
		for {
			h, payload, err := frames.next()
			if err != nil {
				if !errors.Is(err, wire.ErrFrame) && err != io.EOF && err != io.ErrUnexpectedEOF {
					t.Fatal(err)
				}
				if err == io.EOF && len(got) != len(sent) {
					t.Errorf("%d of %d bytes were read", len(got), len(sent))
				}
				break
			}
			if len(payload) != h.Length {
				t.Fatalf("%d bytes of %d", len(payload), h.Length)
			}
			got = append(wire.AppendHeader(got, h), payload...)
		}
		if !bytes.HasPrefix(sent, got) {
			t.Errorf("read %q of %q", got, sent)
		}
	})
}

// A frame that lies about its length gets no memory for it.
func TestFramesThatLie(t *testing.T) {
	frames := newFrames(bytes.NewReader(wire.AppendHeader(nil, wire.Header{Type: wire.Line, Seq: 1, Length: wire.MaxLine})))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, _, err := frames.next()
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; !errors.Is(err, io.ErrUnexpectedEOF) || used > 4*trusted {
		t.Errorf("%v, and %d bytes of memory", err, used)
	}
}

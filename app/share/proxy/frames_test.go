package proxy

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"runtime"
	"testing"

	"lamplighter/app/share/wire"
)

// A frame that lies about its length gets no memory for it.
func TestFramesThatLie(t *testing.T) {
	in := bufio.NewReader(bytes.NewReader(wire.AppendHeader(nil, wire.Header{Type: wire.Line, Seq: 1, Length: wire.MaxLine})))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, _, err := nextFrame(in)
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; !errors.Is(err, io.ErrUnexpectedEOF) || used > 4*trusted {
		t.Errorf("%v, and %d bytes of memory", err, used)
	}
}

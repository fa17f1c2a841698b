package main

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"lamplighter/app/share/wire"
)

// readLines reads to the end. A line that is too long is shown as its head and
// an ellipsis.
func readLines(t testing.TB, r io.Reader, limit int) []string {
	t.Helper()
	var memory used
	l := lines{read: r.Read, limit: limit, take: memory.take}
	var all []string
	for {
		kind, frame, err := l.next()
		if errors.Is(err, io.EOF) {
			if _, _, again := l.next(); !errors.Is(again, io.EOF) {
				t.Errorf("after the end: %v", again)
			}
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		text := string(frame[wire.HeaderLength:])
		if kind == wire.Long {
			text += "…"
		}
		all = append(all, text)
		memory.put(frame) // nobody has it any more
	}
}

func TestLines(t *testing.T) {
	for in, want := range map[string][]string{
		"":                     nil,
		"\n\r\n\n":             nil,
		"a":                    {"a"},
		"a\nb\n":               {"a", "b"},
		"a\r\nb\r":             {"a", "b"},
		"\r\r\n":               {"\r"},
		" \n":                  {" "},
		"12345678\n":           {"12345678"},
		"12345678\r\n":         {"12345678"},
		"123456789\n":          {"12345678…"},
		"123456789\r\nb":       {"12345678…", "b"},
		"1234567890123":        {"12345678…"},
		"1234567890123\nb\n":   {"12345678…", "b"},
		"\x00\xff\n{\"a\":\n}": {"\x00\xff", "{\"a\":", "}"},
	} {
		for name, reader := range map[string]io.Reader{
			"at once":        strings.NewReader(in),
			"byte by byte":   iotest.OneByteReader(strings.NewReader(in)),
			"with its error": iotest.DataErrReader(strings.NewReader(in)),
		} {
			if got := readLines(t, reader, 8); !slices.Equal(got, want) {
				t.Errorf("%q %s: %q", in, name, got)
			}
		}
	}
}

// FuzzLines: however it comes, it is cut at the ends of lines.
func FuzzLines(f *testing.F) {
	f.Add([]byte("a\r\n\nb"), 3)
	f.Add([]byte("123456789012345678901234567890\nb\n"), 7)
	f.Fuzz(func(t *testing.T, in []byte, piece int) {
		const limit = 20
		var want []string
		for line := range strings.SplitSeq(string(in), "\n") {
			line = strings.TrimSuffix(line, "\r")
			if len(line) > limit {
				line = line[:limit] + "…"
			}
			if line != "" {
				want = append(want, line)
			}
		}
		if got := readLines(t, &pieces{in, max(1, piece%100)}, limit); !slices.Equal(got, want) {
			t.Errorf("%q: %q, not %q", in, got, want)
		}
	})
}

// pieces is a reader that gives so many bytes at once.
type pieces struct {
	rest []byte
	n    int
}

func (p *pieces) Read(into []byte) (int, error) {
	if len(p.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(into, p.rest[:min(p.n, len(p.rest))])
	p.rest = p.rest[n:]
	return n, nil
}

func readFrames(t testing.TB, r io.Reader) ([]string, error) {
	f := frames{read: r.Read}
	var all []string
	for {
		h, payload, err := f.next()
		if err != nil {
			return all, err
		}
		all = append(all, string(wire.AppendHeader(nil, h))+string(payload))
		_ = withEnd(payload, func(line []byte) error {
			if string(line) != string(payload)+"\n" {
				t.Errorf("%q is printed as %q", payload, line)
			}
			return nil
		})
	}
}

// TestLargeFrames: more than fits into the buffer, between those that do.
func TestLargeFrames(t *testing.T) {
	var in []byte
	var want []string
	for _, size := range []int{0, 5, chunkLength - wire.HeaderLength, chunkLength - wire.HeaderLength + 1, 7, 3 * chunkLength, 1 << 20, 1} {
		payload := strings.Repeat("x", size)
		frame := string(wire.AppendHeader(nil, wire.Header{Type: wire.Deliver, Length: size})) + payload
		in = append(in, frame...)
		want = append(want, frame)
	}
	for _, piece := range []int{7, 1000, chunkLength, len(in)} {
		if got, err := readFrames(t, &pieces{in, piece}); !slices.Equal(got, want) || err != io.EOF {
			t.Errorf("by %d bytes: %d frames, %v", piece, len(got), err)
		}
	}
}

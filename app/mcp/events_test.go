package mcp

import (
	"errors"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"lamplighter/app/share/wire"
)

// pieces is a reader of n bytes at a time.
type pieces struct {
	io.Reader
	n int
}

func (p pieces) Read(b []byte) (int, error) { return p.Reader.Read(b[:min(p.n, len(b))]) }

// read reads a stream that comes in pieces of n bytes.
func read(t testing.TB, stream string, n int) []string {
	t.Helper()
	var b inbox
	if err := readEvents(pieces{strings.NewReader(stream), n}, wire.MaxLine, b.event); err != nil {
		t.Fatal(err)
	}
	return b.all()
}

func TestEvents(t *testing.T) {
	for _, test := range []struct {
		name, stream string
		want         []string
	}{
		{"as Serena writes", "event: message\r\ndata: {\"id\":1}\r\n\r\n", []string{`{"id":1}`}},
		{"line feeds", "data: {}\n\ndata: []\n\n", []string{`{}`, `[]`}},
		{"mixed ends", "data: {}\r\n\ndata: []\n\r\n", []string{`{}`, `[]`}},
		{"no space", "data:{}\n\n", []string{`{}`}},
		{"spaces around", "data:  {}\t\n\n", []string{`{}`}},
		{"bytes as they are", "data: {\"a\": 1.50, \"\\u00e9é\" :\t9007199254740993}\n\n", []string{"{\"a\": 1.50, \"\\u00e9é\" :\t9007199254740993}"}},
		{"data on several lines becomes one line", "data: {\ndata: \"a\":1\ndata\ndata: }\n\n", []string{`{ "a":1  }`}},
		{"comments", ": ping\n\n:\n:data: no\ndata: {}\n: between\n\n", []string{`{}`}},
		{"what else there is", "id: 7\nretry: 10\nunknown: x\ndata: {}\n\n", []string{`{}`}},
		{"an event that only tells an id", "id: 7\ndata:\n\nid: 8\ndata: \n\ndata: {}\n\n", []string{`{}`}},
		{"other types", "event: ping\ndata: {}\n\nevent: messages\ndata: {}\n\nevent\ndata: []\n\n", []string{`[]`}},
		{"the last type counts", "event: ping\nevent: message\ndata: {}\n\n", []string{`{}`}},
		{"a type is for one event", "event: ping\ndata: {}\n\ndata: []\n\n", []string{`[]`}},
		{"half an event", "data: {}\n\ndata: []\n", []string{`{}`}},
		{"half a line", "data: {}\n\ndata: [", []string{`{}`}},
		{"names that only look like it", "dat: {}\ndatas: {}\nDATA: {}\n data: {}\n\n", nil},
		{"long names", strings.Repeat("data", 999) + ": {}\ndata: []\n\n", []string{`[]`}},
		{"nothing", "", nil},
		{"garbage", "\x00\xff\n\n\n:::\n\n", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, n := range []int{1, 2, 3, 5, 7, 1 << 20} {
				if got := read(t, test.stream, n); !slices.Equal(got, test.want) {
					t.Errorf("in pieces of %d: %q, want %q", n, got, test.want)
				}
			}
		})
	}
}

// A stream is open for as long as its session, and keeps nothing of a long message.
func TestALongMessageIsNotKept(t *testing.T) {
	long := strings.NewReader("data: " + strings.Repeat("x", 32<<20) + "\n\ndata: []\n\n")
	kept := uint64(0)
	err := readMessages(long, func(line []byte) {
		if len(line) < 10 {
			*long = strings.Reader{}
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			kept = m.HeapAlloc
		}
	})
	if err != nil || kept == 0 || kept > 16<<20 {
		t.Errorf("%d MiB are in use, %v", kept>>20, err)
	}
}

func TestEndsOfStreams(t *testing.T) {
	broken := errors.New("broken")
	var b inbox
	if err := readMessages(io.MultiReader(strings.NewReader("data: {}\n\ndata: ["), iotest.ErrReader(broken)), b.take); !errors.Is(err, broken) {
		t.Errorf("a broken stream ends with %v", err)
	}
	if err := readMessages(iotest.DataErrReader(strings.NewReader("data: []\n\n")), b.take); err != nil {
		t.Error(err)
	}
	if got := b.all(); !slices.Equal(got, []string{"{}", "[]"}) {
		t.Errorf("got %q", got)
	}
}

func TestEndlessMessage(t *testing.T) {
	for _, test := range []struct {
		stream string
		want   error
	}{
		{"data: 0123456789\n", nil},
		{"data: 0123456789x", nil}, // an end of the stream, and no event
		{"data: 0123456789x\n", errTooLong},
		{"data: 0123456789" + strings.Repeat("x", 99), nil}, // likewise
		{"data: 0123456789" + strings.Repeat("x", 2*lineSpace), errTooLong},
		{strings.Repeat(":\n", lineSpace) + "data: 0123456789\n", nil},
		{"data: 01234\ndata: 56789\n", errTooLong},
		{"data: 01234\n" + strings.Repeat("data\n", 6), errTooLong},
	} {
		if err := readEvents(strings.NewReader(test.stream), 10, func(string, []byte) {}); !errors.Is(err, test.want) {
			t.Errorf("%q: %v", test.stream, err)
		}
	}
}

func TestLinesAreTheReceivers(t *testing.T) {
	var lines [][]byte
	stream := strings.Repeat("data: {\"n\":1}\n\n", 10_000)
	if err := readMessages(strings.NewReader(stream), func(line []byte) { lines = append(lines, line) }); err != nil {
		t.Fatal(err)
	}
	for i, line := range lines {
		if string(line) != `{"n":1}` {
			t.Fatalf("line %d has become %q", i, line)
		}
	}
	if len(lines) != 10_000 {
		t.Errorf("got %d lines", len(lines))
	}
}

// plain reads a whole stream in the plainest way, to compare with.
func plain(stream string) []string {
	lines := strings.Split(stream, "\n")
	var messages, data []string
	kind := ""
	for _, line := range lines[:len(lines)-1] {
		line = strings.TrimRight(line, "\r")
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case line == "":
			if line := oneLine([]byte(strings.TrimLeft(strings.Join(data, "\n"), "\n"))); (kind == "" || kind == "message") && len(line) > 0 {
				messages = append(messages, string(line))
			}
			data, kind = nil, ""
		case name == "data":
			data = append(data, value)
		case name == "event":
			kind = value
		}
	}
	return messages
}

func TestTypesOfEvents(t *testing.T) {
	const stream = "event: endpoint\ndata: /x\n\ndata: {}\n\nevent: message\ndata: {}\n\nevent: ping\n\nevent\ndata: {}\n\n"
	var kinds []string
	if err := ReadEvents(strings.NewReader(stream), func(kind string, _ []byte) { kinds = append(kinds, kind) }); err != nil {
		t.Error(err)
	}
	if want := []string{"endpoint", Message, Message, Message}; !slices.Equal(kinds, want) {
		t.Errorf("got %q, want %q", kinds, want)
	}
}

func FuzzEvents(f *testing.F) {
	for _, seed := range []string{
		"event: message\r\ndata: {\"id\":1}\r\n\r\n", "data: {\ndata: }\r\r: c\n\n", "data:x\n\n",
		"event: ping\ndata: {}\n\n", "id\nretry:\nevent\ndata\n\n", ":\n\n\ndata: a\r",
	} {
		f.Add(seed, uint8(3))
	}
	f.Fuzz(func(t *testing.T, stream string, n uint8) {
		want := plain(stream)
		if got := read(t, stream, int(n)+1); !slices.Equal(got, want) {
			t.Errorf("in pieces of %d: %q, want %q", int(n)+1, got, want)
		}
		for _, line := range want {
			if strings.ContainsAny(line, "\r\n") {
				t.Errorf("%q is not one line", line)
			}
		}
	})
}

func TestOneLine(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"{}", "{}"},
		{"\r\n {}\n", "{}"},
		{"{\r\n\t\"a\": 1.50,\n\n\"b\\n\\u00e9\": 1e400\r}", "{  \t\"a\": 1.50,  \"b\\n\\u00e9\": 1e400 }"},
		{"", ""},
		{" \n", ""},
	} {
		if got := string(oneLine([]byte(test.text))); got != test.want {
			t.Errorf("%q became %q, want %q", test.text, got, test.want)
		}
	}
}

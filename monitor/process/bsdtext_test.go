package process

import (
	"encoding/binary"
	"slices"
	"strings"
	"testing"
	"time"
)

func procArgs(n uint32, rest string) []byte {
	return append(binary.NativeEndian.AppendUint32(nil, n), rest...)
}

func TestParseProcArgs(t *testing.T) {
	for _, c := range []struct {
		in   []byte
		exe  string
		args []string
	}{
		{nil, "", nil},
		{procArgs(1, ""), "", nil},
		{procArgs(1, "/bin/sleep"), "", nil},
		{procArgs(2, "/bin/sleep\x00\x00\x00\x00sleep\x00600\x00HOME=/\x00"), "/bin/sleep", []string{"sleep", "600"}},
		{procArgs(3, "/bin/sh\x00sh\x00\x00x\x00A=b\x00"), "/bin/sh", []string{"sh", "", "x"}},
		{procArgs(4000000000, "/bin/x\x00x\x00y"), "/bin/x", []string{"x", "y"}},
		{procArgs(0, "/bin/x\x00x\x00"), "/bin/x", nil},
	} {
		exe, args := parseProcArgs(c.in)
		if exe != c.exe || !slices.Equal(args, c.args) {
			t.Errorf("%q: %q %q", c.in, exe, args)
		}
	}
}

func TestParsePS(t *testing.T) {
	got := parsePS("  1   12345   1:02.50\n 77 0 0:00.00\nnonsense\n5 x 0:00.01\n6 1 zz\n8 1 1-02:03:04\n9 1 10:00:00\n")
	want := map[int]psUsage{
		1:  {12345 << 10, 62500 * time.Millisecond},
		77: {},
		8:  {1 << 10, 26*time.Hour + 3*time.Minute + 4*time.Second},
		9:  {1 << 10, 10 * time.Hour},
	}
	if len(got) != len(want) {
		t.Errorf("%v", got)
	}
	for pid, w := range want {
		if got[pid] != w {
			t.Errorf("%d: %v, want %v", pid, got[pid], w)
		}
	}
}

func FuzzParseProcArgs(f *testing.F) {
	f.Add(procArgs(2, "/bin/sleep\x00\x00\x00\x00sleep\x00600\x00HOME=/\x00"))
	f.Fuzz(func(t *testing.T, b []byte) {
		exe, args := parseProcArgs(b)
		if len(exe)+len(strings.Join(args, "")) > len(b) {
			t.Errorf("%q: %q %q", b, exe, args)
		}
	})
}

func FuzzParsePS(f *testing.F) {
	f.Add("  1   12345   1:02.50\n8 1 1-02:03:04\n")
	f.Fuzz(func(t *testing.T, text string) {
		for pid, u := range parsePS(text) {
			if pid <= 0 || u.cpu < 0 {
				t.Errorf("%q: %d %v", text, pid, u)
			}
		}
	})
}

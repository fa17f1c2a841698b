package process

import (
	"bytes"
	"encoding/binary"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

const statTail = " S 1 7 7 0 -1 4194304 100 0 0 0 250 50 0 0 20 0 3 0 86512 4096000 321 18446744073709551615" +
	" 94000 95000 140000 0 0 0 0 4096 134217728 0 0 0 17 1 0 0 0 0 0 96000 97000 98000 140100 140120 140120 141000 0\n"

func TestParseStat(t *testing.T) {
	for _, comm := range []string{
		"sleep", "a b", "x) S 1 2", "((()", "", "two\nlines", `back\slash\n`, "tmux: server", "\xff\xfe",
	} {
		s, err := parseStat([]byte("4321 (" + comm + ")" + statTail))
		if err != nil {
			t.Errorf("%q: %v", comm, err)
			continue
		}
		if string(s.comm) != comm {
			t.Errorf("%q: name %q", comm, s.comm)
		}
		got := s.stat(4096)
		want := Stat{Parent: 1, CPU: 3 * time.Second, RSSBytes: 321 * 4096}
		want.PID, want.Start = 4321, 86512
		if got != want || s.hidden {
			t.Errorf("%q: %+v", comm, got)
		}
		if string(s.code) != "94000 95000 140000" || string(s.data) != "96000 97000 98000 140100 140120 140120 141000" {
			t.Errorf("layout %q %q", s.code, s.data)
		}
	}
}

func TestParseStatHiddenAddresses(t *testing.T) {
	s, err := parseStat([]byte("1 (init) S 0 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 0 100 5 0 1 1 0 0 0 0"))
	if err != nil || !s.hidden || s.start != 0 {
		t.Errorf("%+v, %v", s, err)
	}
}

func TestParseStatRejects(t *testing.T) {
	good := "4321 (sleep)" + statTail
	for _, bad := range []string{
		"", "4321", "()", "(x) S 1", ") 1 (", "4321 (sleep", "x (sleep)" + statTail, "0 (sleep)" + statTail,
		"99999999999 (sleep)" + statTail, "4321 (sleep)", "4321 (sleep) S 1 2 3",
		strings.Replace(good, " 86512 ", " -5 ", 1), strings.Replace(good, " S 1 ", " S x ", 1),
		strings.Replace(good, " 321 ", " 99999999999999999999999 ", 1),
	} {
		if s, err := parseStat([]byte(bad)); err == nil {
			t.Errorf("%q gives %+v", bad, s)
		}
	}
}

func TestRunState(t *testing.T) {
	for _, c := range []struct {
		state   byte
		threads uint64
		want    RunState
	}{
		{'R', 1, Running}, {'S', 1, Running}, {'D', 1, Running}, {'I', 1, Running}, {'t', 1, Running},
		{'T', 1, Stopped}, {'T', 9, Stopped},
		{'Z', 1, Unreaped}, {'Z', 0, Unreaped}, {'X', 0, Unreaped},
		{'Z', 4, Running}, // the first thread has ended, others go on
	} {
		s := procStat{state: c.state, threads: c.threads}
		if got := s.runState(); got != c.want {
			t.Errorf("%c with %d threads: %v, want %v", c.state, c.threads, got, c.want)
		}
	}
	if names := []string{Running.String(), Stopped.String(), Unreaped.String(), RunState(9).String()}; !slices.Equal(names, []string{"running", "stopped", "unreaped", "unknown"}) {
		t.Error(names)
	}
}

func TestParseCmdline(t *testing.T) {
	for _, c := range []struct {
		in   string
		want []string
	}{
		{"", nil},
		{"\x00", nil},
		{"\x00\x00\x00", nil},
		{"sleep\x00600\x00", []string{"sleep", "600"}},
		{"sleep\x00600", []string{"sleep", "600"}},
		{"sh\x00-c\x00\x00x\x00", []string{"sh", "-c", "", "x"}},
		{"prog\x00\x00", []string{"prog", ""}},
		{"\x00x\x00", []string{"", "x"}},
		{"nginx: worker process", []string{"nginx: worker process"}},
		{"nginx: worker process\x00\x00\x00\x00", []string{"nginx: worker process"}},
		{"one\x00two three\x00", []string{"one", "two three"}},
	} {
		if got := parseCmdline([]byte(c.in)); !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, want %q", c.in, got, c.want)
		}
	}
}

func TestParseLastPID(t *testing.T) {
	for _, c := range []struct {
		in   string
		want int
		ok   bool
	}{
		{"0.08 0.12 0.09 1/87 9358\n", 9358, true},
		{"0.08 0.12 0.09 1/87 0\n", 0, true},
		{"0.08 0.12 0.09 1/87 -1\n", 0, false},
		{"0.08 0.12 0.09 1/87", 0, false},
		{"", 0, false},
		{"1", 0, false},
		{"0.08 0.12 0.09 1/87 99999999999", 0, false},
	} {
		if got, ok := parseLastPID([]byte(c.in)); got != c.want || ok != c.ok {
			t.Errorf("%q: %d, %v", c.in, got, ok)
		}
	}
}

func TestParseSocketLink(t *testing.T) {
	for in, want := range map[string]uint32{"socket:[17]": 17, "socket:[4294967295]": math.MaxUint32,
		"socket:[4294967296]": 0, "socket:[]": 0, "socket:[1": 0, "pipe:[17]": 0, "": 0, "socket:17]": 0} {
		if got, ok := parseSocketLink([]byte(in)); got != want || ok != (want != 0) {
			t.Errorf("%q: %d, %v", in, got, ok)
		}
	}
}

func FuzzParseStat(f *testing.F) {
	f.Add([]byte("4321 (sleep)" + statTail))
	f.Add([]byte("4321 (a) b)\n)" + statTail))
	if own, err := os.ReadFile("/proc/self/stat"); err == nil {
		f.Add(own)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := parseStat(b)
		if err != nil {
			return
		}
		if s.pid <= 0 || s.parent < 0 || s.cpu < 0 {
			t.Errorf("%q gives %+v", b, s)
		}
		s.stat(4096)
	})
}

func FuzzParseCmdline(f *testing.F) {
	for _, s := range []string{"", "a", "a\x00b\x00", "\x00\x00", "a title\x00\x00"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		args := parseCmdline(b)
		if joined := strings.Join(args, "\x00"); !strings.HasPrefix(string(b), joined) {
			t.Errorf("%q became %q", b, args)
		}
	})
}

func FuzzParseLastPID(f *testing.F) {
	f.Add([]byte("0.08 0.12 0.09 1/87 9358\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		n, ok := parseLastPID(b)
		if n < 0 || (!ok && n != 0) || (ok && !bytes.Contains(b, []byte(strconv.Itoa(n)))) {
			t.Errorf("%q: %d, %v", b, n, ok)
		}
	})
}

func FuzzParsePIDs(f *testing.F) {
	f.Add([]byte("1 22 333 "))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, pid := range parsePIDs(nil, b) {
			if pid <= 0 {
				t.Errorf("%q holds pid %d", b, pid)
			}
		}
	})
}

func FuzzParseSocketLink(f *testing.F) {
	f.Add([]byte("socket:[123]"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if n, ok := parseSocketLink(b); ok && n == 0 && !bytes.Contains(b, []byte("0")) {
			t.Errorf("%q is inode 0", b)
		}
	})
}

// dirent is one struct linux_dirent64 as getdents64(2) writes it.
func dirent(name string) []byte {
	size := (19 + len(name) + 1 + 7) &^ 7
	b := make([]byte, size)
	binary.NativeEndian.PutUint16(b[16:], uint16(size))
	copy(b[19:], name)
	return b
}

func TestParseDirents(t *testing.T) {
	var b []byte
	for _, name := range []string{".", "..", "12", "self", "3456789", "12x", "99999999999", "7"} {
		b = append(b, dirent(name)...)
	}
	var got []int
	parseDirents(b, func(n int) { got = append(got, n) })
	if !slices.Equal(got, []int{12, 3456789, 7}) {
		t.Error(got)
	}
}

func FuzzParseDirents(f *testing.F) {
	f.Add(append(dirent("12"), dirent("self")...))
	f.Fuzz(func(t *testing.T, b []byte) {
		parseDirents(b, func(n int) {
			if n < 0 {
				t.Error(n)
			}
		})
	})
}

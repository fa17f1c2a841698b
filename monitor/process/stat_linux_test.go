package process

import (
	"slices"
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
		s, err := parseStat("4321 (" + comm + ")" + statTail)
		if err != nil {
			t.Errorf("%q: %v", comm, err)
			continue
		}
		if s.comm != comm {
			t.Errorf("%q: name %q", comm, s.comm)
		}
		got := s.Stat
		want := Stat{Parent: 1, Session: 7, CPU: 3 * time.Second}
		want.PID, want.Start = 4321, 86512
		if got != want {
			t.Errorf("%q: %+v", comm, got)
		}
		ending, err := parseStat("4321 (" + comm + ")" + strings.Replace(statTail, " 7 7 ", " -1 -1 ", 1))
		if ending.Session != 0 || err != nil {
			t.Errorf("%q: while it ends %+v, %v", comm, ending, err)
		}
		if s.program != (program{86512, 94000, 95000, 140000}) {
			t.Errorf("%q: %+v", comm, s.program)
		}
	}
}

func TestParseStatRejects(t *testing.T) {
	good := "4321 (sleep)" + statTail
	for _, bad := range []string{
		"", "4321", "()", "(x) S 1", ") 1 (", "4321 (sleep", "x (sleep)" + statTail, "0 (sleep)" + statTail,
		"99999999999 (sleep)" + statTail, "4321 (sleep)", "4321 (sleep) S 1 2 3",
		strings.Replace(good, " 86512 ", " -5 ", 1), strings.Replace(good, " S 1 ", " S x ", 1),
	} {
		if s, err := parseStat(bad); err == nil {
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
		if got := runState(c.state, c.threads); got != c.want {
			t.Errorf("%c with %d threads: %v, want %v", c.state, c.threads, got, c.want)
		}
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

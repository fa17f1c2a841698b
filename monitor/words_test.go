package monitor

import (
	"testing"
	"time"
)

func TestSpan(t *testing.T) {
	const day = 24 * time.Hour
	for d, want := range map[time.Duration]string{
		-time.Hour: "0 s", 0: "0 s", 40 * time.Millisecond: "0 s", 320 * time.Millisecond: "0.3 s", 3 * time.Second: "3 s", 2500 * time.Millisecond: "2.5 s",
		9990 * time.Millisecond: "10 s", 45 * time.Second: "45 s", time.Minute - 1: "1 min", 89 * time.Second: "1 min", 5*time.Minute - 5*time.Second: "5 min",
		time.Hour - time.Second: "1 h", 150 * time.Minute: "2 h 30 min", 2*time.Hour + time.Second: "2 h", 10*time.Hour + time.Minute: "10 h",
		2*day - time.Minute: "47 h", 2*day - time.Second: "2 days", 3*day + 4*time.Hour + time.Minute: "3 days 4 h", 40*day + time.Hour: "40 days",
	} {
		if got := Span(d); got != want {
			t.Errorf("%v: %q, want %q", d, got, want)
		}
	}
}

func TestClock(t *testing.T) {
	noon := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	east := time.FixedZone("east", 3600)
	for _, c := range []struct {
		ahead time.Duration
		now   time.Time
		want  string
	}{
		{-2 * time.Hour, noon, "10:00"},
		{-2 * time.Hour, noon.In(east), "11:00"},
		{-12 * time.Hour, noon, "00:00"},
		{-13 * time.Hour, noon, "20 Nov 23:00"},
		{-12*time.Hour - time.Minute, noon.In(east), "00:59"},
		{24 * time.Hour, noon, "22 Nov 12:00"},
		{-365 * 24 * time.Hour, noon, "21 Nov 2025 12:00"},
	} {
		if got := Clock(noon.Add(c.ahead), c.now); got != c.want {
			t.Errorf("%v at %v: %q, want %q", c.ahead, c.now, got, c.want)
		}
	}
}

func TestMemory(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0 B", 9: "9 B", 999: "999 B", 1000: "1.0 kB", 1234: "1.2 kB", 9_949: "9.9 kB", 9_951: "10 kB", 999_499: "999 kB", 999_500: "1.0 MB",
		108_400_000: "108 MB", 999_500_000: "1.0 GB", 53_700_000_000: "54 GB", 1 << 62: "4612 PB",
	} {
		if got := Memory(n); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}

func TestPlural(t *testing.T) {
	for n, want := range map[int]string{0: "0 entries", 1: "1 entry", 2: "2 entries", 1000: "1000 entries"} {
		if got := Plural(n, "entry", "entries"); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}

func TestSentence(t *testing.T) {
	for s, want := range map[string]string{"": "", " . ": "", "it is pinned": "It is pinned.", "Done.": "Done.", "étude": "Étude."} {
		if got := Sentence(s); got != want {
			t.Errorf("%q: %q, want %q", s, got, want)
		}
	}
}

func TestPortOf(t *testing.T) {
	for address, want := range map[string]int{
		"http://127.0.0.1:24282/dashboard/": 24282, "http://[::1]:9121/mcp": 9121, "http://localhost/mcp": 0,
		"": 0, "127.0.0.1:24282": 0, "http://127.0.0.1:x/": 0, "\x7f": 0,
	} {
		if got := PortOf(address); got != want {
			t.Errorf("%q: %d, want %d", address, got, want)
		}
	}
}

func TestHasWord(t *testing.T) {
	for _, c := range []struct {
		list, word string
		want       bool
	}{
		{"node nodejs\n\t\tdeno", "deno", true},
		{"node nodejs", "node", true},
		{"nodejs anode", "node", false},
		{"aa", "a", false},
		{"aa a", "a", true},
		{"a b", "a b", false},
		{"a b", "", false},
		{"", "a", false},
	} {
		if got := HasWord(c.list, c.word); got != c.want {
			t.Errorf("%q in %q: %v", c.word, c.list, got)
		}
	}
}

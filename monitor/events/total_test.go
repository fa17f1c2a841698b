package events

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"lamplighter/monitor"
)

// ended is the n-th event of a test, one that gave memory back.
func ended(n int, freed uint64) monitor.Event {
	e := event(n)
	e.Kind, e.FreedBytes = monitor.EventEnded, freed
	return e
}

// summing serves a Total; end stops it.
func summing(t *testing.T, total *Total) (end func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- total.Serve(ctx) }()
	done := false
	end = func() {
		cancel()
		if done {
			return
		}
		done = true
		if err := <-served; !errors.Is(err, context.Canceled) {
			t.Errorf("it ended with %v", err)
		}
	}
	t.Cleanup(end)
	return end
}

func sumsTo(t *testing.T, total *Total, want uint64, since time.Time) {
	t.Helper()
	eventually(t, fmt.Sprintf("%d bytes since %v", want, since), func() bool {
		got, at := total.GivenBack()
		return got == want && at.Equal(since)
	})
}

func put(t *testing.T, l *Log, list ...monitor.Event) {
	t.Helper()
	for _, e := range list {
		l.Append(e)
	}
	if err := l.Flush(); err != nil {
		t.Fatal(err)
	}
}

func TestTotal(t *testing.T) {
	dir := in(t.TempDir(), "state")
	l, _ := logTo(dir)
	total := NewTotal(dir, nil)
	if bytes, since := total.GivenBack(); bytes != 0 || !since.IsZero() {
		t.Errorf("%d since %v, and nothing was read", bytes, since)
	}
	end := summing(t, total) // nothing of it exists
	put(t, l, event(1))
	eventually(t, "the first event is read", func() bool {
		total.mu.Lock()
		defer total.mu.Unlock()
		return total.since.Equal(event(1).At)
	})
	sumsTo(t, total, 0, time.Time{}) // which gave nothing back
	put(t, l, ended(2, 100), event(3), ended(4, 0), ended(5, 20))
	sumsTo(t, total, 120, event(1).At)
	end()
	sumsTo(t, total, 120, event(1).At)

	// Another one, as after a restart, reads all of it.
	again := NewTotal(dir, nil)
	summing(t, again)
	sumsTo(t, again, 120, event(1).At)
	put(t, l, ended(6, 3))
	sumsTo(t, again, 123, event(1).At)
	// The first one goes on where it was.
	summing(t, total)
	sumsTo(t, total, 123, event(1).At)
}

// What is rotated away stays in the sum of whoever has seen it, and is not in
// that of another.
func TestTotalThroughRotations(t *testing.T) {
	dir := t.TempDir()
	l, _ := logTo(dir)
	l.size = 4 * int64(len(line(60)))
	total := NewTotal(dir, nil)
	end := summing(t, total)
	var want uint64
	for n := 1; n <= 40; n++ {
		put(t, l, ended(n, uint64(n)))
		want += uint64(n)
		sumsTo(t, total, want, event(1).At)
	}
	var kept uint64
	list := all(t, dir)
	for _, e := range list.Events {
		kept += e.FreedBytes
	}
	if kept >= want {
		t.Fatal("nothing was rotated away")
	}
	other := NewTotal(dir, nil)
	summing(t, other)
	sumsTo(t, other, kept, list.Events[0].At)
	// Serve is called again: it does not jump.
	end()
	summing(t, total)
	put(t, l, event(41))
	eventually(t, "it has read on", func() bool { return len(all(t, dir).Events) > 0 })
	sumsTo(t, total, want, event(1).At)
}

// A log that cannot be followed is said once and tried no more.
func TestTotalOfWhatIsNoLog(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(path(dir), 0o700); err != nil {
		t.Fatal(err)
	}
	var said buffer
	total := NewTotal(dir, slog.New(slog.NewTextHandler(&said, nil)))
	summing(t, total)
	eventually(t, "it says so", func() bool { return strings.Contains(said.String(), "a directory, not a file") })
	sumsTo(t, total, 0, time.Time{})
}

func TestSum(t *testing.T) {
	for _, c := range []struct {
		name  string
		lines []string
		want  uint64
		since time.Time
	}{
		{"nothing", nil, 0, time.Time{}},
		{"rubbish", []string{"{", "null", `{"freed_bytes":7}`, `"freed_bytes"`}, 0, time.Time{}},
		{"of another kind", []string{`{"at":"2026-11-20T12:00:00Z","kind":"asked","freed_bytes":7}`}, 0, noon},
		{"less than nothing, and too much", []string{
			`{"at":"2026-11-20T12:00:00Z","kind":"ended","freed_bytes":-1}`,
			`{"at":"2026-11-20T12:00:01Z","kind":"ended","freed_bytes":18446744073709551615}`,
			`{"at":"2026-11-20T12:00:02Z","kind":"ended","freed_bytes":18446744073709551615}`,
		}, math.MaxUint64, noon.Add(time.Second)},
		{"from before it was told", []string{`{"at":"2026-11-20T12:00:00Z","kind":"ended"}`, `{"at":"2026-11-20T12:00:01Z","kind":"ended","freed_bytes":5}`}, 5, noon},
	} {
		var s sum
		for _, l := range c.lines {
			s.line([]byte(l))
		}
		s.line(nil) // one that was too long
		if s.bytes != c.want || !s.since.Equal(c.since) {
			t.Errorf("%s: %d since %v", c.name, s.bytes, s.since)
		}
	}
}

// What is not parsed would not have counted.
func TestSumOfEvents(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s, want sum
		for n := range rapid.IntRange(0, 30).Draw(t, "events") {
			e := event(n)
			e.Kind = rapid.SampledFrom([]monitor.EventKind{monitor.EventEnded, monitor.EventStopped}).Draw(t, "kind")
			e.Label = rapid.SampledFrom([]string{"a", `"freed_bytes"`}).Draw(t, "label")
			if e.Kind == monitor.EventEnded {
				e.FreedBytes = rapid.Uint64Range(0, 1<<40).Draw(t, "freed")
			}
			text, err := encode(e)
			if err != nil {
				t.Fatal(err)
			}
			if n == 0 {
				want.since = e.At
			}
			want.bytes += e.FreedBytes
			s.line(text[:len(text)-1])
		}
		if s.bytes != want.bytes || !s.since.Equal(want.since) {
			t.Errorf("%d since %v, want %d since %v", s.bytes, s.since, want.bytes, want.since)
		}
	})
}

// All that is ever retained, read once.
func BenchmarkTotal(b *testing.B) {
	dir := b.TempDir()
	l, _ := logTo(dir)
	for n := 0; len(mustRotated(b, dir)) < rotatedKept; n++ {
		e := ended(n, 1)
		if n%8 > 0 {
			e = event(n)
		}
		l.Append(e)
		if n%900 == 0 {
			if err := l.Flush(); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		ctx, cancel := context.WithCancel(b.Context())
		var s sum
		err := followLines(ctx, dir, time.Time{}, s.line, func() error { cancel(); return nil })
		if !errors.Is(err, context.Canceled) || s.bytes == 0 {
			b.Fatal(s, err)
		}
	}
}

func mustRotated(b *testing.B, dir string) []string {
	b.Helper()
	names, err := rotated(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		b.Fatal(err)
	}
	return names
}

package events

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"lamplighter/monitor"
)

// logTo is a Log in dir, and what it says.
func logTo(dir string) (*Log, *buffer) {
	var said buffer
	return New(dir, slog.New(slog.NewTextHandler(&said, nil))), &said
}

func appendAll(t *testing.T, l *Log, list ...monitor.Event) {
	t.Helper()
	for _, e := range list {
		l.Append(e)
	}
	if err := l.Flush(); err != nil {
		t.Fatal(err)
	}
}

func wants(t *testing.T, dir string, want ...int) {
	t.Helper()
	if list := all(t, dir); !slices.Equal(pids(list), want) || list.Skipped != 0 {
		t.Errorf("the log has %v and %d broken lines, want %v", pids(list), list.Skipped, want)
	}
}

func TestServe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := in(t.TempDir(), "state")
		l, said := logTo(dir)
		l.Append(event(1)) // before it runs
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- l.Serve(ctx) }()
		synctest.Wait()
		wants(t, dir, 1)
		l.Append(event(2))
		synctest.Wait()
		wants(t, dir, 1, 2)
		// The directory may go, and come again.
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		l.Append(event(3))
		synctest.Wait()
		wants(t, dir, 3)
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		l.Append(event(4))
		if err := l.Serve(ctx); !errors.Is(err, context.Canceled) { // flushes at the end
			t.Error(err)
		}
		if text, err := os.ReadFile(path(dir)); err != nil || string(text) != line(3)+line(4) {
			t.Errorf("%q, %v", text, err)
		}
		if said.String() != "" {
			t.Errorf("said %q", said.String())
		}
	})
}

func TestRotation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		l, said := logTo(dir)
		l.size = 3 * int64(len(line(10)))
		for n := 10; n < 29; n++ {
			appendAll(t, l, ended(n, 1))
		}
		got := pids(all(t, dir))
		if first := got[0]; first < 19 || first > 22 || !slices.Equal(got, numbers(first, 28)) {
			t.Errorf("it has %v", got)
		}
		if paths, err := rotated(dir); err != nil || len(paths) != rotatedKept {
			t.Errorf("%v, %v", paths, err)
		}
		if bytes, since := l.GivenBack(); bytes != 19 || !since.Equal(event(10).At) {
			t.Errorf("%d bytes since %v, though what is rotated away stays in the sum", bytes, since)
		}
		if said.String() != "" {
			t.Errorf("said %q", said.String())
		}
	})
}

// Where rotating fails that is said once, and events are written all the same.
func TestRotationFails(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"events-2020-01-01T00-00-00.000.jsonl", "events-2020-01-02T00-00-00.000.jsonl"} {
		if err := os.MkdirAll(in(in(dir, name), "in the way"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	l, said := logTo(dir)
	appendAll(t, l, event(1))
	l.size = 1
	for n := range 5 {
		appendAll(t, l, event(2+n))
	}
	if got := said.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, "cannot be written or rotated") {
		t.Errorf("said %q", got)
	}
	if text, err := os.ReadFile(path(dir)); err != nil || string(text) != line(6) {
		t.Errorf("%q, %v", text, err)
	}
}

// While nothing can be written, that is said once, it is tried again though
// nothing more happens, and nothing is lost.
func TestFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		l, said := logTo(dir)
		if err := os.Mkdir(path(dir), 0o700); err != nil {
			t.Fatal(err)
		}
		go l.Serve(t.Context())
		l.Append(event(1))
		synctest.Wait()
		l.Append(event(2))
		time.Sleep(3 * retryAfter)
		synctest.Wait()
		if got := said.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, "events.jsonl: it is a directory, not a file; remove it") {
			t.Errorf("said %q", got)
		}
		if err := os.Remove(path(dir)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(retryAfter)
		synctest.Wait()
		wants(t, dir, 1, 2)
		if got := said.String(); strings.Count(got, "\n") != 2 || !strings.Contains(got, "can be written again") {
			t.Errorf("said %q", got)
		}
	})
}

// However long the disk hangs, nobody waits for it.
func TestHangingDisk(t *testing.T) {
	dir := t.TempDir()
	l, said := logTo(dir)
	l.writing.Lock()
	for n := range mostWaiting + 500 {
		l.Append(event(n))
	}
	l.writing.Unlock()
	if err := l.Flush(); err != nil {
		t.Fatal(err)
	}
	wants(t, dir, numbers(0, mostWaiting-1)...)
	if got := said.String(); !strings.Contains(got, "dropped=500") {
		t.Errorf("said %q", got)
	}
}

// numbers are those from first to last.
func numbers(first, last int) (list []int) {
	for n := first; n <= last; n++ {
		list = append(list, n)
	}
	return list
}

// ended is the n-th event of a test, one that gave memory back.
func ended(n int, freed uint64) monitor.Event {
	e := event(n)
	e.Kind, e.FreedBytes, e.Unused = monitor.EventEnded, freed, true
	return e
}

func TestGivenBack(t *testing.T) {
	givenBack := func(l *Log, want uint64, wantSince time.Time) {
		t.Helper()
		if bytes, since := l.GivenBack(); bytes != want || !since.Equal(wantSince) {
			t.Errorf("%d bytes since %v, want %d since %v", bytes, since, want, wantSince)
		}
	}
	l, _ := logTo(t.TempDir())
	givenBack(l, 0, time.Time{})
	l.Append(event(1))
	givenBack(l, 0, time.Time{}) // which gave nothing back
	freed := ended(4, 7)
	freed.Unused = false // somebody had it ended that was in use
	for _, e := range []monitor.Event{ended(2, 100), event(3), freed, ended(5, 20)} {
		l.Append(e)
	}
	givenBack(l, 120, event(1).At)
}

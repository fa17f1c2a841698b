package events

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
)

// following is a Follow under way.
type following struct {
	mu      sync.Mutex
	pids    []int
	calls   int
	skipped int
	cancel  func()
	ended   chan error
}

func follow(t *testing.T, dir string, q Query) *following {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	f := &following{cancel: cancel, ended: make(chan error, 1)}
	go func() {
		f.ended <- Follow(ctx, dir, q, func(list List) error {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.calls++
			f.pids = append(f.pids, pids(list)...)
			f.skipped += list.Skipped
			return nil
		})
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-f.ended; !errors.Is(err, context.Canceled) {
			t.Errorf("ended with %v", err)
		}
	})
	eventually(t, "it has read what was there", func() bool { f.mu.Lock(); defer f.mu.Unlock(); return f.calls > 0 })
	return f
}

func (f *following) sees(t *testing.T, want ...int) {
	t.Helper()
	var got []int
	eventually(t, "all are seen", func() bool {
		f.mu.Lock()
		defer f.mu.Unlock()
		got = once(f.pids)
		return len(got) >= len(want)
	})
	if !slices.Equal(got, want) {
		t.Errorf("saw %v, want %v", got, want)
	}
}

// once leaves out what Wine makes us read again: now and then it says of a file
// that is being renamed that it lies on no volume, so that it is another one.
func once(pids []int) []int {
	if !onWine() {
		return slices.Clone(pids)
	}
	var list []int
	for _, pid := range pids {
		if !slices.Contains(list, pid) {
			list = append(list, pid)
		}
	}
	return list
}

func TestFollow(t *testing.T) {
	dir := t.TempDir()
	l, _ := logTo(dir)
	appendAll(t, l, 1, 2, 3)
	f := follow(t, dir, Query{Last: 2})
	f.sees(t, 2, 3)
	appendAll(t, l, 4)
	f.sees(t, 2, 3, 4)
	appendAll(t, l, 5, 6)
	f.sees(t, 2, 3, 4, 5, 6)
}

func TestFollowThroughRotations(t *testing.T) {
	dir := t.TempDir()
	l, _ := logTo(dir)
	l.size = 3 * int64(len(line(60)))
	f := follow(t, dir, Query{})
	want := []int{}
	for n := 1; n <= 60; n += 2 {
		appendAll(t, l, n, n+1)
		want = append(want, n, n+1)
		if n%4 == 1 { // one that is not there in time misses what was removed
			f.sees(t, want...)
		}
	}
}

func TestFollowThroughRemovals(t *testing.T) {
	parent := t.TempDir()
	dir := in(in(parent, "a"), "state")
	f := follow(t, dir, Query{}) // nothing of it exists
	l, _ := logTo(dir)
	appendAll(t, l, 1)
	f.sees(t, 1)
	if err := os.Remove(path(dir)); err != nil {
		t.Fatal(err)
	}
	appendAll(t, l, 2, 3)
	f.sees(t, 1, 2, 3)
	// That it was shorter for a moment need not be seen, that it is does.
	if err := os.Truncate(path(dir), 0); err != nil {
		t.Fatal(err)
	}
	appendAll(t, l, 4)
	f.sees(t, 1, 2, 3, 4)
}

// Of a line only its end tells that it is whole.
func TestFollowWaitsForWholeLines(t *testing.T) {
	dir := t.TempDir()
	half := line(2)[:30]
	write(t, path(dir), line(1)+half)
	f := follow(t, dir, Query{})
	f.sees(t, 1)
	file, err := os.OpenFile(path(dir), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, piece := range []string{line(2)[30:], strings.Repeat("x", 2*longestLine), "\nrubbish\n", line(3)} {
		if _, err := file.WriteString(piece); err != nil {
			t.Fatal(err)
		}
	}
	f.sees(t, 1, 2, 3)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.skipped != 2 {
		t.Errorf("%d lines were skipped", f.skipped)
	}
}

func TestFollowEnds(t *testing.T) {
	dir, enough := t.TempDir(), errors.New("enough")
	calls := 0
	err := Follow(t.Context(), dir, Query{}, func(List) error { calls++; return enough })
	if !errors.Is(err, enough) || calls != 1 {
		t.Errorf("%d calls, %v", calls, err)
	}
	if err := os.Mkdir(path(dir), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := Follow(t.Context(), dir, Query{}, nil); err == nil || !strings.Contains(err.Error(), "a directory, not a file") {
		t.Error(err)
	}
}

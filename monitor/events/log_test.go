package events

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// logTo is a Log in dir, and what it says.
func logTo(dir string) (*Log, *buffer) {
	var said buffer
	return New(Options{Dir: dir, Log: slog.New(slog.NewTextHandler(&said, nil))}), &said
}

func appendAll(t *testing.T, l *Log, numbers ...int) {
	t.Helper()
	for _, n := range numbers {
		l.Append(event(n))
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
	dir := in(t.TempDir(), "state")
	l, said := logTo(dir)
	l.Append(event(1)) // before it runs
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- l.Serve(ctx) }()
	eventually(t, "the first line", func() bool { return len(all(t, dir).Events) == 1 })
	l.Append(event(2))
	eventually(t, "the second line", func() bool { return len(all(t, dir).Events) == 2 })
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	l.Append(event(3))
	if err := l.Serve(ctx); !errors.Is(err, context.Canceled) { // flushes at the end
		t.Error(err)
	}
	wants(t, dir, 1, 2, 3)
	if text, err := os.ReadFile(path(dir)); err != nil || string(text) != line(1)+line(2)+line(3) {
		t.Errorf("%q, %v", text, err)
	}
	if said.String() != "" {
		t.Errorf("said %q", said.String())
	}
}

func TestRotation(t *testing.T) {
	dir := t.TempDir()
	l, said := logTo(dir)
	l.size = 3 * int64(len(line(11)))
	appendAll(t, l, 11, 12)
	for n := 13; n < 20; n++ {
		appendAll(t, l, n)
	}
	wants(t, dir, 11, 12, 13, 14, 15, 16, 17, 18, 19)
	appendAll(t, l, 20, 21, 22, 23, 24, 25, 26)
	wants(t, dir, 20, 21, 22, 23, 24, 25, 26)
	if names, err := rotated(dir); err != nil || len(names) != rotatedKept {
		t.Errorf("%v, %v", names, err)
	}
	if said.String() != "" {
		t.Errorf("said %q", said.String())
	}
}

// Several processes append to one log, each with a Log of its own, and nothing
// is lost, torn or set aside too early.
func TestManyWriters(t *testing.T) {
	dir := t.TempDir()
	const writers, each = 4, 200
	var running sync.WaitGroup
	for w := range writers {
		l, _ := logTo(dir)
		l.size = writers * each * int64(len(line(1000))) / 2
		running.Go(func() {
			for n := range each {
				l.Append(event(1000*(w+1) + n))
				if err := l.Flush(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	running.Wait()
	list := all(t, dir)
	// Wine looks for the end of a file and then writes there, so that of two
	// who do it at once one overwrites the other's line, now and then, or a part
	// of it.
	if (len(list.Events) != writers*each || list.Skipped != 0) && !onWine() || len(list.Events)+list.Skipped < writers*each*9/10 {
		t.Errorf("%d events, %d broken", len(list.Events), list.Skipped)
	}
	next := map[int]int{}
	for _, n := range pids(list) {
		if w := n / 1000; n%1000 < next[w] || n%1000 > next[w] && !onWine() {
			t.Fatalf("%d where %d was expected", n, 1000*w+next[w])
		}
		next[n/1000] = n%1000 + 1
	}
	if names, err := rotated(dir); err != nil || len(names) != 1 && len(names) != 2 {
		t.Errorf("%v, %v", names, err)
	}
}

// While nothing can be written, that is said once and nothing is lost.
func TestFailure(t *testing.T) {
	dir := t.TempDir()
	l, said := logTo(dir)
	appendAll(t, l, 1)
	if err := errors.Join(os.Remove(path(dir)), os.Mkdir(path(dir), 0o700)); err != nil {
		t.Fatal(err)
	}
	l.Append(event(2))
	for range 3 {
		if err := l.Flush(); err == nil {
			t.Fatal("written into a directory")
		}
	}
	if got := said.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, "events.jsonl: it is a directory, not a file; remove it") {
		t.Errorf("said %q", got)
	}
	if err := os.Remove(path(dir)); err != nil {
		t.Fatal(err)
	}
	appendAll(t, l, 3)
	wants(t, dir, 2, 3)
	if got := said.String(); strings.Count(got, "\n") != 2 || !strings.Contains(got, "can be written again") {
		t.Errorf("said %q", got)
	}
}

// What waits is tried again although nothing more happens.
func TestRetry(t *testing.T) {
	dir := t.TempDir()
	l, said := logTo(dir)
	l.retry = time.Millisecond
	if err := os.Mkdir(path(dir), 0o700); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- l.Serve(ctx) }()
	l.Append(event(1))
	eventually(t, "the failure", func() bool { return said.String() != "" })
	if err := os.Remove(path(dir)); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the line", func() bool { return len(all(t, dir).Events) == 1 })
	cancel()
	<-ended
}

func TestRemovedUnderUs(t *testing.T) {
	dir := in(t.TempDir(), "state")
	l, said := logTo(dir)
	appendAll(t, l, 1)
	if err := os.Remove(path(dir)); err != nil {
		t.Fatal(err)
	}
	appendAll(t, l, 2)
	wants(t, dir, 2)
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	appendAll(t, l, 3)
	wants(t, dir, 3)
	if said.String() != "" {
		t.Errorf("said %q", said.String())
	}
	prepared := errors.New("no place")
	l = New(Options{Dir: in(dir, "below"), Prepare: func() error { return prepared }})
	l.Append(event(4))
	if err := l.Flush(); !errors.Is(err, prepared) {
		t.Error(err)
	}
}

// A line of which only a part was written does not spoil the next one.
func TestHalfLine(t *testing.T) {
	dir := t.TempDir()
	write(t, path(dir), line(1)+line(2)[:20])
	l, _ := logTo(dir)
	appendAll(t, l, 3)
	if list := all(t, dir); !slices.Equal(pids(list), []int{1, 3}) || list.Skipped != 1 {
		t.Errorf("%v, %d broken", pids(list), list.Skipped)
	}
}

// However long the disk hangs, nobody waits for it, and the newest are kept.
func TestHangingDisk(t *testing.T) {
	dir := in(t.TempDir(), "state")
	hangs, goOn := make(chan bool), make(chan bool)
	var said buffer
	l := New(Options{Dir: dir, Log: slog.New(slog.NewTextHandler(&said, nil)), Prepare: func() error {
		hangs <- true
		<-goOn
		return os.Mkdir(dir, 0o700)
	}})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- l.Serve(ctx) }()
	l.Append(event(0))
	<-hangs
	for n := 1; n <= most+500; n++ {
		l.Append(event(n))
	}
	close(goOn)
	eventually(t, "all is written", func() bool { return len(all(t, dir).Events) == 1+most })
	got := pids(all(t, dir))
	if got[0] != 0 || got[1] != 501 || got[most] != most+500 {
		t.Errorf("it has %v…%v", got[:2], got[most])
	}
	cancel()
	<-ended
	if got := said.String(); !strings.Contains(got, "dropped=500") {
		t.Errorf("said %q", got)
	}
}

// Whatever the lock is, events are written; only the file grows.
func TestRotationFails(t *testing.T) {
	dir := t.TempDir()
	l, said := logTo(dir)
	l.size = int64(len(line(1)))
	if err := os.Mkdir(filepath.Join(dir, lockName), 0o700); err != nil {
		t.Fatal(err)
	}
	appendAll(t, l, 1, 2, 3)
	appendAll(t, l, 4)
	wants(t, dir, 1, 2, 3, 4)
	if got := said.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, "cannot be rotated") {
		t.Errorf("said %q", got)
	}
	if err := os.Remove(filepath.Join(dir, lockName)); err != nil {
		t.Fatal(err)
	}
	appendAll(t, l, 5)
	wants(t, dir, 1, 2, 3, 4, 5)
	if names, err := rotated(dir); err != nil || len(names) != 1 {
		t.Errorf("%v, %v", names, err)
	}
}

package workspace

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"lamplighter/monitor"
)

func TestUntold(t *testing.T) {
	line := func(n int) happening { return happening{At: noon.Add(time.Duration(n) * time.Hour), What: "kept"} }
	history := []happening{line(1), line(2), line(2), line(3)}
	for _, test := range []struct {
		last happening
		any  bool
		want int
	}{
		{happening{}, false, 4}, {line(1), true, 3}, {line(2), true, 1}, {line(3), true, 0}, {line(9), true, 4},
	} {
		if got := untold(history, test.last, test.any); len(got) != test.want {
			t.Errorf("%+v: %d, want %d", test.last, len(got), test.want)
		}
	}
}

// A broken memory of what was told makes it be told again, and not go lost.
func TestToldIsBroken(t *testing.T) {
	l := newLab(t)
	m := l.manager(nil)
	l.create(m, Request{Kind: Temp})
	for _, text := range []string{"", "{", `{"told":null}`, "[]"} {
		write(t, m.o.Dir, map[string]string{toldFile: text})
		var e events
		m.newTeller(e.record).all()
		if got := e.kinds(); got != "workspace_created" {
			t.Errorf("%q: %s", text, got)
		}
		var again events
		m.newTeller(again.record).all()
		if got := again.kinds(); got != "" {
			t.Errorf("%q: told again: %s", text, got)
		}
	}
}

// A process that is killed between the two has told what it has not written down as
// told. What the lifecycle log has is not told again, and the rest is.
func TestToldByAProcessThatWasKilled(t *testing.T) {
	l := newLab(t)
	m := l.manager(nil)
	l.create(m, Request{Kind: Temp})
	var before events
	m.newTeller(before.record).all()
	written := slices.Clone(before.list)
	for i := range written { // as the file has them
		written[i].At = written[i].At.UTC().Truncate(time.Millisecond)
	}
	if err := os.Remove(m.store.path(toldFile)); err != nil {
		t.Fatal(err)
	}
	l.create(m, Request{Kind: Persistent})
	full := errors.New("the disk is full")
	m.o.Chronicle = Chronicle{
		Flush:   func() error { return full },
		Written: func(time.Time) ([]monitor.Event, error) { return written, nil },
	}
	for _, want := range []string{"workspace_created", "workspace_created", ""} {
		var e events
		m.newTeller(e.record).all()
		if got := e.kinds(); got != want {
			t.Errorf("%v: %q, want %q", full, got, want)
		}
		if _, err := os.Lstat(m.store.path(toldFile)); (err == nil) != (full == nil) {
			t.Errorf("%v: told.json: %v", full, err)
		}
		full = nil // the first time it could not be written, and is told once more
	}
}

// What could not be written down is tried again, also when nothing happens any more.
func TestToldIsWrittenDownLater(t *testing.T) {
	l := newLab(t)
	m := l.manager(nil)
	l.create(m, Request{Kind: Temp})
	var full atomic.Bool
	full.Store(true)
	m.o.Chronicle.Flush = func() error {
		if full.Load() {
			return errors.New("the disk is full")
		}
		return nil
	}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var e events
		happened := monitor.NewBell()
		happened.Ring()
		teller := m.newTeller(e.record)
		ended := make(chan error)
		go func() { ended <- teller.serve(ctx, happened) }()
		synctest.Wait()
		if _, err := os.Lstat(m.store.path(toldFile)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("on a full disk: %v", err)
		}
		full.Store(false)
		time.Sleep(2 * saveAgain) // of the bubble's clock
		synctest.Wait()
		if _, err := os.Lstat(m.store.path(toldFile)); err != nil {
			t.Error(err)
		}
		if got := e.kinds(); got != "workspace_created" {
			t.Errorf("told: %s", got)
		}
		cancel()
		<-ended
	})
}

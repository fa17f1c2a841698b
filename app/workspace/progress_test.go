package workspace

import (
	"os"
	"testing"
	"time"

	"lamplighter/app/workspace/tree"
)

func TestEstimate(t *testing.T) {
	type count = tree.Count
	for _, c := range []struct {
		name    string
		elapsed time.Duration
		done    count
		total   *count
		percent int
		left    time.Duration
	}{
		{"nothing is known", time.Minute, count{Files: 5, Bytes: 5}, nil, -1, -1},
		{"an empty source", time.Minute, count{}, &count{}, -1, -1},
		{"the beginning", 10 * time.Millisecond, count{Files: 1, Bytes: 10}, &count{Files: 10, Bytes: 100}, 10, -1},
		{"half", 10 * time.Second, count{Files: 5, Bytes: 50}, &count{Files: 10, Bytes: 100}, 50, 10 * time.Second},
		{"all files and few bytes", 10 * time.Second, count{Files: 10, Bytes: 0}, &count{Files: 10, Bytes: 100}, 50, 10 * time.Second},
		{"only empty files", 9 * time.Second, count{Files: 9, Bytes: 0}, &count{Files: 10, Bytes: 0}, 90, time.Second},
		{"git knows files", 10 * time.Second, count{Files: 25, Bytes: -1}, &count{Files: 100, Bytes: -1}, 25, 30 * time.Second},
		{"the source has grown", 10 * time.Second, count{Files: 30, Bytes: 300}, &count{Files: 10, Bytes: 100}, 100, 0},
		{"for ever", 10 * time.Hour, count{Files: 1, Bytes: 1}, &count{Files: 60, Bytes: 60}, 1, longestLeft},
		{"nothing yet", time.Minute, count{}, &count{Files: 60, Bytes: 60}, 0, -1},
	} {
		p := estimate(Copying, c.elapsed, c.done, c.total)
		if p.Percent != c.percent || p.Left != c.left && (c.left < 0 || p.Left.Round(time.Millisecond) != c.left) || p.Phase != Copying || p.Files < 0 || p.Bytes < 0 {
			t.Errorf("%s: %+v", c.name, p)
		}
	}
}

// How far something has come is told by whoever holds the lock, and forgotten
// with its end, also where that came by a crash.
func TestMaking(t *testing.T) {
	l := newLab(t)
	m := l.manager(nil)
	if list, err := m.Making(); err != nil || len(list) != 0 {
		t.Fatalf("without a store: %v, %v", list, err)
	}
	w := l.create(m, Request{})
	release, err := m.store.hold(t.Context(), w.ID)
	if err != nil {
		t.Fatal(err)
	}
	var told []Progress
	tell, end := m.telling(w, func(p Progress) { told = append(told, p) })
	tell(Progress{Phase: Counting})
	tell(Progress{Phase: Copying, Percent: 1, Left: -1})
	tell(Progress{Phase: Copying, Percent: 2})
	other := l.manager(nil)
	list, err := other.Making()
	if err != nil || len(list) != 1 || list[0].ID != w.ID || list[0].Name != w.Name || list[0].Progress.Phase != Copying || list[0].Progress.Left != -1 {
		t.Errorf("%+v, %v", list, err)
	}
	if len(told) != 3 {
		t.Errorf("whoever asked was told %v", told)
	}
	release() // it has crashed
	if list, err := other.Making(); err != nil || len(list) != 0 {
		t.Errorf("after a crash: %+v, %v", list, err)
	}
	end()
	if _, err := os.Lstat(m.store.makingPath(w.ID)); err == nil {
		t.Error("the note stays")
	}
	if err := os.WriteFile(m.store.makingPath(w.ID), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if list, err := other.Making(); err != nil || len(list) != 0 {
		t.Errorf("a broken note: %+v, %v", list, err)
	}
}

package workspace

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"lamplighter/app/workspace/tree"
	"lamplighter/monitor/statefile"
)

// makingPause is between two notes of how far something has come.
const makingPause = 500 * time.Millisecond

// makingLimit bounds what is read of such a note.
const makingLimit = 1 << 16

// note is what is written down of one. What nobody knows of the time that is left
// is written too.
type note struct {
	Making
	Left time.Duration `json:"left_nanoseconds"`
}

func (s store) makingPath(id string) string { return s.path(makingDir, id+".json") }

func (s store) makingFile(id string) statefile.File[note] {
	return statefile.File[note]{Path: s.makingPath(id), Limit: makingLimit, Broken: errors.New("it does not say how far a workspace has come")}
}

// telling writes down how far an operation on a workspace has come, for other
// processes, and tells progress, which may be nil. The caller holds the
// workspace's lock until it has called end: the note counts as long as it is held.
// That it cannot be written is no reason to give up what is done.
func (m *Manager) telling(w Workspace, progress func(Progress)) (tell func(Progress), end func()) {
	var turn, mu sync.Mutex // of progress, and of the note
	var last time.Time
	var phase Phase
	file := m.store.makingFile(w.ID)
	tell = func(p Progress) {
		if progress != nil {
			// One after the other, and beside the note: whoever is told may take his time.
			turn.Lock()
			progress(p)
			turn.Unlock()
		}
		mu.Lock()
		defer mu.Unlock()
		at := time.Now()
		if p.Phase == phase && at.Sub(last) < makingPause {
			return
		}
		last, phase = at, p.Phase
		if err := file.Write(note{Making{ID: w.ID, Name: w.Name, Job: w.Job, Progress: p}, p.Left}); err != nil {
			m.o.Log.Debug("writing down how far a workspace has come", "error", err)
		}
	}
	return tell, func() {
		mu.Lock()
		defer mu.Unlock()
		_ = os.Remove(file.Path)
	}
}

// Making are the workspaces that somebody is at work on, with how far that has
// come. What a process has left that has ended is not among them.
func (m *Manager) Making() ([]Making, error) {
	entries, err := os.ReadDir(m.store.path(makingDir))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	list := []Making{}
	for _, entry := range entries {
		id, ok := strings.CutSuffix(entry.Name(), ".json")
		if !ok || uuid.Validate(id) != nil {
			continue
		}
		n, err := m.store.makingFile(id).Read()
		if err != nil || n.ID != id {
			continue // it has ended since
		}
		n.Progress.Left = n.Left
		if release, err := m.store.try(id); err == nil {
			release() // whoever wrote it has ended
			continue
		}
		list = append(list, n.Making)
	}
	slices.SortFunc(list, func(a, b Making) int { return strings.Compare(a.ID, b.ID) })
	return list, nil
}

// countAfter is how long a copy goes on before its source is counted: one that is
// done by then needs no percentage, and does not wait for one.
const countAfter = 300 * time.Millisecond

// meter tells how far a copy has come. Its source is counted besides.
type meter struct {
	tell    func(Progress)
	started time.Time
	total   atomic.Pointer[tree.Count]
	end     func() // has to be called; nothing is told after it
}

// newMeter begins to measure a copy of what is in from and not skipped.
func newMeter(ctx context.Context, from string, skip func(string) bool, tell func(Progress)) *meter {
	m := &meter{tell: tell, started: time.Now()}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		timer := time.NewTimer(countAfter)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
			return
		}
		if total, err := count(ctx, from, skip); err == nil {
			m.total.Store(&total)
		}
	}()
	m.end = func() {
		cancel()
		<-done
	}
	return m
}

// copied tells how much was copied.
func (m *meter) copied(done tree.Count) {
	m.tell(estimate(Copying, time.Since(m.started), done, m.total.Load()))
}

// count counts what is below a directory as it would be read. What cannot be
// looked at is left out: the copy says so.
func count(ctx context.Context, dir string, skip func(string) bool) (tree.Count, error) {
	var total tree.Count
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case path == "." || err != nil:
			return nil
		case skip != nil && skip(path) && d.IsDir():
			return fs.SkipDir
		case skip != nil && skip(path):
			return nil
		}
		total.Files++
		if d.Type().IsRegular() {
			if info, err := d.Info(); err == nil {
				total.Bytes += info.Size()
			}
		}
		return nil
	})
	return total, err
}

// checkout tells how far git has come.
func checkout(tell func(Progress)) func(files, total int64) {
	started := time.Now()
	return func(files, total int64) {
		tell(estimate(CheckedBy, time.Since(started), tree.Count{Files: files, Bytes: -1}, &tree.Count{Files: total, Bytes: -1}))
	}
}

// The bounds of what is said of the time that is left.
const (
	leastElapsed = 500 * time.Millisecond
	leastPart    = 0.01
	longestLeft  = 100 * time.Hour
)

// estimate is how far something has come. A total of nil, and what is negative,
// is not known. Files and bytes count for the same: which of them takes the time
// depends on the disk.
func estimate(phase Phase, elapsed time.Duration, done tree.Count, total *tree.Count) Progress {
	p := Progress{Phase: phase, Files: max(done.Files, 0), Bytes: max(done.Bytes, 0), FilesTotal: -1, BytesTotal: -1, Percent: -1, Left: -1}
	if total == nil {
		return p
	}
	var part, parts float64
	add := func(done, total int64) int64 {
		if total > 0 {
			part += min(float64(max(done, 0))/float64(total), 1)
			parts++
		}
		return max(total, -1)
	}
	p.FilesTotal, p.BytesTotal = add(done.Files, total.Files), add(done.Bytes, total.Bytes)
	if parts == 0 {
		return p
	}
	part /= parts
	p.Percent = int(part * 100)
	if elapsed >= leastElapsed && part >= leastPart {
		p.Left = min(time.Duration(float64(elapsed)*(1-part)/part), longestLeft)
	}
	return p
}

// pace tells how far a copy has come, and how long it will take if it goes on as
// it went.
func pace(tell func(Progress), phase Phase, total tree.Count) func(tree.Count) {
	began := time.Now()
	return func(done tree.Count) { tell(paceOf(phase, done, total, time.Since(began))) }
}

// paceOf is what is told of done when that took so long. A source that grows
// meanwhile has no more than all of it done.
func paceOf(phase Phase, done, total tree.Count, took time.Duration) Progress {
	p := Progress{
		Phase: phase, Files: done.Files, FilesTotal: max(total.Files, done.Files),
		Bytes: done.Bytes, BytesTotal: max(total.Bytes, done.Bytes), Percent: -1, Left: -1,
	}
	part, whole := p.Bytes, p.BytesTotal
	if whole == 0 {
		part, whole = p.Files, p.FilesTotal
	}
	if whole == 0 {
		return p
	}
	share := float64(part) / float64(whole)
	p.Percent = int(100 * share)
	if part > 0 {
		p.Left = time.Duration(float64(took) * (1 - share) / share)
	}
	return p
}

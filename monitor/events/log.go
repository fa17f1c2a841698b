package events

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/statefile"
)

const (
	mostWaiting = 1000             // events, while the disk cannot be written
	retryAfter  = 30 * time.Second // although nothing more has happened
	fileSize    = 5 << 20          // bytes, at which the file is rotated
	rotatedKept = 2                // files
)

// Log is the lifecycle log of the background process: it queues events, writes
// and rotates. It keeps no file open; events are rare. All methods are safe for
// concurrent use.
type Log struct {
	dir  string
	log  *slog.Logger
	size int64
	wake monitor.Bell

	mu      sync.Mutex
	waiting []monitor.Event
	dropped int       // since the last success
	freed   uint64    // see GivenBack
	since   time.Time // of the first event

	writing sync.Mutex // held by Flush, also while the disk hangs
	failing bool
}

// New returns the Log in the state directory dir. Nothing is read or written
// before Serve or Flush.
func New(dir string, log *slog.Logger) *Log {
	return &Log{dir: dir, log: log, size: fileSize, wake: monitor.NewBell()}
}

// Append takes an event. It never waits: Serve writes it. While the disk cannot
// be written a thousand events wait; more are dropped and counted.
func (l *Log) Append(e monitor.Event) {
	l.mu.Lock()
	if len(l.waiting) < mostWaiting {
		l.waiting = append(l.waiting, e)
	} else {
		l.dropped++
	}
	if l.since.IsZero() {
		l.since = e.At
	}
	if e.Unused {
		l.freed += e.FreedBytes
	}
	l.mu.Unlock()
	l.wake.Ring()
}

// Serve writes what is appended until ctx ends, and then what still waits. The
// first of several failures is logged; it tries again with the next event and
// after the time to retry.
func (l *Log) Serve(ctx context.Context) error {
	retry := time.NewTimer(0)
	defer retry.Stop()
	for {
		select {
		case <-ctx.Done():
			_ = l.Flush() // it has logged what failed
			return ctx.Err()
		case <-l.wake:
		case <-retry.C:
		}
		if l.Flush() != nil {
			retry.Reset(retryAfter)
		}
	}
}

// Flush writes what waits, and returns when all of it is written or why it is
// not; then it still waits.
func (l *Log) Flush() error {
	l.writing.Lock()
	defer l.writing.Unlock()
	l.mu.Lock()
	batch := slices.Clone(l.waiting)
	l.mu.Unlock()
	if len(batch) == 0 {
		return nil
	}
	unrotated := l.rotate()
	done, err := Write(l.dir, batch...)

	l.mu.Lock()
	l.waiting = slices.Delete(l.waiting, 0, done)
	dropped := l.dropped
	if err == nil {
		l.dropped = 0
	}
	l.mu.Unlock()
	switch failure := errors.Join(unrotated, err); {
	case failure != nil && !l.failing:
		l.log.Warn("the lifecycle log cannot be written or rotated; what happens is kept and tried again", "error", failure)
		l.failing = true
	case failure == nil && (l.failing || dropped > 0):
		l.log.Warn("the lifecycle log can be written again", "dropped", dropped)
		l.failing = false
	}
	return err
}

// rotate sets a file that is full aside, and removes the oldest ones. Where that
// fails the file grows: better a long file than none.
func (l *Log) rotate() error {
	info, err := os.Lstat(path(l.dir))
	if err != nil || info.Size() < l.size {
		return nil // Write says what is wrong with it
	}
	paths, err := rotated(l.dir)
	if err != nil {
		return err
	}
	at := time.Now().UTC()
	if len(paths) > 0 { // whose names say their order, also when the clock was set back
		last, _ := time.Parse(rotatedForm, filepath.Base(paths[len(paths)-1]))
		if !at.After(last) {
			at = last.Add(time.Millisecond)
		}
	}
	aside := filepath.Join(l.dir, at.Format(rotatedForm))
	if err := statefile.Rename(path(l.dir), aside); err != nil {
		return statefile.Error(err, path(l.dir))
	}
	for _, old := range paths[:max(len(paths)+1-rotatedKept, 0)] {
		err = errors.Join(err, os.Remove(old))
	}
	return err
}

// GivenBack is the memory, in bytes, that unused servers had when they were ended while
// this process runs, and the time of its first event. Both are zero while nothing was
// given back.
func (l *Log) GivenBack() (bytes uint64, since time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.freed == 0 {
		return 0, time.Time{}
	}
	return l.freed, l.since
}

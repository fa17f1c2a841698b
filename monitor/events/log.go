package events

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"lamplighter/monitor"
	"lamplighter/monitor/plainfile"
)

const (
	// most is how many events wait for a disk that cannot be written. Beyond
	// it the oldest are dropped.
	most = 1000
	// retryTime is when what waits is tried again although nothing has happened.
	retryTime = 30 * time.Second
)

// Options of a Log. Only Dir is needed.
type Options struct {
	Dir string       // the state directory
	Log *slog.Logger // nil: silent
	// Prepare makes Dir where it is missing; nil: with mode 0700, if need be
	// with the directories above it.
	Prepare func() error
}

// Log appends events to the lifecycle log. It keeps no file open, because
// others may rotate or remove it; events are rare. All methods are safe for
// concurrent use, and so is another process's Log of the same directory.
type Log struct {
	dir     string
	log     *slog.Logger
	prepare func() error
	retry   time.Duration
	size    int64 // at which the file is set aside

	wake chan struct{}

	mu      sync.Mutex
	waiting []monitor.Event
	dropped int // since the last success

	writing      sync.Mutex // held by Flush, also while the disk hangs
	failing      bool
	rotateFailed bool
}

// New returns a Log. Nothing is written before Serve or Flush.
func New(o Options) *Log {
	if o.Log == nil {
		o.Log = slog.New(slog.NewTextHandler(io.Discard, nil))
	}
	if o.Prepare == nil {
		o.Prepare = func() error { return os.MkdirAll(o.Dir, 0o700) }
	}
	return &Log{dir: o.Dir, log: o.Log, prepare: o.Prepare, retry: retryTime, size: fileSize, wake: make(chan struct{}, 1)}
}

// Append takes an event. It never waits: Serve writes it. While the disk cannot
// be written a thousand events wait, then the oldest are dropped and counted.
func (l *Log) Append(e monitor.Event) {
	l.mu.Lock()
	l.waiting = append(l.waiting, e)
	l.trim()
	l.mu.Unlock()
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// trim keeps the newest of what waits; l.mu is held.
func (l *Log) trim() {
	if over := len(l.waiting) - most; over > 0 {
		l.waiting = append([]monitor.Event(nil), l.waiting[over:]...)
		l.dropped += over
	}
}

// Serve writes what is appended until ctx ends, and then what still waits. A
// file or directory that cannot be written is logged once, and tried again with
// the next event and every half minute.
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
			retry.Reset(l.retry)
		}
	}
}

// Flush writes what waits, and returns when all of it is written or why it is
// not; then it still waits. The first of several failures is logged.
func (l *Log) Flush() error {
	l.writing.Lock()
	defer l.writing.Unlock()
	l.mu.Lock()
	batch := l.waiting
	l.waiting = nil
	l.mu.Unlock()
	if len(batch) == 0 {
		return nil
	}
	written, err := l.write(batch)

	l.mu.Lock()
	l.waiting = append(batch[written:len(batch):len(batch)], l.waiting...)
	l.trim()
	dropped := l.dropped
	if err == nil {
		l.dropped = 0
	}
	l.mu.Unlock()
	switch {
	case err != nil && !l.failing:
		l.log.Warn("the lifecycle log cannot be written; what happens is kept and tried again", "error", err)
	case err == nil && (l.failing || dropped > 0):
		l.log.Warn("the lifecycle log can be written again", "dropped", dropped)
	}
	l.failing = err != nil
	return err
}

// write appends the events and tells how many of them it has written.
func (l *Log) write(batch []monitor.Event) (written int, err error) {
	f, size, err := l.open()
	if err != nil {
		return 0, err
	}
	defer func() {
		if f != nil {
			err = errors.Join(err, f.Close())
		}
	}()
	size, err = finishLine(f, size)
	for written < len(batch) && err == nil {
		var line []byte
		if line, err = encode(batch[written]); err != nil {
			// Only a time that JSON cannot express does this.
			l.log.Error("an event cannot be encoded and is left out", "kind", batch[written].Kind, "error", err)
			written, err = written+1, nil
			continue
		}
		if size > 0 && size+int64(len(line)) > l.size {
			if f, size, err = l.rotate(f); err != nil {
				return written, err
			}
		}
		// One call for a whole line: another process may append too.
		if _, err = f.Write(line); err == nil {
			size += int64(len(line))
			written++
		}
	}
	if err != nil {
		err = plainfile.Error(err, path(l.dir))
	}
	return written, err
}

// open opens the file for appending, which makes it and its directory where
// they are missing, and keeps it private.
func (l *Log) open() (*os.File, int64, error) {
	// It is read too, see finishLine.
	open := func() (*os.File, error) {
		return plainfile.Open(path(l.dir), os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
	}
	f, err := open()
	if errors.Is(err, fs.ErrNotExist) {
		if err := l.prepare(); err != nil {
			return nil, 0, fmt.Errorf("its directory cannot be made: %w", err)
		}
		f, err = open()
	}
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err == nil && info.Mode().Perm()&0o077 != 0 {
		err = f.Chmod(0o600)
	}
	if err != nil {
		f.Close()
		return nil, 0, plainfile.Error(err, path(l.dir))
	}
	return f, info.Size(), nil
}

// finishLine ends a line of which a full disk took only a part, so that the
// next one is whole.
func finishLine(f *os.File, size int64) (int64, error) {
	var last [1]byte
	if size == 0 {
		return 0, nil
	}
	if _, err := f.ReadAt(last[:], size-1); err != nil || last[0] == '\n' {
		return size, nil // shortened by somebody meanwhile: nothing to finish
	}
	_, err := f.Write([]byte("\n"))
	return size + 1, err
}

// rotate closes f, sets the file aside and opens its successor. Where it
// cannot be set aside it goes on, which is logged once: better a long file than
// none.
func (l *Log) rotate(f *os.File) (*os.File, int64, error) {
	full, err := f.Stat()
	f.Close() // Windows renames no file that is open
	if err == nil {
		err = l.setAside(full)
	}
	switch {
	case err != nil && !l.rotateFailed:
		l.log.Warn("the lifecycle log cannot be rotated and grows", "error", err)
	case err == nil && l.rotateFailed:
		l.log.Info("the lifecycle log can be rotated again")
	}
	l.rotateFailed = err != nil
	next, size, openErr := l.open()
	if err != nil {
		size = 0 // enough for this time
	}
	return next, size, openErr
}

// setAside renames the file that is full and removes the oldest ones. Whoever
// holds the lock does it for all; one that comes later finds another file at
// the path and leaves that alone.
func (l *Log) setAside(full fs.FileInfo) error {
	lockPath := filepath.Join(l.dir, lockName)
	if err := plainfile.Check(lockPath); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	lock := flock.New(lockPath, flock.SetFlag(os.O_CREATE|os.O_RDONLY|plainfile.NoFollow), flock.SetPermissions(0o600))
	ok, err := lock.TryLock()
	if err != nil {
		return plainfile.Error(err, lockPath)
	}
	defer lock.Close()
	if !ok {
		return nil
	}
	there, err := os.Lstat(path(l.dir))
	if err != nil || !os.SameFile(full, there) {
		return nil // rotated or removed by somebody else
	}
	names, err := rotated(l.dir)
	if err != nil {
		return err
	}
	aside := filepath.Join(l.dir, rotatedAt(time.Now(), names))
	if err := os.Rename(path(l.dir), aside); err != nil {
		return plainfile.Error(err, path(l.dir))
	}
	for _, name := range names[:max(len(names)+1-rotatedKept, 0)] {
		if err := os.Remove(filepath.Join(l.dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return plainfile.Error(err, l.dir)
		}
	}
	return nil
}

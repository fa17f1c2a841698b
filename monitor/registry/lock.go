package registry

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"time"

	"github.com/gofrs/flock"

	"lamplighter/monitor"
)

// ErrLocked is wrapped by the error of an operation that did not get the lock
// in its time. Nothing has been read or changed; try again later.
var ErrLocked = errors.New("another program holds its lock")

// lockEvery is how often a lock that is taken is tried.
const lockEvery = 10 * time.Millisecond

// lock takes the lock that every writer of the registry takes, Python's
// filelock.FileLock among them: flock(2) where there is one; on Windows the
// first byte of the file, by LockFileEx here and by msvcrt.locking there.
//
// filelock removes the file when it lets go. A lock on a file that has been
// removed locks nobody out, so it counts only while it is the one at the path.
func (f *File) lock(ctx context.Context) (unlock func(), err error) {
	fail := func(err error) (func(), error) {
		return nil, fmt.Errorf("take the lock %s: %w", monitor.Clean(f.lockPath()), err)
	}
	limit, cancel := context.WithTimeoutCause(ctx, f.limit, ErrLocked)
	defer cancel()
	for {
		// To open a pipe could wait for ever.
		if info, err := os.Lstat(f.lockPath()); err == nil && !info.Mode().IsRegular() {
			return fail(errors.New("it is not a regular file; move it away"))
		}
		lock := flock.New(f.lockPath())
		ok, err := lock.TryLock()
		switch {
		case err != nil && !passing(err):
			return fail(err)
		case ok && current(lock):
			return func() {
				if err := lock.Unlock(); err != nil {
					f.log.Warn("cannot release the lock of the registry", "error", err)
				}
			}, nil
		case ok:
			if err := lock.Unlock(); err != nil {
				return fail(err)
			}
		}
		select {
		case <-limit.Done():
			if err == nil || ctx.Err() != nil {
				err = context.Cause(limit)
			}
			return fail(err)
		case <-time.After(lockEvery):
		}
	}
}

// current tells whether what is locked is what lies at the path.
func current(lock *flock.Flock) bool {
	held, err := lock.Stat()
	if err != nil {
		return false
	}
	now, err := os.Stat(lock.Path())
	return err == nil && os.SameFile(held, now)
}

// passing tells whether a failure may be over in a moment: Windows refuses to
// open a file that somebody has removed and not closed yet.
func passing(err error) bool {
	return runtime.GOOS == "windows" && errors.Is(err, fs.ErrPermission)
}

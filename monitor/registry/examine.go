package registry

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

// Health is what can be told of a registry by reading it.
type Health struct {
	Path       string
	Exists     bool
	NotRegular bool  // it leads to something that is no file, as for who wants none
	Corrupt    error // why no program can use it
	Err        error // why it cannot be read

	Entries    int           // that were understood
	Strange    int           // records that were not
	Dead       int           // entries whose process has gone
	OldestDead time.Duration // since the last heartbeat of the deadest of them

	Lock       string
	LockErr    error // why it cannot be taken, ever
	Held       bool  // by another program, for longer than anybody should
	Holder     int   // pid, 0 when it is not known
	HolderName string
}

// Examine looks at the registry in a directory of Serena, and changes and makes
// nothing: not even the lock file, which is taken for a moment where it is
// there. It takes at most about two seconds.
func Examine(ctx context.Context, dir string) Health {
	h := Health{Path: filepath.Join(dir, fileName), Lock: filepath.Join(dir, lockName)}
	h.examineFile(time.Now(), lookAt)
	h.examineLock(ctx, lockLimit)
	return h
}

func (h *Health) examineFile(now time.Time, look func(int) (alive, bool)) {
	info, err := os.Stat(h.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return
	case err == nil && !info.Mode().IsRegular() && !info.IsDir():
		h.Exists, h.NotRegular = true, true
		return
	}
	h.Exists = true
	// Whoever writes puts a whole new file in its place, so no lock is needed.
	d, err := load(h.Path)
	switch {
	case errors.Is(err, errCorrupt):
		h.Corrupt = err
		return
	case err != nil:
		h.Err = err
		return
	}
	entries := d.entries()
	h.Entries = len(entries)
	for _, s := range d.slots {
		if !s.ok {
			h.Strange++
		}
	}
	for _, e := range entries {
		if _, lives := look(e.PID); !lives {
			h.Dead++
			h.OldestDead = max(h.OldestDead, now.Sub(e.LastHeartbeat))
		}
	}
}

// ExamineLock looks at another lock as Examine does at the registry's: it is
// held when it cannot be had within two seconds, or until the deadline of ctx.
// Only what is about the lock is filled in.
func ExamineLock(ctx context.Context, path string) Health {
	h := Health{Lock: path}
	h.examineLock(ctx, lockLimit)
	return h
}

// examineLock tries to take the lock for as long as an operation would.
func (h *Health) examineLock(ctx context.Context, limit time.Duration) {
	info, err := os.Lstat(h.Lock)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return
	case err != nil:
		h.LockErr = err
		return
	case !info.Mode().IsRegular(): // to open a pipe could wait for ever
		h.LockErr = errors.New("it is not a regular file")
		return
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	// A shared lock is enough to see that nobody holds it, and keeps no other
	// who only looks from seeing the same.
	lock := flock.New(h.Lock, flock.SetFlag(os.O_RDONLY))
	ok, err := lock.TryRLockContext(ctx, lockEvery)
	switch {
	case ok:
		_ = lock.Unlock() // it ends with the descriptor
	case errors.Is(err, context.DeadlineExceeded):
		h.Held = true
		h.Holder, h.HolderName = lockHolder(info)
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission), errors.Is(err, context.Canceled):
	default:
		h.LockErr = err
	}
}

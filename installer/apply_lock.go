package installer

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

const lockName = "install.lock"

// How long another installation is waited for, and how often it is looked.
const (
	lockTime  = 30 * time.Second // more than the commands of another take
	lockEvery = 50 * time.Millisecond
	lockLost  = 20 // times that the directory of the lock goes while it is made
)

func (i *Installer) lockPath() string { return filepath.Join(i.o.StateDir, lockName) }

// lock takes the lock of installations. It goes with the process.
func (i *Installer) lock(ctx context.Context) (*flock.Flock, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, lockTime, ErrBusy)
	defer cancel()
	tick := time.NewTicker(lockEvery)
	defer tick.Stop()
	for lost := 0; ; {
		lock, err := tryLock(i.lockPath())
		if errors.Is(err, fs.ErrNotExist) { // whoever has uninstalled took the directory with him
			if err = os.MkdirAll(i.o.StateDir, 0o700); err == nil {
				continue
			}
			// One that gives up removes what is above it meanwhile.
			if lost++; lost < lockLost && errors.Is(err, fs.ErrNotExist) {
				err = nil
			}
		}
		if err != nil {
			return nil, failure("the lock cannot be taken:", i.lockPath(), err)
		}
		if lock != nil {
			return lock, nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			if errors.Is(context.Cause(ctx), ErrBusy) {
				return nil, fmt.Errorf("%w; try again when it is done", ErrBusy)
			}
			return nil, ctx.Err()
		}
	}
}

// tryLock tries once; nil means that it is taken. The lock counts only while its
// file lies at the path: whoever lets go of one may remove it.
func tryLock(path string) (*flock.Flock, error) {
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "lock", Path: path, Err: errors.New("it is not a regular file; remove it")}
	}
	lock := flock.New(path, flock.SetFlag(os.O_CREATE|os.O_RDWR|noFollow), flock.SetPermissions(0o600))
	ok, err := lock.TryLock()
	if err != nil || !ok {
		return nil, errors.Join(err, lock.Close())
	}
	now, err := os.Lstat(path)
	if err == nil {
		var held os.FileInfo
		if held, err = lock.Stat(); err == nil && os.SameFile(now, held) {
			return lock, nil
		}
	}
	if errors.Is(err, fs.ErrNotExist) { // the next try makes it anew
		err = nil
	}
	return nil, errors.Join(lock.Close(), err)
}

// forgetPlace removes the lock, which nobody holds, and the directories that were
// made for it. Whoever takes the lock meanwhile notices.
func (i *Installer) forgetPlace(made []string) {
	lock, err := tryLock(i.lockPath())
	if err != nil || lock == nil {
		return
	}
	// Windows removes no file that is open.
	if os.Remove(i.lockPath()) != nil {
		_ = lock.Close() // nothing was written
		_ = os.Remove(i.lockPath())
	} else {
		_ = lock.Close()
	}
	if filepath.Base(i.o.StateDir) == ownName {
		made = append(made, i.o.StateDir)
	}
	removeDirs(made)
}

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

	"lamplighter/monitor/statefile"
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
		lock, err := statefile.TryLock(i.lockPath())
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

// forgetPlace removes the lock, which nobody holds, and the directories that were
// made for it. Whoever takes the lock meanwhile notices.
func (i *Installer) forgetPlace(made []string) {
	lock, err := statefile.TryLock(i.lockPath())
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

package statefile

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"time"

	"github.com/gofrs/flock"
)

// Lock takes the exclusive lock at path, a file of ours with mode 0600 that it
// makes where there is none; its directory has to be there. While another has it, in
// this process or not, it is tried every so often until ctx ends; then the error is
// the cause of that. It goes with the process, however that ends, and with its Close.
func Lock(ctx context.Context, path string, every time.Duration) (*flock.Flock, error) {
	for {
		if lock, err := TryLock(path); lock != nil || err != nil {
			return lock, err
		}
		select {
		case <-time.After(every):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// TryLock is Lock that does not wait; nil means that another has it.
func TryLock(path string) (*flock.Flock, error) {
	for {
		if err := Check(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		// A file that cannot be written can be locked, and Windows opens none that is
		// removed and not closed yet.
		lock := flock.New(path, flock.SetFlag(os.O_CREATE|os.O_RDONLY|noFollow), flock.SetPermissions(0o600))
		locked := false
		err := again(func() (err error) {
			locked, err = lock.TryLock()
			return err
		})
		if err != nil || !locked {
			if err != nil {
				err = Error(err, path)
			}
			return nil, errors.Join(err, lock.Close())
		}
		// Whoever lets go of a lock may remove its file, which locks nobody out then.
		held, err := lock.Stat()
		now, gone := os.Lstat(path)
		if err == nil && gone == nil && now.Mode().IsRegular() && os.SameFile(now, held) {
			return lock, nil
		}
		if err = errors.Join(err, lock.Close()); err != nil {
			return nil, Error(err, path)
		}
	}
}

package plainfile

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"time"

	"github.com/gofrs/flock"
)

// Lock takes the exclusive lock at path, a file of ours with mode 0600 that it
// makes where there is none; its directory has to be there. It is opened with
// flag, os.O_RDONLY or os.O_RDWR. While another has it, in this process or not, it
// is tried every so often until ctx ends; then the error is the cause of that.
// The lock goes with the process, however that ends, and with its Close.
func Lock(ctx context.Context, path string, flag int, every time.Duration) (*flock.Flock, error) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		if lock, err := tryLock(path, flag); lock != nil || err != nil {
			return lock, err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// tryLock tries once; nil means that it is taken. The lock counts only while its
// file lies at the path: whoever lets go of one may remove it.
func tryLock(path string, flag int) (*flock.Flock, error) {
	if err := Check(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	lock := flock.New(path, flock.SetFlag(os.O_CREATE|flag|NoFollow), flock.SetPermissions(0o600))
	ok, err := lock.TryLock()
	if err != nil {
		return nil, errors.Join(Error(err, path), lock.Close())
	}
	if !ok {
		return nil, lock.Close()
	}
	if err := CheckOpened(lock, path); err != nil {
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

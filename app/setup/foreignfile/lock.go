package foreignfile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"lamplighter/monitor"
	"lamplighter/monitor/plainfile"
)

// How long Lock waits, and how often it tries.
const (
	lockTime  = 10 * time.Second
	lockEvery = 50 * time.Millisecond
)

// ErrBusy says that another keeps the lock.
var ErrBusy = errors.New("another setup is at work; try again when it has ended")

// Lock takes the lock at path, a file of ours that it makes and that stays. It
// waits ten seconds for another process, or another part of this one, that has
// it; then the error Is ErrBusy. The lock goes with the process, however that
// ends. unlock is called once.
func Lock(ctx context.Context, path string) (unlock func(), err error) {
	return lockWithin(ctx, path, lockTime)
}

func lockWithin(ctx context.Context, path string, most time.Duration) (unlock func(), err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("the directory for a lock cannot be made: %w", plainfile.Error(err, path))
	}
	ctx, cancel := context.WithTimeoutCause(ctx, most, ErrBusy)
	defer cancel()
	tick := time.NewTicker(lockEvery)
	defer tick.Stop()
	for {
		lock, err := tryLock(path)
		switch {
		case err != nil:
			return nil, fmt.Errorf("the lock cannot be taken: %w", err)
		case lock != nil:
			return func() { _ = lock.Close() }, nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil, fmt.Errorf("%s: %w", monitor.Clean(path), context.Cause(ctx))
		}
	}
}

// tryLock tries once; nil means that it is taken. The lock counts only while its
// file lies at the path.
func tryLock(path string) (*flock.Flock, error) {
	if err := plainfile.Check(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	lock := flock.New(path, flock.SetFlag(os.O_CREATE|os.O_RDWR|plainfile.NoFollow), flock.SetPermissions(0o600))
	ok, err := lock.TryLock()
	if err != nil {
		return nil, errors.Join(plainfile.Error(err, path), lock.Close())
	}
	if !ok {
		return nil, lock.Close()
	}
	if err := plainfile.CheckOpened(lock, path); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	held, err := lock.Stat()
	if err != nil {
		return nil, errors.Join(plainfile.Error(err, path), lock.Close())
	}
	now, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(now, held) {
		return nil, lock.Close() // somebody tidied up: the next try makes it anew
	}
	if err != nil {
		return nil, errors.Join(plainfile.Error(err, path), lock.Close())
	}
	return lock, nil
}

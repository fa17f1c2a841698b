package foreignfile

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/statefile"
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
		return nil, fmt.Errorf("the directory for a lock cannot be made: %w", statefile.Error(err, path))
	}
	waiting, cancel := context.WithTimeoutCause(ctx, most, ErrBusy)
	defer cancel()
	lock, err := statefile.Lock(waiting, path, lockEvery)
	switch {
	case err != nil && errors.Is(err, context.Cause(waiting)):
		return nil, fmt.Errorf("%s: %w", monitor.Clean(path), err)
	case err != nil:
		return nil, fmt.Errorf("the lock cannot be taken: %w", err)
	}
	return func() { _ = lock.Close() }, nil
}

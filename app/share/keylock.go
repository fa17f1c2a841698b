package share

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"lamplighter/monitor/plainfile"
)

// How long another program may keep the lock of a key, because it is being
// replaced by this one, and how often it is tried.
const (
	lockTime  = 10 * time.Second
	lockEvery = 50 * time.Millisecond
)

// keyLock is the lock of a key, held.
type keyLock struct {
	path string
	lock *flock.Flock
}

// lockKey takes the lock of a key in a directory, which it makes. It waits for
// another program that holds it; then the error Is a *lockTaken.
func lockKey(ctx context.Context, dir, key string) (*keyLock, error) {
	if dir == "" {
		return &keyLock{}, nil
	}
	if !isKey(key) { // of a record that somebody has changed
		return nil, fmt.Errorf("%.80q is no key", key)
	}
	path := filepath.Join(dir, key+".lock")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("the directory for locks cannot be made: %w", err)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, lockTime, errTaken)
	defer cancel()
	tick := time.NewTicker(lockEvery)
	defer tick.Stop()
	for {
		lock, err := tryKey(path)
		switch {
		case err != nil:
			return nil, fmt.Errorf("the lock %s cannot be taken: %w", path, err)
		case lock != nil:
			return lock, nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			if !errors.Is(context.Cause(ctx), errTaken) {
				return nil, context.Cause(ctx)
			}
			return nil, &lockTaken{path: path, pid: holder(path)}
		}
	}
}

// isKey tells whether a key may be part of a name of a file.
func isKey(key string) bool {
	return key != "" && len(key) <= 128 && strings.Trim(key, "0123456789abcdef") == ""
}

// errTaken is why waiting for a lock ends.
var errTaken = errors.New("another program keeps it")

// tryKey tries once; nil means that it is taken. The lock counts only while its
// file lies at the path, because who lets go of one removes it.
func tryKey(path string) (*keyLock, error) {
	if err := plainfile.Check(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	lock := flock.New(path, flock.SetFlag(os.O_CREATE|os.O_RDWR|plainfile.NoFollow), flock.SetPermissions(0o600))
	ok, err := lock.TryLock()
	if err != nil {
		lock.Close()
		return nil, plainfile.Error(err, path)
	}
	if !ok {
		return nil, lock.Close()
	}
	if err := plainfile.CheckOpened(lock, path); err != nil {
		lock.Close()
		return nil, err
	}
	now, err := os.Lstat(path)
	if err == nil {
		var held os.FileInfo
		if held, err = lock.Stat(); err == nil && os.SameFile(now, held) {
			// For who is refused. Where the system refuses that, too, the
			// lock is as good.
			_ = os.WriteFile(path, strconv.AppendInt(nil, int64(os.Getpid()), 10), 0o600)
			return &keyLock{path, lock}, nil
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return nil, errors.Join(lock.Close(), err)
}

// holder is the process that has written itself into a lock, 0 when none has.
func holder(path string) int {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || pid < 0 {
		return 0
	}
	return pid
}

// release lets go. A nil one is none.
func (l *keyLock) release() {
	if l == nil || l.lock == nil {
		return
	}
	os.Remove(l.path) // first, so that it is ours; systems that refuse it keep an empty file
	l.lock.Close()
}

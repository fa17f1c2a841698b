package share

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"lamplighter/monitor/statefile"
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
	lock, err := statefile.Lock(ctx, path, lockEvery)
	switch {
	case errors.Is(err, errTaken):
		return nil, &lockTaken{path: path, pid: holder(path)}
	case err != nil && errors.Is(err, context.Cause(ctx)):
		return nil, err
	case err != nil:
		return nil, fmt.Errorf("the lock %s cannot be taken: %w", path, err)
	}
	// For who is refused. Where the system refuses that, too, the lock is as good.
	_ = os.WriteFile(path, strconv.AppendInt(nil, int64(os.Getpid()), 10), 0o600)
	return &keyLock{path, lock}, nil
}

// isKey reports whether a key may be part of a name of a file.
func isKey(key string) bool {
	return key != "" && len(key) <= 128 && strings.Trim(key, "0123456789abcdef") == ""
}

// errTaken is why waiting for a lock ends.
var errTaken = errors.New("another program keeps it")

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

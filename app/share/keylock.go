package share

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"lamplighter/monitor"
	"lamplighter/monitor/statefile"
)

// How long another program may keep the lock of a key, because it is being
// replaced by this one, and how often it is tried.
const (
	lockTime  = 10 * time.Second
	lockEvery = 50 * time.Millisecond
)

// lockKey takes the lock of a key in a directory, which it makes; in none there are no
// locks. It waits for another program that holds it; then the error Is errTaken.
func lockKey(ctx context.Context, dir, key string) (*flock.Flock, error) {
	if dir == "" {
		return nil, nil
	}
	// That of a record that somebody has changed is no part of a name of a file.
	if key == "" || len(key) > 128 || strings.Trim(key, "0123456789abcdef") != "" {
		return nil, fmt.Errorf("%.80q is no key", key)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("the directory for locks cannot be made: %w", err)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, lockTime, errTaken)
	defer cancel()
	path := filepath.Join(dir, key+".lock")
	lock, err := statefile.Lock(ctx, path, lockEvery)
	if errors.Is(err, errTaken) {
		err = fmt.Errorf("%w, by the lock %s; end that lamplighter, or use its socket", err, monitor.Clean(path))
	}
	return lock, err
}

// unlock lets go of the lock of the key, if it is had.
func (g *group) unlock() {
	if g.lock == nil {
		return
	}
	os.Remove(g.lock.Path()) // first, so that it is ours; systems that refuse it keep an empty file
	g.lock.Close()
	g.lock = nil
}

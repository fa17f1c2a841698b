package launch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"lamplighter/monitor"
	"lamplighter/monitor/statefile"
)

// aliveFile is the lock by which keepers learn that this program has died. It
// is held as long as servers may be launched; every keeper waits for it.
const aliveFile = "alive.lock"

// AliveLock is the path of that lock in a state directory. Whoever else keeps
// it exclusively keeps servers from being launched.
func AliveLock(state string) string { return filepath.Join(state, aliveFile) }

// How often a lock that is taken is tried, and how long a replaced one is.
const (
	lockEvery = 10 * time.Millisecond
	lockAgain = 2 * time.Second
)

// errAliveTaken says that another program keeps the lock.
var errAliveTaken = errors.New("another program holds it; end that one first")

// aliveLock is the lock with its file. It is safe for concurrent use.
type aliveLock struct {
	path string

	mu sync.Mutex
	// held are the locks that are held. There is one, unless somebody has
	// removed or replaced the file while keepers were waiting at the old one.
	held []*flock.Flock
}

// take takes the lock. Keepers hold it shared for moments after its last holder
// has died, so it is tried until ctx ends.
func (a *aliveLock) take(ctx context.Context) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.held) > 0 {
		return nil
	}
	return a.add(ctx)
}

func (a *aliveLock) add(ctx context.Context) error {
	lock, err := statefile.Lock(ctx, a.path, lockEvery)
	if err != nil {
		if cause := context.Cause(ctx); cause != nil && errors.Is(err, cause) {
			err = errAliveTaken
		}
		return fmt.Errorf("the lock %s cannot be taken: %w", monitor.Clean(a.path), err)
	}
	a.held = append(a.held, lock)
	return nil
}

// current makes sure that the file at the path is one that is locked: a keeper
// that is started now opens that one. It waits a little for it.
func (a *aliveLock) current(ctx context.Context) error { return a.within(ctx, lockAgain) }

// again is the same without waiting.
func (a *aliveLock) again(ctx context.Context) error { return a.within(ctx, lockEvery) }

func (a *aliveLock) within(ctx context.Context, limit time.Duration) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	now, err := os.Lstat(a.path)
	if err == nil {
		for _, lock := range a.held {
			if held, err := lock.Stat(); err == nil && os.SameFile(now, held) {
				return nil
			}
		}
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return a.add(ctx)
}

// release lets go: each keeper takes that for the death of this program. The
// file stays, because a keeper may be waiting at it.
func (a *aliveLock) release() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	var failed error
	for _, lock := range a.held {
		failed = errors.Join(failed, lock.Close())
	}
	a.held = nil
	return failed
}

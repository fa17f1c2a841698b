package launch

import (
	"context"
	"errors"
	"sync"
	"time"
)

// lookLimit is how long a look at the files may take. One on a network that has
// gone, or on a mount whose program hangs, may never end; then its thread is
// lost, so nobody takes the same look again before it has ended.
const lookLimit = 2 * time.Second

// errSilent says that the files did not answer within lookLimit.
var errSilent = errors.New("does not answer")

// looks are the looks at files that are not at their end. With a limit it is ready
// to use, by several at once.
type looks struct {
	mu   sync.Mutex
	busy map[look]*looking

	limit time.Duration // Limits.Look
	// before is called before each look, in its goroutine; only tests set it.
	before func(path string)
}

// look is what is looked for, in a word, and where.
type look struct{ what, path string }

// looking is a look under way. Who waits for done may read what it found.
type looking struct {
	done  chan struct{}
	began time.Time
	found any
}

// lookUp takes a look at a path, or joins who takes the same one. The error is
// errSilent when it takes too long, at once when one at that path does already,
// or that of ctx.
func lookUp[T any](ctx context.Context, l *looks, what, path string, find func(path string) T) (T, error) {
	var none T
	if err := ctx.Err(); err != nil {
		return none, err
	}
	at, silent := l.begin(look{what, path}, func() any { return find(path) })
	if silent {
		return none, errSilent
	}
	timer := time.NewTimer(l.limit - time.Since(at.began))
	defer timer.Stop()
	select {
	case <-at.done:
		return at.found.(T), nil
	case <-timer.C:
		return none, errSilent
	case <-ctx.Done():
		return none, ctx.Err()
	}
}

func (l *looks) begin(what look, find func() any) (at *looking, silent bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for other, at := range l.busy {
		if other.path == what.path && time.Since(at.began) >= l.limit {
			return nil, true
		}
	}
	if at := l.busy[what]; at != nil {
		return at, false
	}
	if l.busy == nil {
		l.busy = map[look]*looking{}
	}
	at = &looking{done: make(chan struct{}), began: time.Now()}
	l.busy[what] = at
	go func() {
		if l.before != nil {
			l.before(what.path)
		}
		at.found = find()
		l.mu.Lock()
		delete(l.busy, what)
		l.mu.Unlock()
		close(at.done)
	}()
	return at, false
}

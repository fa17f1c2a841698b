// Package project looks at the directory of a project, and at other files that
// may lie on a mount that hangs. It knows no server.
package project

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// ErrSilent says that the files did not answer within the limit.
var ErrSilent = errors.New("does not answer")

// Looks are the looks at files that are not at their end. One on a network that
// has gone, or on a mount whose program hangs, may never end; then its thread is
// lost, so nobody takes the same look again before it has ended. With a limit it
// is ready to use, by several at once.
type Looks struct {
	Limit time.Duration // of a look
	Most  int           // looks at the same time; 0 is any number
	// Before is called before each look, in its goroutine; only tests set it.
	Before func(path string)

	mu   sync.Mutex
	busy map[look]*looking
}

// look is what is looked for, in a word, and where.
type look struct{ what, path string }

// looking is a look under way. Who waits for done may read what it found.
type looking struct {
	done  chan struct{}
	began time.Time
	found any
}

// Look takes a look at a path, or joins who takes the same one. The error is
// ErrSilent when it takes too long, at once when one at that path does already,
// or that of ctx.
func Look[T any](ctx context.Context, l *Looks, what, path string, find func(path string) T) (T, error) {
	var none T
	if err := ctx.Err(); err != nil {
		return none, err
	}
	at, err := l.begin(look{what, path}, func() any { return find(path) })
	if err != nil {
		return none, err
	}
	timer := time.NewTimer(l.Limit - time.Since(at.began))
	defer timer.Stop()
	select {
	case <-at.done:
		found, _ := at.found.(T) // an interface may be nil
		return found, nil
	case <-timer.C:
		return none, ErrSilent
	case <-ctx.Done():
		return none, ctx.Err()
	}
}

func (l *Looks) begin(what look, find func() any) (*looking, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for other, at := range l.busy {
		if other.path == what.path && time.Since(at.began) >= l.Limit {
			return nil, ErrSilent
		}
	}
	if at := l.busy[what]; at != nil {
		return at, nil
	}
	if l.Most > 0 && len(l.busy) >= l.Most {
		return nil, fmt.Errorf("%d other paths do not answer", len(l.busy))
	}
	if l.busy == nil {
		l.busy = map[look]*looking{}
	}
	at := &looking{done: make(chan struct{}), began: time.Now()}
	l.busy[what] = at
	go func() {
		if l.Before != nil {
			l.Before(what.path)
		}
		at.found = find()
		l.mu.Lock()
		delete(l.busy, what)
		l.mu.Unlock()
		close(at.done)
	}()
	return at, nil
}

package launch

import (
	"context"
	"runtime"
	"sync"
)

// turns keep starts from getting into each other's way.
type turns struct {
	// slots bounds how many servers start at the same time: more than the
	// processors can serve only makes each of them slower, up to its limit. A
	// channel lets in those who wait in the order in which they came.
	slots chan struct{}
	// alone is held by a start that must be the only one of its kind.
	alone chan struct{}

	mu       sync.Mutex
	projects map[string]*projectTurn // those that somebody starts a server for
}

// projectTurn is held by a start that must be the only one of its project.
type projectTurn struct {
	places chan struct{}
	users  int
}

func newTurns(cpus int) *turns {
	return &turns{
		slots: make(chan struct{}, max(4, 2*cpus)), alone: make(chan struct{}, 1),
		projects: map[string]*projectTurn{},
	}
}

// of returns the place of a project, until done is called.
func (t *turns) of(project string) (places chan struct{}, done func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	turn := t.projects[project]
	if turn == nil {
		turn = &projectTurn{places: make(chan struct{}, 1)}
		t.projects[project] = turn
	}
	turn.users++
	return turn.places, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if turn.users--; turn.users == 0 {
			delete(t.projects, project)
		}
	}
}

func cpus() int { return runtime.GOMAXPROCS(0) }

// enter waits for a place and returns how to leave it.
func enter(ctx context.Context, places chan struct{}) (leave func(), err error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	select {
	case places <- struct{}{}:
		return func() { <-places }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// enterWhile waits for a place for as long as one is needed, and returns how to
// leave it.
func enterWhile(ctx context.Context, places chan struct{}, needed func() bool) (leave func(), err error) {
	for needed() {
		leave, err := enter(ctx, places)
		if err != nil {
			return nil, err
		}
		if needed() {
			return leave, nil
		}
		leave()
	}
	return func() {}, nil
}

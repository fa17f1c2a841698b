package tree

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// pool shares tasks among a few workers. The newest task is taken first, so that a
// tree is gone through in depth and few directories are open at a time.
//
// Every task runs, also after the first error: tasks look at over, and let go of
// what they hold.
type pool struct {
	ctx    context.Context
	cancel context.CancelCauseFunc

	mu     sync.Mutex
	cond   sync.Cond
	tasks  []func() // guarded by mu
	active int      // likewise
}

// run runs first and all tasks that come of it, and returns why they were given
// up, nil when they were not.
func run(ctx context.Context, first func(p *pool)) error {
	p := &pool{}
	p.ctx, p.cancel = context.WithCancelCause(ctx)
	defer p.cancel(nil)
	p.cond.L = &p.mu
	p.add(func() { first(p) })
	var workers sync.WaitGroup
	for range min(max(runtime.GOMAXPROCS(0), 2), 8) {
		workers.Go(p.work)
	}
	workers.Wait()
	return context.Cause(p.ctx)
}

func (p *pool) add(task func()) {
	p.mu.Lock()
	p.tasks = append(p.tasks, task)
	p.mu.Unlock()
	p.cond.Signal()
}

func (p *pool) work() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for {
		for len(p.tasks) == 0 {
			if p.active == 0 {
				p.cond.Broadcast()
				return
			}
			p.cond.Wait()
		}
		last := len(p.tasks) - 1
		task := p.tasks[last]
		p.tasks[last] = nil
		p.tasks = p.tasks[:last]
		p.active++
		p.mu.Unlock()
		task()
		p.mu.Lock()
		p.active--
	}
}

// fail gives up; the first reason counts.
func (p *pool) fail(err error) { p.cancel(err) }

// over reports whether the work was given up.
func (p *pool) over() bool { return p.ctx.Err() != nil }

// mostTold is how often progress is told in a second.
const mostTold = 10

// tally counts what has been done, and tells it now and then.
type tally struct {
	files, bytes atomic.Int64
	tell         func(Count) // may be nil

	mu   sync.Mutex
	last time.Time // guarded by mu
}

func (t *tally) count() Count { return Count{Files: t.files.Load(), Bytes: t.bytes.Load()} }

// add counts, and tells when it is time to.
func (t *tally) add(files, bytes int64) {
	t.files.Add(files)
	t.bytes.Add(bytes)
	if t.tell == nil || !t.mu.TryLock() {
		return
	}
	defer t.mu.Unlock()
	if now := time.Now(); now.Sub(t.last) >= time.Second/mostTold {
		t.last = now
		t.tell(t.count())
	}
}

// end tells the last count.
func (t *tally) end() Count {
	if t.tell != nil {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.tell(t.count())
	}
	return t.count()
}

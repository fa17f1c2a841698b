//go:build unix

package main

import (
	"runtime"
	"slices"
	"syscall"
	"time"
)

// How long the heads of a tree have after SIGTERM, and then the survivors, by
// reason. When the background process has died, everything is to be gone
// within 2 s, and within 5 s of an order to a shim, so that it allows its keeper
// a little more than that takes.
var (
	headsLimit = [...]time.Duration{
		asked: 3 * time.Second, askedOwn: 2500 * time.Millisecond, askedAbove: 4 * time.Second, orphaned: time.Second,
	}
	survivorsLimit = [...]time.Duration{
		asked: time.Second, askedOwn: 500 * time.Millisecond, askedAbove: 200 * time.Millisecond, orphaned: 400 * time.Millisecond,
	}
)

// The pause between two rounds of SIGKILL. It grows, because a process that
// survives one is another user's, or hangs in the kernel.
const (
	firstPause = time.Millisecond
	lastPause  = time.Second
)

// maxFreezes is how often one round looks for processes that are new.
const maxFreezes = 100

// end ends the tree as soon as there is a reason, and returns when all that is
// left is what people work in. It may not return when nothing is left: wait does
// then.
func (t *tree) end(reasons <-chan reason) {
	e := ending{why: <-reasons, reasons: reasons, ended: t.ended}
	runtime.GOMAXPROCS(1) // see makeThreads; earlier it would cost memory
	terminate(t.heads.take(t.children))
	e.wait(t.heads.gone, headsLimit[:])
	terminate(t.descendants())
	e.wait(t.onlyTheirs, survivorsLimit[:])
	for pause := firstPause; !t.onlyTheirs(); pause = min(2*pause, lastPause) {
		t.kill()
		time.Sleep(pause)
	}
}

// note says that something has ended.
func (t *tree) note() {
	poke(t.ended)
}

// terminating asks a process to end. One that is stopped hears it only when it
// goes on.
var terminating = []syscall.Signal{syscall.SIGTERM, syscall.SIGCONT}

func terminate(all []proc) {
	for _, p := range all {
		p.signal(terminating...)
	}
}

// kill stops the whole tree first, or those that are not yet known would go on
// starting others. Children are killed before their parents: when a parent ends,
// the kernel may hang up on a process group in which somebody stands still, and
// what people work in may be in that group.
func (t *tree) kill() {
	var frozen []proc
	known := map[proc]bool{}
	for range maxFreezes {
		before := len(frozen)
		for _, p := range t.descendants() {
			if !known[p] {
				known[p] = true
				frozen = append(frozen, p)
				p.signal(syscall.SIGSTOP)
			}
		}
		if len(frozen) == before {
			break
		}
	}
	for _, p := range slices.Backward(frozen) {
		if t.isTheirs(p) { // which it became just before it stood still
			p.signal(syscall.SIGCONT)
		} else {
			p.signal(syscall.SIGKILL)
		}
	}
}

// ending is how much time is left, which changes with the reason.
type ending struct {
	why     reason
	reasons <-chan reason
	ended   <-chan struct{} // something has
}

// wait waits until it is over, for the time that the reason allows.
func (e *ending) wait(over func() bool, limits []time.Duration) {
	deadline := time.Now().Add(limits[e.why])
	for !over() {
		select {
		case <-e.ended:
		case <-time.After(time.Until(deadline)):
			return
		case why := <-e.reasons:
			e.why = max(e.why, why)
			if sooner := time.Now().Add(limits[e.why]); sooner.Before(deadline) {
				deadline = sooner
			}
		}
	}
}

package config

import (
	"errors"
	"sync"

	"github.com/fsnotify/fsnotify"

	"lamplighter/monitor"
)

// mostTold bounds what waits to be taken; what comes beyond it counts as
// missed, as when the system itself has no room for it.
const mostTold = 1000

// errEnded: nothing will be told any more.
var errEnded = errors.New("the system ended it")

// told is one thing that the system told: an event, or that it could not tell.
type told struct {
	event fsnotify.Event
	err   error
}

// inbox takes what a watcher tells as it comes. On Windows a watcher gets rid of
// its news before it answers Add: if whoever calls that were also the one to
// take the news, both would wait for each other for ever.
type inbox struct {
	arrived monitor.Bell  // rings one while something waits
	emptied chan struct{} // closed when the watcher has been closed and nothing is at work

	mu      sync.Mutex
	waiting []told
}

// newInbox takes from notify until that is closed.
func newInbox(notify *fsnotify.Watcher) *inbox {
	b := &inbox{arrived: monitor.NewBell(), emptied: make(chan struct{})}
	go b.fill(notify)
	return b
}

func (b *inbox) fill(notify *fsnotify.Watcher) {
	defer close(b.emptied)
	events, errs := notify.Events, notify.Errors
	for events != nil || errs != nil {
		select {
		case event, ok := <-events:
			if !ok {
				events = nil
				continue
			}
			b.add(told{event: event})
		case err, ok := <-errs:
			if !ok {
				errs = nil
				continue
			}
			b.add(told{err: err})
		}
	}
	b.add(told{err: errEnded})
}

func (b *inbox) add(t told) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case len(b.waiting) < mostTold || errors.Is(t.err, errEnded):
		b.waiting = append(b.waiting, t)
	default:
		b.waiting[mostTold-1] = told{err: fsnotify.ErrEventOverflow}
	}
	b.arrived.Ring()
}

// take returns what has arrived, in its order.
func (b *inbox) take() []told {
	b.mu.Lock()
	defer b.mu.Unlock()
	list := b.waiting
	b.waiting = nil
	return list
}

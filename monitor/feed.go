package monitor

import "sync"

// Source hands out snapshots, as monitor/watch does.
type Source interface {
	// Snapshot returns the newest one.
	Snapshot() *Snapshot
	// Subscribe returns a channel that holds the newest snapshot that has not been
	// received yet. cancel ends the subscription.
	Subscribe() (snapshots <-chan *Snapshot, cancel func())
}

// Feed publishes values of which only the newest counts, to any number of
// subscribers. The zero value is ready for use. It is safe for concurrent use.
type Feed[T any] struct {
	mu          sync.Mutex
	newest      T
	published   bool
	subscribers map[chan T]struct{}
}

// Publish replaces the newest value. It does not wait for subscribers: one that is
// slow never sees the values between.
func (f *Feed[T]) Publish(value T) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.newest, f.published = value, true
	for c := range f.subscribers {
		select {
		case <-c:
		default:
		}
		c <- value // never blocks: it has room for one, and only the holder of mu sends
	}
}

// Latest returns the newest value, and the zero value before the first Publish.
func (f *Feed[T]) Latest() T {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.newest
}

// Subscribe returns a channel that holds the newest value that has not been received
// from it, beginning with Latest. The channel is never closed; cancel ends the
// subscription and may be called more than once.
func (f *Feed[T]) Subscribe() (values <-chan T, cancel func()) {
	c := make(chan T, 1)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.subscribers == nil {
		f.subscribers = map[chan T]struct{}{}
	}
	f.subscribers[c] = struct{}{}
	if f.published {
		c <- f.newest
	}
	return c, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.subscribers, c)
	}
}

// Bell wakes the one goroutine that receives from it. Rings that come before it
// receives count as one.
type Bell chan struct{}

// NewBell returns a Bell that has not rung.
func NewBell() Bell { return make(Bell, 1) }

// Ring wakes the receiver, now or when it next receives. It never blocks.
func (b Bell) Ring() {
	select {
	case b <- struct{}{}:
	default:
	}
}

package dashboard

import (
	"context"
	"sync"
	"time"

	"lamplighter/monitor"
)

// RecorderOptions of a Recorder.
type RecorderOptions struct {
	Source monitor.Source
	Now    func() time.Time // nil: time.Now
}

// Recorder keeps, in memory alone, what one snapshot does not tell: how each
// instance went, and which ones have ended. Make one with NewRecorder. It is
// safe for concurrent use.
type Recorder struct {
	source monitor.Source
	now    func() time.Time

	mu   sync.Mutex
	book *book

	ended monitor.Feed[[]Ended]
}

// NewRecorder makes a Recorder that knows nothing until Serve runs.
func NewRecorder(o RecorderOptions) *Recorder {
	if o.Now == nil {
		o.Now = time.Now
	}
	r := &Recorder{source: o.Source, now: o.Now, book: newBook()}
	r.ended.Publish(r.book.list())
	return r
}

// Serve records until ctx ends. It may be called again after it returned, and
// goes on with what it knew.
func (r *Recorder) Serve(ctx context.Context) error {
	snapshots, cancel := r.source.Subscribe()
	defer cancel()
	expiry := time.NewTimer(0)
	defer expiry.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case s := <-snapshots:
			r.change(func(b *book, now time.Time) bool { return b.apply(s, now) })
		case <-expiry.C:
			r.change((*book).expire)
		}
		r.mu.Lock()
		next := r.book.next()
		r.mu.Unlock()
		if next.IsZero() {
			expiry.Stop()
			continue
		}
		expiry.Reset(next.Sub(r.now()))
	}
}

// Note takes in an event at once. A snapshot carries only the newest, so that
// of many instances that end together it does not tell why each did. Whoever
// records events may hand them here too; Note does not block.
func (r *Recorder) Note(e monitor.Event) {
	r.change(func(b *book, _ time.Time) bool { return b.learn(e) })
}

// change changes the book, and tells the readers when the ended ones are others.
func (r *Recorder) change(how func(*book, time.Time) bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if how(r.book, r.now()) {
		r.ended.Publish(r.book.list())
	}
}

// History is how an instance went, also one that is among the ended, and
// whether it is known at all.
func (r *Recorder) History(id monitor.Identity) (History, bool) {
	r.mu.Lock()
	h, ok := r.book.history(id, r.now())
	r.mu.Unlock()
	if ok {
		return h, true
	}
	// It may be newer than what was recorded.
	if s := r.source.Snapshot(); s != nil {
		if in := s.Instance(id); in != nil {
			return columns(id, []point{pointOf(in, r.now())}), true
		}
	}
	return History{}, false
}

// Total is how the memory of all instances together went.
func (r *Recorder) Total() History {
	r.mu.Lock()
	defer r.mu.Unlock()
	h := columns(monitor.Identity{}, r.book.total.join(r.now().Unix()))
	h.ID = ""
	return h
}

// Ended are the instances that ended in the last ten minutes, newest last, a
// hundred at most. One that came back is not among them, nor one that is
// defunct, which every snapshot still has.
func (r *Recorder) Ended() []Ended { return r.ended.Latest() }

// Subscribe returns a channel that holds the newest list of Ended that has not
// been received yet, beginning with that of now. A slow reader skips lists. They
// are shared and must not be changed. The channel is never closed; cancel ends
// the subscription and may be called more than once.
func (r *Recorder) Subscribe() (<-chan []Ended, func()) { return r.ended.Subscribe() }

package dashboard

import (
	"cmp"
	"slices"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/view"
)

// seriesMost is how many instances have a history at once. Those beyond it are
// shown with their newest figures alone.
const seriesMost = 512

// book is what a Recorder knows. Its methods are the whole of the decisions:
// they read no clock and wait for nothing. Make one with newBook.
type book struct {
	entries map[monitor.Identity]*entry // of those that live and those that have ended
	series  int                         // how many of them have one
	total   *series                     // of all that run, together
	pass    uint64                      // counts the snapshots
	at      time.Time                   // of the newest snapshot
	ended   []*entry                    // in the order in which they ended
	ends    ends
}

// entry is one instance.
type entry struct {
	in      *monitor.Instance // as it was last
	series  *series           // nil: no room
	pass    uint64            // the newest snapshot that had it
	endedAt time.Time
	end     end
	shown   Ended // once it has ended
}

func newBook() *book { return &book{entries: make(map[monitor.Identity]*entry), total: newSeries()} }

// learn takes in an event, and tells whether that changed the ended ones.
func (b *book) learn(e monitor.Event) (changed bool) {
	b.ends.learn(e)
	for _, old := range b.ended {
		if weight(e.Kind) == 0 || old.in.ID() != e.ID {
			continue
		}
		then := old.end
		old.end = then.learn(e)
		changed, old.shown.Why = changed || old.end != then, old.end.why(old.in)
	}
	return changed
}

// apply takes in a snapshot, and tells whether it changed the ended ones.
func (b *book) apply(s *monitor.Snapshot, now time.Time) (changed bool) {
	changed = b.expire(now)
	for _, e := range slices.Backward(s.Recent) {
		changed = b.learn(e) || changed
	}
	b.pass++
	for _, in := range s.Instances {
		if !in.OnPipes {
			changed = b.see(in, now) || changed
		}
	}
	if b.leave(s, now) {
		changed = true
	}
	totals := s.Totals()
	b.total.observe(point{at: now.Unix(), rss: totals.RSSBytes + totals.GivenUpBytes, cpu: noCPU, calls: noCalls})
	b.at = s.At
	return changed
}

// see takes in an instance that is there.
func (b *book) see(in *monitor.Instance, now time.Time) (back bool) {
	e := b.entries[in.Identity]
	if e == nil {
		e = &entry{}
		b.entries[in.Identity] = e
	}
	if !e.endedAt.IsZero() {
		back = true
		b.ended = slices.DeleteFunc(b.ended, func(old *entry) bool { return old == e })
		if e.series != nil {
			e.series.observe(unknown(e.endedAt)) // nobody looked meanwhile
		}
		e.endedAt, e.end, e.shown = time.Time{}, end{}, Ended{}
	}
	e.in, e.pass = in, b.pass
	if e.series == nil && b.makeRoom() {
		e.series = newSeries()
		b.series++
	}
	switch {
	case e.series == nil:
	case in.State == monitor.StateParked:
		e.series.observe(unknown(now))
	default:
		e.series.observe(pointOf(in, now))
	}
	return back
}

// makeRoom reports whether there is room for one more series. The living come
// before those that ended.
func (b *book) makeRoom() bool {
	if b.series < seriesMost {
		return true
	}
	for _, old := range b.ended {
		if old.series != nil {
			old.series = nil
			b.series--
			return true
		}
	}
	return false
}

// leave moves those that are in the snapshot no more to the ended ones.
func (b *book) leave(s *monitor.Snapshot, now time.Time) (changed bool) {
	var left []*entry
	for id, e := range b.entries {
		if e.pass == b.pass || !e.endedAt.IsZero() {
			continue
		}
		if e.in.State == monitor.StateParked {
			b.ends.drop(id.String())
			b.forget(e) // it runs again as another process, or nobody waits for it
			continue
		}
		e.end = b.ends.of[id.String()]
		b.ends.drop(id.String())
		if e.end.kind == "" && e.in.Cause != monitor.CauseDefunct && tellsAll(s, b.at) {
			b.forget(e) // a launcher that was taken for the server it launched
			continue
		}
		left = append(left, e)
	}
	// Together they left; any order will do, but not another each time.
	slices.SortFunc(left, func(x, y *entry) int {
		return cmp.Or(cmp.Compare(x.in.Identity.PID, y.in.Identity.PID), cmp.Compare(x.in.Identity.Start, y.in.Identity.Start))
	})
	for _, e := range left {
		e.endedAt = now
		e.shown = Ended{Instance: view.Of(e.in).Sent(now), EndedAt: view.Moment(now), Why: e.end.why(e.in)}
	}
	b.ended = append(b.ended, left...)
	for len(b.ended) > endedMost {
		b.forget(b.ended[0])
		b.ended = slices.Delete(b.ended, 0, 1)
	}
	return len(left) > 0
}

// tellsAll reports whether a snapshot has every event since then: it carries only
// so many. One without any tells nothing, since whatever is there was found.
func tellsAll(s *monitor.Snapshot, since time.Time) bool {
	n := len(s.Recent)
	return n > 0 && (n < monitor.RecentEvents || !s.Recent[n-1].At.After(since))
}

// expire drops those that ended long ago.
func (b *book) expire(now time.Time) (changed bool) {
	for len(b.ended) > 0 && now.Sub(b.ended[0].endedAt) >= endedKept {
		b.forget(b.ended[0])
		b.ended = slices.Delete(b.ended, 0, 1)
		changed = true
	}
	return changed
}

// next is when something expires, zero when nothing will.
func (b *book) next() time.Time {
	if len(b.ended) == 0 {
		return time.Time{}
	}
	return b.ended[0].endedAt.Add(endedKept)
}

func (b *book) forget(e *entry) {
	delete(b.entries, e.in.Identity)
	if e.series != nil {
		b.series--
	}
}

// list is what ended, newest last.
func (b *book) list() []Ended {
	list := make([]Ended, 0, len(b.ended))
	for _, e := range b.ended {
		list = append(list, e.shown)
	}
	return list
}

// history is that of one instance.
func (b *book) history(id monitor.Identity, now time.Time) (History, bool) {
	e := b.entries[id]
	if e == nil {
		return History{}, false
	}
	if !e.endedAt.IsZero() {
		now = e.endedAt
	}
	if e.series == nil {
		return columns(id, []point{pointOf(e.in, now)}), true
	}
	return columns(id, e.series.join(now.Unix())), true
}

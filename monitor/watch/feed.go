package watch

import (
	"reflect"
	"slices"
	"sync"
	"time"

	"lamplighter/monitor"
)

// feed hands the newest snapshot to any number of readers. The zero value
// works. It is safe for concurrent use.
type feed struct {
	mu      sync.Mutex
	newest  *monitor.Snapshot
	readers map[chan *monitor.Snapshot]struct{}
}

func (f *feed) latest() *monitor.Snapshot {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.newest
}

func (f *feed) publish(s *monitor.Snapshot) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.newest = s
	for c := range f.readers {
		replace(c, s)
	}
}

func (f *feed) subscribe() (<-chan *monitor.Snapshot, func()) {
	c := make(chan *monitor.Snapshot, 1)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.readers == nil {
		f.readers = make(map[chan *monitor.Snapshot]struct{})
	}
	f.readers[c] = struct{}{}
	if f.newest != nil && f.newest.Seq > 0 {
		c <- f.newest
	}
	return c, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.readers, c)
	}
}

// replace puts s into c, which has room for one, in place of what nobody took.
// Only the holder of feed.mu sends, so it cannot block.
func replace(c chan *monitor.Snapshot, s *monitor.Snapshot) {
	select {
	case <-c:
	default:
	}
	c <- s
}

type change int

const (
	same  change = iota
	drift        // only figures that move by themselves
	news
)

// compare tells how much two snapshots differ, their number and time aside. Less
// than a second of what the policies mean to do is nothing to tell.
func compare(a, b *monitor.Snapshot) change {
	if !slices.Equal(a.Warnings, b.Warnings) || !slices.Equal(a.Recent, b.Recent) || len(a.Instances) != len(b.Instances) ||
		!samePolicy(a.Policy, b.Policy) || !slices.Equal(a.Workspaces, b.Workspaces) {
		return news
	}
	result := same
	for i := range a.Instances {
		x, y := a.Instances[i], b.Instances[i]
		if !samePlan(x.Plan, y.Plan) {
			return news
		}
		x.Plan, y.Plan = monitor.Plan{}, monitor.Plan{}
		if reflect.DeepEqual(x, y) {
			continue
		}
		result = drift
		for _, in := range []*monitor.Instance{&x, &y} {
			in.LastHeartbeat, in.RSSBytes, in.CPUPercent, in.Processes = time.Time{}, 0, nil, 0
			if in.Sharing != nil {
				steady := *in.Sharing
				steady.SavedBytes = 0
				in.Sharing = &steady
			}
		}
		if !reflect.DeepEqual(x, y) {
			return news
		}
	}
	return result
}

func samePlan(a, b monitor.Plan) bool {
	return a.Reason == b.Reason && sameTime(a.ShutdownAt, b.ShutdownAt) && sameTime(a.KeptUntil, b.KeptUntil)
}

func samePolicy(a, b monitor.Policy) bool {
	if !sameTime(a.PausedUntil, b.PausedUntil) {
		return false
	}
	a.PausedUntil, b.PausedUntil = time.Time{}, time.Time{}
	return reflect.DeepEqual(a, b)
}

// sameTime tells whether two times are the same to people: one that is counted
// anew from a span comes out a little different each time.
func sameTime(a, b time.Time) bool {
	return a.IsZero() == b.IsZero() && a.Sub(b).Abs() < time.Second
}

package notify

import (
	"slices"
	"sync"
	"time"

	"lamplighter/monitor"
)

const (
	// maxWaiting is how many subjects wait at most; then the oldest gives way.
	maxWaiting = 64
	// maxAge is how long a notification may wait. It may announce something
	// that comes in five minutes.
	maxAge = time.Minute
)

// entry is one thing to do.
type entry struct {
	Notification
	withdraw bool // take away what is shown about the subject
	since    time.Time
}

// queue holds what is to be shown or withdrawn: for each subject the newest,
// the oldest subject first. It may be used on several goroutines.
type queue struct {
	wake monitor.Bell // rings after each order

	mu      sync.Mutex
	entries []entry
}

func newQueue() *queue { return &queue{wake: monitor.NewBell()} }

func (q *queue) show(what Notification, now time.Time) {
	what.Actions = slices.Clone(what.Actions) // the caller's own
	q.put(entry{Notification: what, since: now})
}

func (q *queue) withdraw(id string) {
	q.put(entry{Notification: Notification{ID: id}, withdraw: true})
}

func (q *queue) put(e entry) {
	q.mu.Lock()
	if at := q.of(e.ID); at >= 0 {
		q.entries[at] = e
	} else {
		if len(q.entries) == maxWaiting {
			q.entries = slices.Delete(q.entries, 0, 1)
		}
		q.entries = append(q.entries, e)
	}
	q.mu.Unlock()
	q.wake.Ring()
}

// of is where the entry of a subject is, -1 for nowhere. mu is held.
func (q *queue) of(id string) int {
	return slices.IndexFunc(q.entries, func(e entry) bool { return e.ID == id })
}

// next takes out what is to be done first. What has waited too long is dropped.
func (q *queue) next(now time.Time) (entry, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.entries = slices.DeleteFunc(q.entries, func(e entry) bool { return !e.withdraw && now.Sub(e.since) > maxAge })
	if len(q.entries) == 0 {
		return entry{}, false
	}
	e := q.entries[0]
	q.entries = slices.Delete(q.entries, 0, 1)
	return e, true
}

// questions takes out what has no use without buttons.
func (q *queue) questions() (list []entry) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.entries = slices.DeleteFunc(q.entries, func(e entry) bool {
		if e.Unheard != nil {
			list = append(list, e)
		}
		return e.Unheard != nil
	})
	return list
}

// back puts in front what could not be done, unless there is something newer
// about the subject or no room. Nobody is woken by that.
func (q *queue) back(e entry) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.of(e.ID) < 0 && len(q.entries) < maxWaiting {
		q.entries = slices.Insert(q.entries, 0, e)
	}
}

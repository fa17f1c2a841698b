package serena

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"lamplighter/monitor"
)

// mostKnown bounds the registrations that are remembered.
const mostKnown = 256

// openAgain is the least time from one page that is opened to the next, so that
// a server which crashes and is started over and over does not open one each
// time.
const openAgain = 10 * time.Minute

// registered remembers who registered. It is safe for concurrent use, and
// nothing that takes long is done under its lock.
type registered struct {
	mu     sync.Mutex
	byPort map[int]*entry
	turn   uint64
	opened time.Time // the last page; zero before the first
}

type entry struct {
	Registration
	turn  uint64 // of the registration, ascending
	asked bool   // it has asked for a page, whether it got one or not
	left  bool   // it has said goodbye
}

func newRegistered() *registered { return &registered{byPort: map[int]*entry{}} }

// add takes in a registration. It tells whether that is news, and who has asked
// for a page before, the newest first.
func (k *registered) add(r Registration) (news bool, asked []monitor.Identity) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if r.OpenViewer {
		asked = k.asked()
	}
	before := k.byPort[r.Port]
	same := before != nil && before.Identity == r.Identity
	news = !same || before.left || before.Project != r.Project
	if before == nil && len(k.byPort) >= mostKnown {
		k.forgetOldest()
	}
	k.turn++
	k.byPort[r.Port] = &entry{Registration: r, turn: k.turn, asked: r.OpenViewer || same && before.asked}
	return news, asked
}

func (k *registered) asked() []monitor.Identity {
	var list []*entry
	for _, e := range k.byPort {
		if e.asked {
			list = append(list, e)
		}
	}
	slices.SortFunc(list, func(a, b *entry) int { return cmp.Compare(b.turn, a.turn) })
	ids := make([]monitor.Identity, len(list))
	for i, e := range list {
		ids[i] = e.Identity
	}
	return ids
}

// mayOpen tells whether a page could be opened, as far as the last one is
// concerned.
func (k *registered) mayOpen(now time.Time) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.farFromLast(now)
}

// open takes note of a page, unless another one was too shortly before.
func (k *registered) open(now time.Time) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.farFromLast(now) {
		return false
	}
	k.opened = now
	return true
}

func (k *registered) farFromLast(now time.Time) bool {
	return k.opened.IsZero() || now.Sub(k.opened) >= openAgain
}

func (k *registered) forgetOldest() {
	oldest, turn := 0, k.turn+1
	for port, e := range k.byPort {
		if e.turn < turn {
			oldest, turn = port, e.turn
		}
	}
	delete(k.byPort, oldest)
}

// update notes another project. It is false when nobody is known on the port or
// nothing has changed.
func (k *registered) update(port int, project string) (Registration, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	e := k.byPort[port]
	if e == nil || e.left || e.Project == project {
		return Registration{}, false
	}
	e.Project = project
	return e.Registration, true
}

// leave notes a goodbye. Who has asked for a page is remembered. It is false
// when nobody is known on the port or it was said before.
func (k *registered) leave(port int) (Registration, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	e := k.byPort[port]
	if e == nil || e.left {
		return Registration{}, false
	}
	e.left = true
	return e.Registration, true
}

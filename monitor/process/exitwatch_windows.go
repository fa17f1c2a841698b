package process

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/windows"

	"lamplighter/monitor"
)

// perGroup is how many processes one thread waits for: WaitForMultipleObjects
// takes MAXIMUM_WAIT_OBJECTS (64) handles, and one is the event that wakes it.
const perGroup = 63

// waiter is what the system offers to learn of exits: groups of process
// handles, each with a goroutine that waits for all of its group. arm, disarm,
// wake and close are called under a lock, wait beside them by one goroutine.
type waiter struct {
	groups []*group
	of     map[uint64]*group // by token
	ready  chan uint64
	failed chan error
	woken  chan struct{}
	done   chan struct{}
	wg     sync.WaitGroup
}

// group is what one goroutine waits for. Only that goroutine closes handles,
// so that none is closed while the system waits for it.
type group struct {
	event   windows.Handle // auto-reset: members or closing changed
	mu      sync.Mutex
	members []member
	closing bool
}

type member struct {
	token   uint64
	process windows.Handle
	dropped bool
}

func newWaiter() (*waiter, error) {
	return &waiter{
		of:     map[uint64]*group{},
		ready:  make(chan uint64),
		failed: make(chan error, 1),
		woken:  make(chan struct{}, 1),
		done:   make(chan struct{}),
	}, nil
}

func (w *waiter) arm(id monitor.Identity, token uint64) error {
	p, err := open(id.PID)
	if err != nil {
		return err
	}
	now, _, err := p.times()
	if err == nil && now != id {
		err = gone(id.PID)
	}
	if err != nil {
		p.close()
		return err
	}
	g, err := w.join(member{token: token, process: p.h})
	if err != nil {
		p.close()
		return err
	}
	w.of[token] = g
	return nil
}

// join puts m into a group with room for it.
func (w *waiter) join(m member) (*group, error) {
	for _, g := range w.groups {
		if g.add(m) {
			return g, nil
		}
	}
	event, err := windows.CreateEvent(nil, 0, 0, nil)
	if err != nil {
		return nil, fmt.Errorf("creating an event: %w", err)
	}
	g := &group{event: event, members: []member{m}}
	w.groups = append(w.groups, g)
	w.wg.Go(func() { w.serve(g) })
	return g, nil
}

func (g *group) add(m member) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.members) == perGroup || g.closing {
		return false
	}
	g.members = append(g.members, m)
	windows.SetEvent(g.event)
	return true
}

func (w *waiter) disarm(token uint64) {
	g := w.of[token]
	delete(w.of, token)
	if g == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for i := range g.members {
		if g.members[i].token == token {
			g.members[i].dropped = true
			windows.SetEvent(g.event)
		}
	}
}

// serve waits for the members of g until it is closing.
func (w *waiter) serve(g *group) {
	handles := make([]windows.Handle, 0, perGroup+1)
	tokens := make([]uint64, 0, perGroup)
	for {
		var closing bool
		handles, tokens, closing = g.waitFor(handles[:0], tokens[:0])
		if closing {
			windows.CloseHandle(g.event)
			return
		}
		event, err := windows.WaitForMultipleObjects(handles, false, windows.INFINITE)
		if err != nil {
			g.close()
			select {
			case w.failed <- fmt.Errorf("waiting for %d processes: %w", len(tokens), err):
			default:
			}
			continue
		}
		i := int(event-windows.WAIT_OBJECT_0) - 1
		if i < 0 || i >= len(tokens) {
			continue
		}
		g.drop(tokens[i])
		select {
		case w.ready <- tokens[i]:
		case <-w.done:
		}
	}
}

// waitFor lets go of dropped members and returns what to wait for.
func (g *group) waitFor(handles []windows.Handle, tokens []uint64) ([]windows.Handle, []uint64, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.members = slices.DeleteFunc(g.members, func(m member) bool {
		if m.dropped || g.closing {
			windows.CloseHandle(m.process)
			return true
		}
		return false
	})
	handles = append(handles, g.event)
	for _, m := range g.members {
		handles = append(handles, m.process)
		tokens = append(tokens, m.token)
	}
	return handles, tokens, g.closing
}

func (g *group) drop(token uint64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for i := range g.members {
		if g.members[i].token == token {
			g.members[i].dropped = true
		}
	}
}

func (g *group) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.closing {
		g.closing = true
		windows.SetEvent(g.event)
	}
}

// wait blocks for at most limit (forever if negative) and returns the tokens of
// processes that have ended, or none.
func (w *waiter) wait(limit time.Duration) ([]uint64, error) {
	var expired <-chan time.Time
	if limit >= 0 {
		timer := time.NewTimer(limit)
		defer timer.Stop()
		expired = timer.C
	}
	select {
	case token := <-w.ready:
		return []uint64{token}, nil
	case err := <-w.failed:
		return nil, err
	case <-w.woken:
	case <-expired:
	}
	return nil, nil
}

func (w *waiter) wake() {
	select {
	case w.woken <- struct{}{}:
	default:
	}
}

// close ends all groups and waits for them.
func (w *waiter) close() {
	for _, g := range w.groups {
		g.close()
	}
	close(w.done)
	w.wg.Wait()
}

package dashboard

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/process"
)

// How many requests one instance has at once. Serena has a thread for each. What
// waits for a tool does not take the places of what is answered at once.
const (
	maxQuick  = 8
	maxQueued = 4
)

// ownerTime is how long it is taken for granted, for a request that only reads,
// that an instance still listens on its port. The question costs 0.05 ms on
// Linux, but a program that has to be started on macOS.
const ownerTime = time.Second

// peers are the instances that are being asked. Its lock is never held while
// something is awaited.
type peers struct {
	mu    sync.Mutex
	known map[monitor.Identity]*peer
}

type peer struct {
	quick, queued int
	port          int       // on which it was seen to listen
	seen          time.Time // then
}

// enter takes a place for a request, and tells whether there was one.
func (p *peers) enter(id monitor.Identity, queues bool, now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	one := p.known[id]
	if one == nil {
		p.sweep(now)
		one = &peer{}
		p.known[id] = one
	}
	places, most := one.places(queues)
	if *places >= most {
		return false
	}
	*places++
	return true
}

// leave gives the place back.
func (p *peers) leave(id monitor.Identity, queues bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	places, _ := p.known[id].places(queues)
	*places--
}

func (p *peer) places(queues bool) (taken *int, most int) {
	if queues {
		return &p.queued, maxQueued
	}
	return &p.quick, maxQuick
}

// sweep forgets those that nobody asks, so that what is known does not grow
// with the instances that come and go. The lock is held.
func (p *peers) sweep(now time.Time) {
	if p.known == nil {
		p.known = map[monitor.Identity]*peer{}
	}
	for id, one := range p.known {
		if one.quick == 0 && one.queued == 0 && now.Sub(one.seen) > ownerTime {
			delete(p.known, id)
		}
	}
}

// listens notes that an instance, which has a place, was seen to listen.
func (p *peers) listens(id monitor.Identity, port int, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.known[id].port, p.known[id].seen = port, now
}

// listened reports whether it was seen to listen there a moment ago.
func (p *peers) listened(id monitor.Identity, port int, now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	one := p.known[id]
	return one.port == port && now.Sub(one.seen) < ownerTime
}

// living checks that the process of an instance is the one that it was, and
// can answer at all. Nothing may be sent to a suspended one: it would lie there
// and be carried out when it is continued, long after its answer was given up.
func (p *Proxy) living(in *monitor.Instance) *failure {
	stat, err := process.StatAlive(process.Local(), in.Identity)
	switch {
	case errors.Is(err, process.ErrGone):
		return &failure{http.StatusNotFound, named(in) + " has ended"}
	case err != nil:
		p.log.Warn("cannot tell whether an instance still runs", "instance", named(in), "error", err)
		return &failure{http.StatusBadGateway, "whether " + named(in) + " still runs cannot be found out; nothing was sent to it"}
	case stat.State == process.Stopped:
		return &failure{http.StatusGatewayTimeout, named(in) + " is suspended: it was stopped by a signal and does nothing until it is continued; nothing was sent to it"}
	}
	return nil
}

// owns checks that it is the instance that listens on its port, and lives. It is
// asked when the connection stands and nothing has been sent: whoever has taken
// the port over before then is found out.
func (p *Proxy) owns(in *monitor.Instance, r rule) *failure {
	if !r.changes && p.peers.listened(in.Identity, in.Port, time.Now()) {
		return p.living(in)
	}
	id, err := p.owner(in.Identity.PID, in.Port)
	switch {
	case err == nil && id == in.Identity:
		p.peers.listens(in.Identity, in.Port, time.Now())
		return nil
	case errors.Is(err, process.ErrNotListening):
		return &failure{http.StatusConflict, named(in) + " does not listen on its port any more, so whoever answers there is another program; nothing was sent to it"}
	case err != nil:
		if gone := p.living(in); gone != nil {
			return gone
		}
		p.log.Warn("cannot tell who listens on the port of an instance", "instance", named(in), "error", err)
		return &failure{http.StatusBadGateway, "whether " + named(in) + " still listens on its port cannot be found out; nothing was sent to it"}
	}
	return &failure{http.StatusNotFound, named(in) + " has ended"}
}

// hasEnded waits until the process of an instance has ended, and tells whether
// it did before ctx ended.
func hasEnded(ctx context.Context, id monitor.Identity) bool {
	h, err := process.Hold(id)
	if err != nil {
		return errors.Is(err, process.ErrGone)
	}
	defer h.Close()
	return h.Wait(ctx) == nil
}

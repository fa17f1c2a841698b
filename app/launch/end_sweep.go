package launch

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/process"
)

// How long what is swept may take to end, first when it is asked to and then
// when it is killed, and how often that is looked at: each look reads the
// environment of all processes, so one follows the other ever more slowly.
const (
	sweepAsk   = time.Second
	sweepKill  = 3 * time.Second
	sweepFirst = 10 * time.Millisecond
	sweepMost  = 250 * time.Millisecond
)

// sweep ends what carries the mark of a launch, and what else of it is known,
// each with all below it, but not what people work in, nor what somebody else has
// started: first by asking, then by
// force, where everything is suspended before it is killed so that nothing can
// fork meanwhile. When hurry is closed there is no time to ask. The error Is
// ErrSurvived, and says what is left.
func (b *broom) sweep(hurry <-chan struct{}) error {
	looks := pauses{sweepFirst, sweepMost}
	until, forced := time.Now().Add(sweepAsk), false
	asked := map[monitor.Identity]bool{}
	for {
		now, all := b.collect()
		if len(now) == 0 && (all || !time.Now().Before(until)) {
			return nil
		}
		select {
		case <-hurry:
			hurry, until = nil, time.Now()
		default:
		}
		switch late := time.Since(until); {
		case len(now) == 0:
		case late > sweepKill:
			return fmt.Errorf("%w: process %d", ErrSurvived, now[0].PID)
		case late >= 0:
			if !forced { // whose effect is seen soon
				forced, looks.next = true, sweepFirst
			}
			b.kill(now)
		default:
			for _, id := range now {
				if !asked[id] {
					asked[id] = true
					terminate(id)
				}
			}
		}
		looks.wait(hurry)
	}
}

// broom finds what is left of a launch.
type broom struct {
	id       string // the value of the mark
	browsers bool   // are what people work in
	ours     []monitor.Identity
	seen     []monitor.Identity
	admitted map[monitor.Identity]bool // of those seen, what is to be ended
	strayed  map[monitor.Identity]bool // what a look has found to be somebody else's
	spared   map[monitor.Identity]bool
}

// newBroom makes the broom for a launch of which some processes are known. They
// are never what people work in; a zero one is left out.
func newBroom(id string, browsers bool, known ...monitor.Identity) *broom {
	b := &broom{
		id: id, browsers: browsers, ours: known,
		admitted: map[monitor.Identity]bool{}, strayed: map[monitor.Identity]bool{}, spared: map[monitor.Identity]bool{},
	}
	for _, id := range known {
		b.add(id)
	}
	return b
}

// collect returns what lives of it and is to be ended, and whether that is all as
// far as can be told. What was seen once stays known, also when it leaves the
// tree.
func (b *broom) collect() (alive []monitor.Identity, all bool) {
	now, err := b.look()
	isOurs := func(id monitor.Identity) bool { return slices.Contains(b.ours, id) }
	lone := strays(now, func(id monitor.Identity) bool { return isOurs(id) || b.admitted[id] || b.spared[id] }, parentOf)
	// Whether its parent has the mark may have been missed, because that had just
	// been started. So one look alone neither ends nor spares it.
	maps.Copy(b.spared, divide(now, func(id monitor.Identity) bool {
		return b.spared[id] || lone[id] && b.strayed[id] || isTheirs(id, b.browsers)
	}, isOurs))
	left := divide(now, func(id monitor.Identity) bool { return b.spared[id] || lone[id] }, isOurs)
	all = err == nil || errors.Is(err, errors.ErrUnsupported)
	for _, p := range now {
		switch {
		case left[p.Identity]:
			all = all && b.spared[p.Identity]
		case p.State != process.Unreaped:
			b.admitted[p.Identity] = true
			alive = append(alive, p.Identity)
		}
	}
	maps.Copy(b.strayed, lone)
	return alive, all
}

// look returns what carries the mark, and what was seen before, with all that is
// below it.
func (b *broom) look() (now []process.Stat, err error) {
	marked, err := process.Marked(launchMark, b.id)
	for _, id := range marked {
		b.add(id)
	}
	looked := map[monitor.Identity]bool{}
	for i := 0; i < len(b.seen); i++ { // which grows meanwhile
		if looked[b.seen[i]] {
			continue
		}
		tree, _ := process.Tree(b.seen[i]) // nobody, when it is gone
		for _, p := range tree {
			if !looked[p.Identity] && b.add(p.Identity) {
				looked[p.Identity] = true
				now = append(now, p)
			}
		}
	}
	return now, err
}

// add takes note of a process, and is false for one that cannot be of the launch.
func (b *broom) add(id monitor.Identity) bool {
	if id.PID <= 0 || id.PID == os.Getpid() {
		return false
	}
	if !slices.Contains(b.seen, id) {
		b.seen = append(b.seen, id)
	}
	return true
}

// kill suspends all of it until nothing new shows, and kills it then, children
// before their parents: when a parent ends, the kernel may hang up on a process
// group in which somebody stands still, and what people work in may be in that
// group.
func (b *broom) kill(now []monitor.Identity) {
	held := map[monitor.Identity]*process.Handle{}
	defer func() {
		for _, h := range held {
			h.Close()
		}
	}()
	stopped := map[monitor.Identity]bool{}
	for fresh := now; len(fresh) > 0; {
		for _, id := range fresh {
			stopped[id] = true
			if h, err := process.Hold(id); err == nil {
				held[id] = h
				_ = h.Suspend() // where that does not work, more rounds do
			}
		}
		fresh, _ = b.collect()
		fresh = slices.DeleteFunc(fresh, func(id monitor.Identity) bool { return stopped[id] })
	}
	for _, id := range slices.SortedFunc(maps.Keys(held), youngest) {
		if b.spared[id] { // which it became just before it stood still
			_ = held[id].Continue()
		} else {
			_ = held[id].Kill() // what is left is seen by the next look
		}
	}
}

// youngest puts what was started last first.
func youngest(a, b monitor.Identity) int {
	return cmp.Or(cmp.Compare(b.Start, a.Start), cmp.Compare(b.PID, a.PID))
}

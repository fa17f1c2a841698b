package share

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"lamplighter/app/launch"
	"lamplighter/monitor"
	"lamplighter/monitor/statefile"
)

// settle waits until all that earlier runs have left was adopted. Before that we start
// nothing ourselves.
func (b *Broker) settle(ctx context.Context) {
	select {
	case <-b.o.Launch.Inherited():
		b.mu.Lock()
		defer b.mu.Unlock()
		b.settled = true
		b.change()
	case <-ctx.Done():
	}
}

// Adopt takes over a shared server of an earlier run, before Inherited is closed. When Serve
// has ended it is for the next run.
func (b *Broker) Adopt(s Server) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.lifetime.Err() != nil {
		return
	}
	plan := &Plan{Key: s.Key(), Spec: launch.Spec{Project: s.Project()}}
	if g := b.groups[s.Key()]; s.Key() == "" || g != nil && g.runs() {
		// Two of one key are one too many. Nobody can join it, so that it ends
		// after a while; until then who has it may end his work.
		b.o.Log.Warn("a shared server of an earlier run has no key of its own, and will be ended", "server", s.Identity().String())
		plan.Key += " " + s.Identity().String()
	}
	b.begin(b.groupOf(plan), s)
}

// How long another program may keep the lock of a key, because it is being
// replaced by this one, and how often it is tried.
const (
	lockTime  = 10 * time.Second
	lockEvery = 50 * time.Millisecond
)

// lockKey takes the lock of a key in a directory, which it makes; in none there are no
// locks. It waits for another program that holds it; then the error Is errTaken.
func lockKey(ctx context.Context, dir, key string) (*flock.Flock, error) {
	if dir == "" {
		return nil, nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("the directory for locks cannot be made: %w", err)
	}
	path := filepath.Join(dir, key+".lock")
	taken := fmt.Errorf("%w, by the lock %s; end that lamplighter, or use its socket", errTaken, monitor.Clean(path))
	ctx, cancel := context.WithTimeoutCause(ctx, lockTime, taken)
	defer cancel()
	return statefile.Lock(ctx, path, lockEvery)
}

// unlock lets go of the lock of the key, if it is had.
func (g *group) unlock() {
	if g.lock != nil {
		os.Remove(g.lock.Path()) // first, so that it is ours; systems that refuse it keep an empty file
		g.lock.Close()
	}
	g.lock = nil
}

// How a server that ends again and again is kept from being started again and
// again.
const (
	mostCrashes = 3               // so many in a row are too many
	crashWindow = time.Minute     // a server that has run as long works
	crashFirst  = 5 * time.Second // how long nothing is started then
	crashMost   = 5 * time.Minute // what it doubles to at most; after as long it is forgotten
)

// crashes knows when a server may not be started because it has ended by itself
// too often. The zero value is that of one that has not ended yet.
type crashes struct {
	row   int       // how many in a row
	until time.Time // when it may be started again
	why   string    // how it ended the last time
}

// add takes in that a server ended by itself, or failed to start, how long it had
// run, and why.
func (c *crashes) add(at time.Time, ran time.Duration, why string) {
	if ran >= crashWindow || !c.matters(at) {
		c.row = 0
	}
	c.row++
	c.until, c.why = at, why
	if c.row < mostCrashes {
		return
	}
	pause := crashFirst
	for range c.row - mostCrashes {
		pause = min(2*pause, crashMost)
	}
	c.until = at.Add(pause)
}

// refuse is the reason for not starting a server now, nil when there is none.
func (c *crashes) refuse(now time.Time) error {
	if now.Before(c.until) {
		return fmt.Errorf("%w, the last time because %s; it is not started again before %s", errCrashes, c.why, c.until.Format(time.TimeOnly))
	}
	return nil
}

// matters reports whether anything of it still has an effect.
func (c *crashes) matters(now time.Time) bool { return c.row > 0 && now.Sub(c.until) < crashMost }

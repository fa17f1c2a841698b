package share

import (
	"fmt"
	"time"
)

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

package share

import (
	"fmt"
	"time"
)

// How a server that ends again and again is kept from being started again and
// again.
const (
	mostCrashes = 3               // so many within crashWindow are too many
	crashWindow = time.Minute     // and a server that has run as long works
	crashFirst  = 5 * time.Second // how long nothing is started then
	crashMost   = 5 * time.Minute // what it doubles to at most
)

// crashes knows when a server may not be started because it has ended by itself
// too often. The zero value is that of one that has not ended yet.
type crashes struct {
	ends  []time.Time // within the window, the oldest first
	pause time.Duration
	until time.Time
	why   string // how it ended the last time
}

// add takes in that a server ended by itself, or failed to start, how long it had
// run, and why.
func (c *crashes) add(at time.Time, ran time.Duration, why string) {
	if ran >= crashWindow {
		*c = crashes{}
	}
	c.why = why
	recent := c.ends[:0]
	for _, end := range c.ends {
		if at.Sub(end) < crashWindow {
			recent = append(recent, end)
		}
	}
	c.ends = append(recent, at)
	switch {
	case c.pause > 0: // it has not worked since
		c.pause = min(2*c.pause, crashMost)
	case len(c.ends) < mostCrashes:
		return
	default:
		c.pause = crashFirst
	}
	c.ends = c.ends[len(c.ends)-1:]
	c.until = at.Add(c.pause)
}

// refuse is the reason for not starting a server now, nil when there is none.
func (c *crashes) refuse(now time.Time) error {
	if now.Before(c.until) {
		return fmt.Errorf("%w, the last time because %s; it is not started again before %s", errCrashes, c.why, c.until.Format(time.TimeOnly))
	}
	return nil
}

// matters reports whether anything of it still has an effect.
func (c *crashes) matters(now time.Time) bool {
	if c.pause > 0 {
		return now.Sub(c.until) < crashMost
	}
	return len(c.ends) > 0 && now.Sub(c.ends[len(c.ends)-1]) < crashWindow
}

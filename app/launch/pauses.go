package launch

import "time"

// retryMost is the longest wait until what has survived, or could not be looked at, is
// tried again: ever more seldom, because what did not help for a long time hardly will.
const retryMost = 5 * time.Minute

// pauses are the waits between tries, each twice as long as the one before.
type pauses struct{ next, most time.Duration }

// take returns how long to wait now.
func (p *pauses) take() time.Duration {
	now := p.next
	p.next = min(2*now, p.most)
	return now
}

// wait waits for the next try, and is false when enough is closed before.
func (p *pauses) wait(enough <-chan struct{}) bool {
	timer := time.NewTimer(p.take())
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-enough:
		return false
	}
}

// retries are the waits before what has failed is tried again.
func (l *Launcher) retries() *pauses { return &pauses{next: l.o.Limits.Retry, most: retryMost} }

package watch

import "time"

// tolerance is how much the clocks may differ, and how much later than asked for
// a timer may come: a busy machine is no sleeping one.
const tolerance = 30 * time.Second

// jumped tells that the machine slept or its clock was set in a time that was to be no
// longer than wait: by the wall clock, which may be set and goes on while the machine
// sleeps, and by the monotonic one, which is never set, and goes on or not, depending
// on the system.
func jumped(wall, mono, wait time.Duration) bool {
	apart := wall - mono
	return apart > tolerance || apart < -tolerance || mono > wait+tolerance
}

// noteClock looks whether spans count anew from now. It is to be called before each
// snapshot, so that nothing is decided by a time in which the machine slept: no two of
// them are further apart than a tick.
func (l *loop) noteClock(now time.Time) {
	before := l.clock
	l.clock = now
	if before.IsZero() || !jumped(now.Round(0).Sub(before.Round(0)), now.Sub(before), l.o.Limits.Tick) {
		return
	}
	l.o.Log.Info("the machine slept or its clock was set; how long servers have been idle or alone counts from now")
	l.awakeSince = now
}

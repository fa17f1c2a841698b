package policies

import "time"

// moment is a reading of both clocks.
type moment struct {
	now  time.Time     // its wall clock may be set, and goes on while the machine sleeps
	mono time.Duration // is never set; whether it goes on depends on the system
}

// reader reads the clocks of the system.
func reader() func() moment {
	base := time.Now()
	return func() moment {
		now := time.Now()
		return moment{now: now, mono: now.Sub(base)}
	}
}

// tolerance is how much the clocks may differ, and how much later than asked for
// a timer may come: a busy machine is no sleeping one.
const tolerance = 30 * time.Second

// watchful is how long a wait may be while something is planned: a sleep that
// the clocks do not show (those of Windows go on) is seen by its length then.
const watchful = time.Minute

// jumped tells that the machine slept or its clock was set between two moments,
// the second of which was to come after wait at the latest.
func jumped(before, after moment, wait time.Duration) bool {
	mono := after.mono - before.mono
	wall := after.now.Round(0).Sub(before.now.Round(0))
	apart := wall - mono
	return apart > tolerance || apart < -tolerance || mono > wait+tolerance
}

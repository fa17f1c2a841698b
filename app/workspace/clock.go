package workspace

import (
	"sync"
	"time"

	"lamplighter/monitor/process"
)

// Stamp is a moment by three clocks. The wall clock is set by people and by the
// network, so what has passed since a moment is told by the clock of the boot
// where that is possible.
type Stamp struct {
	Wall      time.Time     `json:"wall"`
	Boot      string        `json:"boot,omitempty"` // which run of the system; "" where that is not known
	SinceBoot time.Duration `json:"since_boot,omitempty"`
}

// bootID is read once: it stays the same for as long as a process can live.
var bootID = sync.OnceValue(func() string {
	id, err := process.BootID()
	if err != nil {
		return "" // then the wall clock has to do
	}
	return id
})

// now reads the clocks. SinceBoot goes on while the system sleeps.
func now() Stamp {
	s := Stamp{Wall: time.Now().Round(0).UTC(), Boot: bootID(), SinceBoot: sinceBoot()}
	if s.SinceBoot <= 0 {
		s.Boot = ""
	}
	return s
}

// sameBoot reports whether two moments were in one run of the system.
func sameBoot(a, b Stamp) bool { return a.Boot != "" && a.Boot == b.Boot }

// elapsed is what has passed from one moment to a later one, never less than
// nothing: a clock that was set back makes nothing due.
func elapsed(from, to Stamp) time.Duration {
	if sameBoot(from, to) {
		return max(to.SinceBoot-from.SinceBoot, 0)
	}
	return max(to.Wall.Sub(from.Wall), 0)
}

// after reports whether a is later than b.
func after(a, b Stamp) bool {
	if sameBoot(a, b) {
		return a.SinceBoot > b.SinceBoot
	}
	return a.Wall.After(b.Wall)
}

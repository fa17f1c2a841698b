package workspace

import "time"

// Stamp is a moment by three clocks. The wall clock is set by people and by the
// network, so what has passed since a moment is told by the clock of the boot
// where that is possible.
type Stamp struct {
	Wall      time.Time     `json:"wall"`
	Boot      string        `json:"boot,omitempty"` // which run of the system; "" where that is not known
	SinceBoot time.Duration `json:"since_boot,omitempty"`
}

// now reads the clocks.
func now() Stamp { return Stamp{Wall: time.Now()} }

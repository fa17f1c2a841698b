package policy

import (
	"maps"
	"time"

	"lamplighter/monitor"
)

// Wishes are what the user has said about the policies since they were set. Its maps are
// replaced, never changed. The zero value is that nothing was said.
type Wishes struct {
	// Off are the rules that are switched off.
	Off map[Rule]bool
	// Kept are the instances that no policy ends, and until when. A situation has that
	// with its servers.
	Kept map[monitor.Identity]time.Time `json:"-"`
	// Paused says that nothing is to be done, PausedUntil until when; zero: until that
	// is taken back.
	Paused      bool
	PausedUntil time.Time
}

// Clone is a copy that may be changed.
func (w Wishes) Clone() Wishes {
	kept, off := map[monitor.Identity]time.Time{}, map[Rule]bool{}
	maps.Copy(kept, w.Kept)
	maps.Copy(off, w.Off)
	w.Kept, w.Off = kept, off
	return w
}

// PausedAt reports whether the policies are paused then.
func (w Wishes) PausedAt(now time.Time) bool {
	return w.Paused && (w.PausedUntil.IsZero() || now.Before(w.PausedUntil))
}

// KeptAt reports whether an instance is kept then.
func (w Wishes) KeptAt(id monitor.Identity, now time.Time) (until time.Time, kept bool) {
	until, kept = w.Kept[id]
	return until, kept && now.Before(until)
}

// Tidy is a copy without what has come to its end by then.
func (w Wishes) Tidy(now time.Time) Wishes {
	w = w.Clone()
	if !w.PausedAt(now) {
		w.Paused, w.PausedUntil = false, time.Time{}
	}
	maps.DeleteFunc(w.Kept, func(_ monitor.Identity, until time.Time) bool { return !now.Before(until) })
	return w
}

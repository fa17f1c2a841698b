package launch

import (
	"cmp"
	"time"
)

// lookLimit is how long a look at the files may take.
const lookLimit = 2 * time.Second

// Limits are how long a Finder and a Launcher wait. A zero field means the default.
type Limits struct {
	// How long a program may take to say its version, also when it may have to be
	// downloaded: it is an interpreter that loads a lot, seconds, and many of them while a
	// desktop starts. And a login shell, to say its PATH.
	Version, Download, Shell time.Duration

	Look   time.Duration // a look at files, see lookLimit
	Linger time.Duration // a shared server without any background process
	Keeper time.Duration // a keeper, to end what it keeps, for which it gives 3 s and 1 s
	Close  time.Duration // the servers of sessions, to end with us before they are killed
	Retry  time.Duration // until what has failed is tried again for the first time
}

func (l Limits) orDefault() Limits {
	return Limits{
		Version: cmp.Or(l.Version, time.Minute), Download: cmp.Or(l.Download, time.Minute), Shell: cmp.Or(l.Shell, 5*time.Second),
		Look: cmp.Or(l.Look, lookLimit), Linger: cmp.Or(l.Linger, 2*time.Minute), Keeper: cmp.Or(l.Keeper, keeperTime),
		Close: cmp.Or(l.Close, 2700*time.Millisecond), Retry: cmp.Or(l.Retry, 5*time.Second),
	}
}

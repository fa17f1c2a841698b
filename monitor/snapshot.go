package monitor

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// Snapshot is everything a view may know at one moment. It is immutable: the
// watch makes a new one for each change and never touches an old one.
type Snapshot struct {
	Seq uint64 // grows by one with each change
	At  time.Time
	// AwakeSince is when the machine last woke, or its clock was last set, while the
	// watch ran; zero: never.
	AwakeSince time.Time
	// Instances are in the order of Sort. One that has not changed is the same pointer as in the
	// snapshot before.
	Instances []*Instance
	// Warnings are things the user should know that are not about one
	// instance, such as a broken settings file. Each is one sentence.
	Warnings []string
	// Recent are the last RecentEvents things that happened, newest first.
	Recent []Event
	Policy Policy
}

// Instance is the one with that identity, nil when there is none.
func (s *Snapshot) Instance(id Identity) *Instance {
	for _, in := range s.Instances {
		if in.Identity == id {
			return in
		}
	}
	return nil
}

// Worst is the state of what is listed that most needs to be seen: any zombie
// before anything else, then one without a project, then starting, then live. It is empty
// when there is none.
func (s *Snapshot) Worst() State {
	worst := -1
	for _, in := range s.Instances {
		if in.Listed() {
			worst = max(worst, slices.Index(bySeverity, in.State))
		}
	}
	if worst < 0 {
		return ""
	}
	return bySeverity[worst]
}

// Totals counts what is listed of a snapshot in the numbers every view shows.
type Totals struct {
	Instances int
	Attention int // zombies
	Sessions  int // that end with the background process
	Parked    int
	Shared    int // that run
	RSSBytes  uint64
	// SavedBytes is what separate servers would need besides.
	SavedBytes   uint64
	GivenUpBytes uint64 // of those that are listed no more, which count nowhere else
	// Unsure are the processes on the pipes of clients, which count nowhere else.
	Unsure int
}

// Totals sums the snapshot up.
func (s *Snapshot) Totals() Totals {
	var t Totals
	for _, in := range s.Instances {
		switch {
		case in.OnPipes:
			t.Unsure++
			continue
		case !in.Listed():
			t.GivenUpBytes += in.RSSBytes
			continue
		}
		t.Instances++
		t.RSSBytes += in.RSSBytes
		if in.State == StateZombie {
			t.Attention++
		}
		if in.Lifetime == LifetimeSession {
			t.Sessions++
		}
		switch {
		case in.State == StateParked:
			t.Parked++
		case in.IsShared():
			t.Shared++
		}
		if sharing := in.Sharing; sharing != nil {
			t.SavedBytes += sharing.SavedBytes
		}
	}
	return t
}

// Sort puts instances in the order of every listing: those that need attention
// first, then by name, then by pid, so that entries keep their place
// while others come and go; last what is only on a client's pipes.
func Sort(list []*Instance) {
	slices.SortFunc(list, func(a, b *Instance) int {
		return cmp.Or(
			cmp.Compare(a.rank(), b.rank()),
			cmp.Compare(strings.ToLower(a.Name()), strings.ToLower(b.Name())),
			cmp.Compare(a.Identity.PID, b.Identity.PID),
			cmp.Compare(a.Identity.Start, b.Identity.Start),
		)
	})
}

func (in *Instance) rank() (rank int) {
	if in.OnPipes {
		rank = 2
	}
	if in.State != StateZombie {
		rank++
	}
	return rank
}

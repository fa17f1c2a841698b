package share

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"lamplighter/app/project"
	"lamplighter/monitor"
)

// othersFor is how long it counts who was logged in.
const othersFor = 5 * time.Second

// others is who else was logged in.
type others struct {
	names []string
	err   error
	at    time.Time
}

// shownNames is how many names a sentence holds.
const shownNames = 3

// othersSee says why servers are not shared while others are logged in: a server
// on a loopback port answers to everybody on the machine. The error is that of
// ctx.
func (a *Planner) othersSee(ctx context.Context) (why string, err error) {
	if a.o.Allowed() {
		return "", nil
	}
	known := a.knownOthers()
	if known.at.IsZero() {
		// Many clients come together, and each process of the machine is looked at.
		found, err := project.Look(ctx, &a.looks, "users", "", func(string) others { return a.askOthers() })
		switch {
		case ctx.Err() != nil:
			return "", ctx.Err()
		case err != nil:
			found.err = err
		}
		known = found
	}
	if known.err != nil {
		a.o.Log.Warn("who else is logged in is not known, so that nothing is shared", "error", known.err)
	}
	return othersInWords(known), nil
}

// knownOthers are those found a moment ago, zero when that is too long ago.
func (a *Planner) knownOthers() others {
	a.mu.Lock()
	defer a.mu.Unlock()
	if time.Since(a.others.at) >= othersFor {
		return others{}
	}
	return a.others
}

func (a *Planner) askOthers() others {
	names, err := a.o.OthersLoggedIn()
	found := others{names: names, err: err, at: time.Now()}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.others = found
	return found
}

func othersInWords(o others) string {
	const allowed = ", and could use what is shared (share_with_other_users allows it)"
	var names []string
	for _, name := range o.names[:min(len(o.names), shownNames)] {
		names = append(names, monitor.Shorten(monitor.Clean(name), 40))
	}
	who := strings.Join(names, ", ")
	switch n := len(o.names); {
	case n == 1:
		return "another user is logged in, " + who + allowed
	case n > shownNames:
		return fmt.Sprintf("%d other users are logged in, %s and others%s", n, who, allowed)
	case n > 1:
		return "other users are logged in, " + who + allowed
	case o.err != nil:
		return "it is not known whether other users are logged in, who could use what is shared (share_with_other_users allows it)"
	}
	return ""
}

// Forbids says why nothing may be shared now, as a part of a sentence; "" when it
// may be, and when ctx has ended.
func (a *Planner) Forbids(ctx context.Context) (why string) {
	why, _ = a.othersSee(ctx)
	return why
}

// LoggedIn returns the names of the users other than us, and other than the
// system's own, who have a session or a program running, in a fixed order. The
// error says that it cannot be known.
func LoggedIn() ([]string, error) {
	found, err := otherUsers()
	return slices.Sorted(maps.Keys(found)), err
}

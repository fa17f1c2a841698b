package share

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"lamplighter/app/project"
	"lamplighter/monitor"
)

// othersFor is how long it counts who was logged in.
const othersFor = 5 * time.Second

// others says who else was logged in when it was asked last. Each process of the
// machine is looked at for it, so that of many who ask together one does.
type others struct {
	mu  sync.Mutex
	why string
	at  time.Time
}

// Forbids says why nothing may be shared now, as a part of a sentence; "" when it may
// be, and when ctx has ended. While others are logged in nothing is: a server on a
// loopback port answers to everybody on the machine.
func (a *Planner) Forbids(ctx context.Context) (why string) {
	if a.o.Allowed() {
		return ""
	}
	// A directory service that names them may hang.
	why, err := project.Look(ctx, &a.looks, "users", "", func(string) string { return a.lookForOthers() })
	if errors.Is(err, project.ErrSilent) {
		return othersInWords(nil, err)
	}
	return why
}

func (a *Planner) lookForOthers() (why string) {
	a.others.mu.Lock()
	defer a.others.mu.Unlock()
	if time.Since(a.others.at) >= othersFor {
		names, err := a.o.OthersLoggedIn()
		if err != nil {
			a.o.Log.Warn("who else is logged in is not known, so that nothing is shared", "error", err)
		}
		a.others.why, a.others.at = othersInWords(names, err), time.Now()
	}
	return a.others.why
}

// shownNames is how many names a sentence holds.
const shownNames = 3

func othersInWords(names []string, err error) string {
	const allowed = ", who could use what is shared (share_with_other_users allows it)"
	if len(names) == 0 {
		if err != nil {
			return "it is not known whether other users are logged in" + allowed
		}
		return ""
	}
	var shown []string
	for _, name := range names[:min(len(names), shownNames)] {
		shown = append(shown, monitor.Shorten(monitor.Clean(name), 40))
	}
	if more := len(names) - len(shown); more > 0 {
		shown = append(shown, monitor.Plural(more, "other", "others"))
	}
	return monitor.Plural(len(names), "other user is", "other users are") + " logged in, " + strings.Join(shown, ", ") + allowed
}

// LoggedIn returns the names of the users other than us, and other than the
// system's own, who have a session or a program running, in a fixed order. The
// error says that it cannot be known.
func LoggedIn() ([]string, error) {
	found, err := otherUsers()
	return slices.Sorted(maps.Keys(found)), err
}

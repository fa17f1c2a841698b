package share

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"lamplighter/app/project"
	"lamplighter/monitor"
)

// Forbids says why nothing may be shared now, as a part of a sentence; "" when it may
// be, and when ctx has ended. While others are logged in nothing is: a server on a
// loopback port answers to everybody on the machine.
func (a *Planner) Forbids(ctx context.Context) (why string) {
	if a.o.Allowed() {
		return ""
	}
	// A directory service that names them may hang. Of many who ask together one looks.
	why, err := project.Look(ctx, &a.looks, "users", "", func(string) string { return othersInWords(a.o.OthersLoggedIn()) })
	if errors.Is(err, project.ErrSilent) {
		return othersInWords(nil, err)
	}
	return why
}

// nameColumns is how much of the names a sentence holds.
const nameColumns = 60

func othersInWords(names []string, err error) string {
	const allowed = ", who could use what is shared (share_with_other_users allows it)"
	switch {
	case len(names) > 0:
		shown := monitor.Shorten(monitor.Clean(strings.Join(names, ", ")), nameColumns)
		return monitor.Plural(len(names), "other user is", "other users are") + " logged in, " + shown + allowed
	case err != nil:
		return "it is not known whether other users are logged in" + allowed
	}
	return ""
}

// LoggedIn returns the names of the users other than us, and other than the
// system's own, who have a session or a program running, in a fixed order. The
// error says that it cannot be known.
func LoggedIn() ([]string, error) {
	found, err := otherUsers()
	return slices.Sorted(maps.Keys(found)), err
}

package ask

import (
	"maps"
	"slices"
)

// LoggedIn returns the names of the users other than us, and other than the
// system's own, who have a session or a program running, in a fixed order. The
// error says that it cannot be known.
func LoggedIn() ([]string, error) {
	found, err := otherUsers()
	return slices.Sorted(maps.Keys(found)), err
}

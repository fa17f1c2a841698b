//go:build !linux

package pins

// bootID needs to name no boot: here a start time counts from a year, and does
// not come again.
func bootID() (string, error) { return "", nil }

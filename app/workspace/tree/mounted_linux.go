package tree

import "os"

// mountedIn finds a mount on a path without links, or below it.
func mountedIn(path string) (at string, is bool, err error) {
	table, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return "", false, err
	}
	at, is = mountBelow(string(table), path)
	return at, is, nil
}

package tree

// mountedIn finds nothing: what is mounted in a directory is a junction there,
// which who removes that directory does not enter.
func mountedIn(string) (at string, is bool, err error) { return "", false, nil }

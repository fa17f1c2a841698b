package main

import "os"

// findSockets are the places where the background process may listen, the likeliest
// first. It finds what config.Find does where the environment is that of the
// user's session. Some clients, such as Codex and Gemini CLI, pass on little of
// it, so that the usual places are tried as well.
func findSockets(named string) []string {
	if named == "" {
		named = os.Getenv("LAMPLIGHTER_SOCKET")
	}
	if named != "" {
		return []string{named}
	}
	return usualSockets()
}

// dialFirst connects to the first of the places where somebody listens. The
// error is that of the first one.
func dialFirst(paths []string) (link, error) {
	var first error = os.ErrNotExist
	for i, path := range paths {
		l, err := dialSocket(path)
		if err == nil {
			return l, nil
		}
		if i == 0 {
			first = err
		}
	}
	return nil, first
}

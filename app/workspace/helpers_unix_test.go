//go:build unix

package workspace

// helpers are what a test binary can do that was started by a test; each says
// with which status it ends.
func helpers() map[string]func() int {
	return map[string]func() int{"create": createUntilKilled}
}

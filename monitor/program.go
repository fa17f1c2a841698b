package monitor

import "strings"

// ProgramName is what a program is called: the base name of its executable or
// script in lower case, without the endings that systems, packagers and the
// kernel add. Both kinds of separator count, because a table recorded on one
// system is read on another.
func ProgramName(path string) string {
	path = strings.TrimSuffix(path, " (deleted)")
	if i := strings.LastIndexAny(path, `/\`); i >= 0 {
		path = path[i+1:]
	}
	path = strings.ToLower(path)
	for _, ending := range []string{".exe", ".cmd", "-script.py", "-script.pyw", ".py", ".js", ".mjs", ".cjs"} {
		path = strings.TrimSuffix(path, ending)
	}
	return path
}

package rules

import (
	"slices"
	"strings"

	"lamplighter/monitor"
)

// IsShim tells whether a process is the shim that a client runs in place of a
// server, "lamplighter-connect connect OPTION… [--] COMMAND…", or the verb above it
// where a program cannot take another's place (Windows), "lamplighter connect …".
// It names a server and is none. A server below it is one that cannot be shared,
// and its client is whoever runs the shim. Between the two stands the keeper of
// the shim, "lamplighter-connect own -- COMMAND…", which counts as the shim does.
func IsShim(exe string, args []string) bool {
	if len(args) < 3 || args[1] != "connect" && args[1] != "own" {
		return false
	}
	name := monitor.ProgramName(exe)
	if name != connectProgram && (name != mainProgram || args[1] != "connect") || monitor.ProgramName(args[0]) != name {
		return false
	}
	return namesCommand(args[2:])
}

// followed are the options of connect that may have their value in the next
// argument.
var followed = []string{"--socket", "--flag", "--web-dashboard-global-port", "--idle-shutdown-minutes"}

// namesCommand tells whether a command stands behind the options of connect: it
// begins with the first word that is no option, or behind "--", which some
// clients take away. Source: app/connect/connect_options.go.
func namesCommand(args []string) bool {
	for len(args) > 0 {
		word := args[0]
		args = args[1:]
		switch {
		case word == "--":
			return len(args) > 0 && args[0] != ""
		case !strings.HasPrefix(word, "-"):
			return word != ""
		case slices.Contains(followed, word):
			if len(args) == 0 || args[0] == "--" {
				return false
			}
			args = args[1:]
		}
	}
	return false
}

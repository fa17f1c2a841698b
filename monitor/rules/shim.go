package rules

import (
	"slices"

	"lamplighter/monitor"
)

// IsShim tells whether a process is the shim that a client runs in place of a
// server, "lamplighter-connect connect OPTION… -- COMMAND…", or the verb above it
// where a program cannot take another's place (Windows), "lamplighter connect …".
// It names a server and is none. A server below it is one that cannot be shared,
// and its client is whoever runs the shim.
func IsShim(exe string, args []string) bool {
	if len(args) < 4 || args[1] != "connect" {
		return false
	}
	name := monitor.ProgramName(exe)
	if name != connectProgram && name != mainProgram || monitor.ProgramName(args[0]) != name {
		return false
	}
	end := slices.Index(args, "--")
	return end > 1 && end+1 < len(args) && args[end+1] != ""
}

package rules

import (
	"slices"

	"lamplighter/monitor"
)

// Our own programs: the mode "keep" of connectProgram is the keeper.
const (
	mainProgram    = "lamplighter"
	connectProgram = "lamplighter-connect"
)

// IsKeeper tells whether a process is the keeper that we put above each server
// we start: "lamplighter-connect keep OPTION… -- COMMAND…". It exists for that
// server alone. Another mode of the program, or another program that only shares
// its name or its words, is none.
func IsKeeper(exe string, args []string) bool {
	if len(args) < 4 || args[1] != "keep" || monitor.ProgramName(exe) != connectProgram || monitor.ProgramName(args[0]) != connectProgram {
		return false
	}
	end := slices.Index(args, "--")
	return end > 1 && end+1 < len(args) && args[end+1] != ""
}

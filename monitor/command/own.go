package command

import "lamplighter/monitor"

// connectProgram has the modes "connect", "keep" and "own". The main program has a verb
// connect that runs it.
const connectProgram = "lamplighter-connect"

// IsKeeper reports whether a process is the keeper that we put above each server
// we start: "lamplighter-connect keep OPTION… -- COMMAND…". It exists for that
// server alone. Another mode of the program, or another program that only shares
// its name or its words, is none.
func IsKeeper(exe string, args []string) bool {
	return monitor.ProgramName(exe) == connectProgram && IsLauncher(exe, args) && args[1] == "keep"
}

// IsShim reports whether a process is the shim that a client runs in place of a
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
	if name != connectProgram && (name != "lamplighter" || args[1] != "connect") || monitor.ProgramName(args[0]) != name {
		return false
	}
	_, command := Connect(args[2:])
	return len(command) > 0
}

// connectValues are the options of connect that may have their value in the next
// word. Source: app/connect/connect_options.go.
const connectValues = "--socket --flag --web-dashboard-global-port --idle-shutdown-minutes"

// Connect divides what follows "lamplighter-connect connect" into its options,
// each with its value behind "=" or as the next word, and the command of the
// server: that begins with the first word that is no option, or behind "--", which
// some clients take away.
func Connect(words []string) (options, command []string) {
	_, command = (&syntax{values: connectValues}).options(words)
	options = words[:len(words)-len(command)]
	if at := len(options) - 1; at >= 0 && options[at] == "--" {
		options = options[:at]
	}
	if len(command) == 0 || command[0] == "" {
		return options, nil
	}
	return options, command
}

// ConnectTakesValue reports whether an option of connect has its value in the next word.
func ConnectTakesValue(option string) bool { return monitor.HasWord(connectValues, option) }

package setup

import (
	"slices"
	"strings"

	"lamplighter/monitor"
	"lamplighter/monitor/command"
)

// A command is a list of words here, the program first.

// The programs that stand in front of a server, and their verb.
const (
	connectProgram = "lamplighter-connect"
	mainProgram    = "lamplighter" // it puts lamplighter-connect in its place
	connectVerb    = "connect"
	orDirectFlag   = "--or-direct"
	socketFlag     = "--socket"
)

// connection is a command that runs lamplighter-connect in front of a server.
type connection struct {
	shell   []string // "cmd /c" before it
	program string   // as it is written
	flags   []string // of connect, as they are written
	command []string // of the server
}

// readConnection takes a command apart. It is ours when it runs our program;
// why then says why it makes no sense, as a part of a sentence.
func readConnection(goos string, words []string) (c connection, ours bool, why string) {
	var rest []string
	c.shell, rest = cutShell(goos, words)
	if len(rest) == 0 {
		return connection{}, false, ""
	}
	c.program = rest[0]
	switch monitor.ProgramName(c.program) {
	case connectProgram:
		if len(rest) < 2 || rest[1] != connectVerb {
			return c, true, "it runs " + connectProgram + " without " + connectVerb
		}
	case mainProgram:
		if len(rest) < 2 || rest[1] != connectVerb {
			return connection{}, false, ""
		}
	default:
		return connection{}, false, ""
	}
	c.flags, c.command = command.Connect(rest[2:])
	if len(c.command) == 0 {
		return c, true, "it runs " + connectProgram + " without the command of a server"
	}
	return c, true, ""
}

// runsUs reports whether a command runs a program of ours, be it through another one.
func runsUs(words []string) bool {
	return len(words) > 0 && monitor.ProgramName(words[0]) == mainProgram ||
		slices.ContainsFunc(words, func(word string) bool { return strings.Contains(word, connectProgram) })
}

// cutShell takes "cmd /c" from the front of a command.
func cutShell(goos string, words []string) (shell, rest []string) {
	if goos != "windows" {
		return nil, words
	}
	rest = command.WithoutShell(words)
	return words[:len(words)-len(rest)], rest
}

// wrap puts lamplighter-connect in front of a command. The words behind "--" are
// what the client ran, so that they can be had back.
func wrap(connect, socket string, words []string) []string {
	return connection{command: words}.through(connect, socket)
}

// through is the same server behind the lamplighter-connect of this
// installation, and runs by itself when Lamplighter does not. A socket takes the
// place of the one that it names; what else connect was told stays. A "cmd /c" before
// it goes: it is needed for scripts only, and takes quotation marks away.
func (c connection) through(connect, socket string) []string {
	words := []string{connect, connectVerb}
	if !c.orDirect() {
		words = append(words, orDirectFlag)
	}
	flags := c.flags
	if socket != "" {
		words = append(words, socketFlag, socket)
		_, flags = c.cutSocket()
	}
	words = append(append(words, flags...), "--")
	return append(words, c.command...)
}

// cutSocket is the socket that connect is told, "" for none, and what else it is
// told.
func (c connection) cutSocket() (socket string, rest []string) {
	for i := 0; i < len(c.flags); i++ {
		flag := c.flags[i]
		value, inline := strings.CutPrefix(flag, socketFlag+"=")
		two := command.ConnectTakesValue(flag) && i+1 < len(c.flags)
		if two {
			i++
			value = c.flags[i]
		}
		switch {
		case inline || flag == socketFlag:
			if inline || two {
				socket = value // the last one counts
			}
		case two:
			rest = append(rest, flag, value)
		default:
			rest = append(rest, flag)
		}
	}
	return socket, rest
}

func (c connection) orDirect() bool {
	for i, flag := range c.flags {
		if flag == orDirectFlag && (i == 0 || !command.ConnectTakesValue(c.flags[i-1])) {
			return true
		}
	}
	return false
}

// unwrap is what the client would run without us.
func (c connection) unwrap() []string {
	if inner := monitor.ProgramName(c.command[0]); inner == "cmd" {
		return slices.Clone(c.command)
	}
	return append(slices.Clone(c.shell), c.command...)
}

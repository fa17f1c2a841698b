package setup

import (
	"slices"
	"strings"

	"lamplighter/app/share/ask"
	"lamplighter/monitor"
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
	rest = rest[2:]
	for len(rest) > 0 {
		word := rest[0]
		switch {
		case word == "--":
			c.command = rest[1:]
			rest = nil
			continue
		// Some clients take the -- away.
		case !strings.HasPrefix(word, "-"):
			c.command = rest
			rest = nil
			continue
		case slices.Contains(followed, word) && len(rest) > 1 && rest[1] != "--":
			c.flags = append(c.flags, word, rest[1])
			rest = rest[2:]
		default:
			c.flags = append(c.flags, word)
			rest = rest[1:]
		}
	}
	if len(c.command) == 0 || c.command[0] == "" {
		return c, true, "it runs " + connectProgram + " without the command of a server"
	}
	return c, true, ""
}

// followed are the options of connect that may have their value in the next
// word. Source: app/connect/connect_options.go.
var followed = []string{socketFlag, "--flag", "--web-dashboard-global-port", "--idle-shutdown-minutes"}

// cutShell takes "cmd /c" from the front of a command.
func cutShell(goos string, words []string) (shell, rest []string) {
	if goos != "windows" {
		return nil, words
	}
	rest = ask.WithoutShell(words)
	return words[:len(words)-len(rest)], rest
}

// wrap puts lamplighter-connect in front of a command. The words behind "--" are
// what the client ran, so that they can be had back.
func wrap(connect, socket string, orDirect bool, words []string) []string {
	return connection{command: words}.through(connect, socket, orDirect)
}

// through is the same server behind the lamplighter-connect of this
// installation. A socket takes the place of the one that it names; what else connect
// was told stays. A "cmd /c" before it goes: it is needed for scripts only, and
// takes quotation marks away.
func (c connection) through(connect, socket string, orDirect bool) []string {
	words := []string{connect, connectVerb}
	if orDirect && !c.orDirect() {
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
		two := slices.Contains(followed, flag) && i+1 < len(c.flags)
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
		if flag == orDirectFlag && (i == 0 || !slices.Contains(followed, c.flags[i-1])) {
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

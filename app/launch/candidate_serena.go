package launch

import (
	"slices"
	"strings"

	"lamplighter/monitor"
	"lamplighter/monitor/command"
)

// program is how Serena calls its own, and how its Python package is called,
// which is not the same.
const (
	program      = "serena"
	oldProgram   = "serena-mcp-server" // until 1.0
	packageName  = "serena-agent"
	subcommand   = "start-mcp-server"
	oldest       = "1.0.0" // the first that speaks streamable HTTP
	oldestPython = "3.11"
)

// entry runs Serena in an interpreter. `-m serena.cli` would not do: in every
// version so far the module only defines the commands, and ends without a word.
const entry = "from serena.cli import top_level; top_level(prog_name='serena')"

// downloads reports whether a command may fetch what it runs.
func downloads(words []string) bool {
	return command.Is(monitor.ProgramName(words[0]), command.Fetcher)
}

// asking returns the command that makes a Serena tell its version: without the
// subcommand and what follows it.
func asking(command []string) []string {
	if i := slices.Index(command, subcommand); i > 0 {
		command = command[:i]
	}
	return append(slices.Clip(command), "--version")
}

// interpreterOf returns the part of a command that is an interpreter of Python
// with what chooses its version (py -3.12); nil when it runs something else.
func interpreterOf(words []string) []string {
	if !command.IsPython(monitor.ProgramName(words[0])) {
		return nil
	}
	n := 1
	for n < len(words) && (strings.HasPrefix(words[n], "-V:") || len(words[n]) > 1 && words[n][0] == '-' && words[n][1] >= '2' && words[n][1] <= '9') {
		n++
	}
	return words[:n:n]
}

// moduleOf returns the module that a command runs with -m.
func moduleOf(words []string) string {
	if c := command.Parse("", words); c.Flag == "-m" && len(c.Through) == 0 {
		return c.Script
	}
	return ""
}

package launch

import (
	"slices"
	"strings"

	"lamplighter/monitor"
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

// isSerena tells whether a command, as the settings give it, is Serena's.
func isSerena(command []string) bool {
	if len(command) == 0 {
		return true
	}
	name := strings.ToLower(monitor.ProgramName(command[0]))
	ours := func(arg string) bool {
		arg = strings.ToLower(arg)
		return slices.Contains([]string{program, packageName, oldProgram}, monitor.ProgramName(arg)) ||
			strings.HasPrefix(arg, "serena.") || strings.Contains(arg, "serena.cli") || strings.HasPrefix(arg, packageName) || strings.Contains(arg, "/serena")
	}
	switch {
	case slices.Contains([]string{program, packageName, oldProgram}, name):
		return true
	case monitor.IsPython(name), slices.Contains([]string{"uv", "uvx", "pipx", "pixi", "poetry", "conda", "mamba", "rye", "hatch", "pdm"}, name):
		return slices.ContainsFunc(command[1:], ours)
	}
	return false
}

// downloads tells whether a command may fetch what it runs.
func downloads(command []string) bool {
	name := strings.ToLower(monitor.ProgramName(command[0]))
	return name == "uvx" || name == "uv" || name == "pipx"
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
func interpreterOf(command []string) []string {
	if !monitor.IsPython(monitor.ProgramName(command[0])) {
		return nil
	}
	n := 1
	for n < len(command) && (strings.HasPrefix(command[n], "-V:") || len(command[n]) > 1 && command[n][0] == '-' && command[n][1] >= '2' && command[n][1] <= '9') {
		n++
	}
	return command[:n:n]
}

// moduleOf returns the module that a command runs with -m.
func moduleOf(command []string) string {
	if interpreterOf(command) == nil {
		return ""
	}
	for i, arg := range command[1:] {
		if name, ok := strings.CutPrefix(arg, "-m"); ok {
			if name != "" {
				return name
			}
			if i+2 < len(command) {
				return command[i+2]
			}
		}
		if !strings.HasPrefix(arg, "-") || arg == "-c" {
			return ""
		}
	}
	return ""
}

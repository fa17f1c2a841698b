package serena

import (
	"path"
	"slices"
	"strings"

	"lamplighter/monitor"
)

// Command is what the command line of a Serena MCP server says about it.
type Command struct {
	Project   string // as given: a path or a registered name; empty when none
	FromCwd   bool   // --project-from-cwd
	Context   string
	Modes     []string
	Transport string // "stdio", "sse" or "streamable-http"

	Args []string // everything behind what makes it a server, as given
}

// ParseCommand tells whether a process is a Serena MCP server, by executable
// and arguments: exe is the path of the program that runs (empty when it cannot
// be read), args its command line. A process whose arguments merely mention
// Serena, such as an editor, a shell or a launcher like uvx, is not one.
func ParseCommand(exe string, args []string) (Command, bool) {
	rest, ok := serverArgs(exe, args)
	if !ok || slices.Contains(rest, "--help") {
		return Command{}, false
	}
	return parseFlags(rest), true
}

// serverArgs returns the arguments behind what makes it a Serena MCP server.
func serverArgs(exe string, args []string) ([]string, bool) {
	if len(args) == 0 {
		return nil, false
	}
	name := monitor.ProgramName(args[0])
	if monitor.IsPython(name) {
		if exe != "" && !monitor.IsPython(monitor.ProgramName(exe)) {
			return nil, false // argv[0] claims to be an interpreter, the program is not one
		}
		return pythonArgs(args[1:])
	}
	// A launcher binary (Windows) or a packed program.
	if exe != "" && !isEntryPoint(monitor.ProgramName(exe)) {
		return nil, false
	}
	return entryArgs(name, args[1:])
}

// pythonArgs skips the interpreter's own options. See "python --help": -c ends
// them, and what follows is a program of its own, never Serena's.
func pythonArgs(args []string) ([]string, bool) {
	for i := 0; i < len(args); i++ {
		switch a := args[i]; {
		case a == "--check-hash-based-pycs":
			i++
		case a == "-":
			return nil, false
		case strings.HasPrefix(a, "--"):
		case strings.HasPrefix(a, "-"):
			// Options may be joined, with each other and with the value of
			// the last: -um serena.cli, -mserena.cli, -Wignore.
			switch j := strings.IndexAny(a, "cmWX"); {
			case j < 0:
			case a[j] == 'c':
				return nil, false
			case a[j] == 'm' && j+1 < len(a):
				return moduleArgs(a[j+1:], args[i+1:])
			case a[j] == 'm' && i+1 < len(args):
				return moduleArgs(args[i+1], args[i+2:])
			case a[j] == 'm':
				return nil, false
			case j == len(a)-1:
				i++
			}
		default:
			return entryArgs(monitor.ProgramName(a), args[i+1:])
		}
	}
	return nil, false
}

// moduleArgs: "python -m serena.cli start-mcp-server"; serena.mcp was tried by
// users of old versions and served directly.
func moduleArgs(module string, args []string) ([]string, bool) {
	switch module {
	case "serena", "serena.cli":
		return subcommand(args)
	case "serena.mcp", "serena.mcp_server":
		return args, true
	}
	return nil, false
}

func entryArgs(name string, args []string) ([]string, bool) {
	switch name {
	case "serena", "serena-agent":
		return subcommand(args)
	case "serena-mcp-server": // versions before 1.0
		return args, true
	}
	return nil, false
}

func isEntryPoint(name string) bool {
	return name == "serena" || name == "serena-agent" || name == "serena-mcp-server"
}

func subcommand(args []string) ([]string, bool) {
	if len(args) == 0 || args[0] != "start-mcp-server" {
		return nil, false
	}
	return args[1:], true
}

// parseFlags reads the options as Serena does: each takes a value but one, and
// what belongs to none is the project, which wins over --project.
func parseFlags(args []string) Command {
	c := Command{Context: "desktop-app", Transport: "stdio", Args: args}
	var positional string
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a == "--project-from-cwd":
			c.FromCwd = true
			continue
		case a == "--":
			if positional == "" && i+1 < len(args) {
				positional = args[i+1]
			}
			i = len(args)
			continue
		case !strings.HasPrefix(a, "-"):
			if positional == "" {
				positional = a
			}
			continue
		}
		flag, value, joined := strings.Cut(a, "=")
		if !joined {
			// A flag without its value ends the line or meets the next flag.
			if i+1 >= len(args) || strings.HasPrefix(args[i+1], "--") {
				continue
			}
			i++
			value = args[i]
		}
		switch flag {
		case "--project", "--project-file":
			c.Project = value
		case "--context":
			c.Context = value
		case "--mode", "--add-mode":
			c.Modes = append(c.Modes, value)
		case "--transport":
			c.Transport = value
		}
	}
	if positional != "" {
		c.Project = positional
	}
	return c
}

// ProjectName is the name Serena would give the project of this command: the
// last part of its path. It serves until the dashboard tells the real one.
func (c Command) ProjectName() string {
	if c.Project == "" {
		return ""
	}
	name := path.Base(strings.ReplaceAll(c.Project, `\`, "/"))
	if name == "." || name == "/" || strings.HasSuffix(name, ":") { // or a drive
		return ""
	}
	return name
}

package serena

import (
	"cmp"
	"path"
	"slices"
	"strings"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/command"
)

// Command is what the command line of a Serena MCP server says about it.
type Command struct {
	Project   string // as given: a path or a registered name; empty when none
	Context   string
	Modes     []string
	Transport string // "stdio", "sse" or "streamable-http"
	// ToolTimeout is how long a tool call may take; 0 when that is left to the settings.
	ToolTimeout time.Duration

	Args []string // everything behind what makes it a server, as given
}

// ParseCommand reports whether a process is a Serena MCP server, by executable
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

// programs are what Serena's program was called in any version, as monitor.ProgramName
// gives it, and modules what Python is given instead. Those that are true serve without
// a subcommand: a program before 1.0, and what users of old versions have tried.
var (
	programs = map[string]bool{"serena": false, "serena-agent": false, "serena-mcp-server": true}
	modules  = map[string]bool{"serena": false, "serena.cli": false, "serena.mcp": true, "serena.mcp_server": true}
)

// serverArgs returns the arguments behind what makes it a Serena MCP server:
// "python /v/bin/serena start-mcp-server", "python -m serena.cli start-mcp-server",
// or the same as a program, on Windows or packed.
func serverArgs(exe string, args []string) ([]string, bool) {
	c := command.Parse(exe, args)
	known, name := programs, monitor.ProgramName(c.Script)
	switch {
	case c.Program == "" || len(c.Through) > 0:
		return nil, false
	case c.Runtime == command.Python && c.Flag == "-m":
		known, name = modules, c.Script
	case c.Runtime == command.Python:
	case c.Runtime != 0 || exe != "" && !IsProgram(monitor.ProgramName(exe)):
		return nil, false
	default:
		name = monitor.ProgramName(args[0])
	}
	serves, ok := known[name]
	switch {
	case serves:
		return c.Args, true
	case ok && len(c.Args) > 0 && c.Args[0] == "start-mcp-server":
		return c.Args[1:], true
	}
	return nil, false
}

// IsProgram reports whether a name, as monitor.ProgramName gives it, is what
// Serena's program was called in any version.
func IsProgram(name string) bool {
	_, ok := programs[name]
	return ok
}

// IsPackage reports whether a word names Serena to uvx and the like: serena,
// serena-agent, serena-agent@latest, serena-agent==2.1.0.
func IsPackage(word string) bool {
	name, _, _ := strings.Cut(word, "@")
	name, _, _ = strings.Cut(name, "==")
	return name == "serena" || name == "serena-agent" || name == "serena.exe"
}

// Runs reports whether a command line, as settings give it, runs Serena's program,
// be it through uvx and the like. Another program that is given the command of Serena
// as its arguments, such as a guard before its tools, does not.
func Runs(words []string) bool {
	c := command.Parse("", words)
	switch {
	case c.Runtime == command.Python && c.Flag == "-m":
		return c.Script == "serena" || strings.HasPrefix(c.Script, "serena.")
	case c.Runtime == command.Python:
		return len(c.Through) == 0 && IsProgram(monitor.ProgramName(c.Script)) // uv run --script serena is another one
	}
	return c.Runtime == 0 && (IsPackage(c.Program) || IsProgram(monitor.ProgramName(c.Program)))
}

// fromCwd is the only option of start-mcp-server without a value. Source: serena/cli.py
// of 1.5.3 to 2.1.0.
const fromCwd = "--project-from-cwd"

// Option is an option with its value, "" where that is missing; or with no name, a word
// that belongs to none: a project, of start-mcp-server.
type Option struct{ Name, Value string }

// Options reads the arguments of start-mcp-server, or of a launcher in front of it, as
// both do: a value stands behind its option, or is joined to it by "=", and "--" ends the
// options. The next word is no value when it begins with "--", which nobody means.
func Options(words []string) (list []Option) {
	for i := 0; i < len(words); i++ {
		word := words[i]
		if word == "--" {
			for _, value := range words[i+1:] {
				list = append(list, Option{Value: value})
			}
			break
		}
		if !strings.HasPrefix(word, "-") || word == "-" {
			list = append(list, Option{Value: word})
			continue
		}
		name, value, joined := strings.Cut(word, "=")
		if !joined && name != fromCwd && i+1 < len(words) && !strings.HasPrefix(words[i+1], "--") {
			i++
			value = words[i]
		}
		list = append(list, Option{name, value})
	}
	return list
}

// parseFlags reads the options as Serena does: what belongs to none is the project,
// which wins over --project. An option without its value says nothing.
func parseFlags(args []string) Command {
	c := Command{Context: "desktop-app", Transport: "stdio", Args: args}
	positional := ""
	for _, o := range Options(args) {
		if o.Value == "" {
			continue
		}
		switch o.Name {
		case "":
			positional = cmp.Or(positional, o.Value)
		case "--project", "--project-file":
			c.Project = o.Value
		case "--context":
			c.Context = o.Value
		case "--mode", "--add-mode":
			c.Modes = append(c.Modes, o.Value)
		case "--transport":
			c.Transport = o.Value
		case "--tool-timeout":
			c.ToolTimeout = cmp.Or(secondsIn(o.Value), c.ToolTimeout)
		}
	}
	c.Project = cmp.Or(positional, c.Project)
	return c
}

// ProjectName is the name Serena would give the project of this command: the
// last part of its path. It serves until the dashboard tells the real one.
func (c Command) ProjectName() string {
	name := path.Base(strings.ReplaceAll(c.Project, `\`, "/"))
	if name == "." || name == "/" || strings.HasSuffix(name, ":") { // or a drive
		return ""
	}
	return name
}

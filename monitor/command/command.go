// Package command reads command lines: what one runs, looking through the
// launchers in front of it, and what is known of a program by its name.
//
// It is pure, and small enough for lamplighter-connect to use it. Whether what runs
// is an MCP server is for monitor/serena and monitor/rules to say, and whether a
// launcher belongs to the tree of a server is decided with facts that are not in its
// command line (its other children, its standard input). Arguments may hold secrets:
// nothing here logs any of them.
package command

import (
	"cmp"
	"slices"
	"strings"

	"lamplighter/monitor"
)

// Command is what a command line runs.
type Command struct {
	// Program is the program: the path of its executable, or what the command line
	// calls it where that is not known. It is "" when it cannot be told what runs: the
	// executable says something else than the arguments, the code is in the command
	// line, or an option makes an interpreter do something other than run a script.
	Program string
	// Runtime is Python, Node, Java or Container when that runs what Script or
	// Package names; 0 for a program of its own.
	Runtime Trait
	// Script is the script, the class, or what stands behind Flag. "title:NAME" is a
	// Node program that has given its process that title, which is then all that is
	// left of its command line.
	Script string
	Flag   string // "-m" or "-jar"
	// Package is from where the innermost launcher takes the program: what it is told
	// with --from and the like, else the program. Of a container it is the image,
	// without its tag, and of deno npm:PACKAGE.
	Package string
	// Args are the arguments of what runs.
	Args []string
	// Through are the launchers in front, each with its own words, outermost first.
	Through [][]string
}

// IsLauncher reports whether a process only starts one command and waits for it:
// npx, uvx and the like, a shell that was given one command line, timeout, the
// docker command above its plugins, and our own keeper. Such a process belongs to
// the tree of a server when the server, or another launcher above it, is its only
// child and has its standard input, which the caller checks.
//
// What the command is does not matter, so that a server is found below
// launchers that name only its package or its repository: since the launcher
// runs nothing else, its only child is that command. What may do more never
// counts: an interactive shell, a shell that runs a file, a line with a pipe, a
// job in the background or a second command, and tools whose tasks may have
// steps (make, npm run, bun run, hatch, pixi).
func IsLauncher(exe string, args []string) bool {
	return exe != "" && len(Parse(exe, args).Through) > 0
}

// Parse reads a command line: exe is the path of the program that runs, "" when it
// is not known, as in somebody's settings; args are its words, with argv[0] first, or
// the one string that is left where a program has rewritten its title.
func Parse(exe string, args []string) Command {
	if RuntimeOf(monitor.ProgramName(exe)) == Node && len(args) > 0 && isTitle(args) {
		return parseTitle(args[0])
	}
	name := startedAs(exe, args)
	if name == "" {
		return Command{}
	}
	outer, inner, fetched := unwrap(name, args)
	if len(inner) == 0 {
		return read(name, exe, args)
	}
	c := Parse("", inner)
	c.Package = cmp.Or(c.Package, fetched)
	c.Through = append([][]string{outer}, c.Through...)
	return c
}

// startedAs is what a program was started as, which tells what it does: "" when the
// executable is a launcher or an interpreter and the arguments name another one.
func startedAs(exe string, args []string) string {
	if len(args) == 0 || args[0] == "" {
		return ""
	}
	program, name := monitor.ProgramName(exe), monitor.ProgramName(args[0])
	runtime, shell := RuntimeOf(program), shellNamed(program)
	switch {
	case exe == "", program == name,
		runtime != 0 && runtime == RuntimeOf(name),
		shell != 0 && shell == shellNamed(name),
		program == "uv" && name == "uvx", program == "bun" && name == "bunx",
		slices.Contains([]string{"busybox", "coreutils", "toybox"}, program) && Is(name, Starter): // several tools in one
		return name
	case runtime != 0 || Is(program, Starter):
		return ""
	}
	return program
}

// isTitle reports whether a program of Node has rewritten its title: what stood
// behind it is empty.
func isTitle(args []string) bool {
	return RuntimeOf(monitor.ProgramName(args[0])) != Node && !slices.ContainsFunc(args[1:], func(a string) bool { return a != "" })
}

// parseTitle reads a title. npm's is its command line, "npm exec PACKAGE ARGUMENTS".
func parseTitle(title string) Command {
	if strings.HasPrefix(title, "npm ") {
		if c := Parse("", strings.Fields(title)); len(c.Through) > 0 {
			return c
		}
	}
	if title == "" || strings.ContainsAny(title, ` /\`) {
		return Command{}
	}
	return Command{Program: "node", Runtime: Node, Script: "title:" + strings.ToLower(title)}
}

// read tells what a program that is no launcher runs.
func read(name, exe string, args []string) Command {
	c := Command{Program: cmp.Or(exe, args[0]), Runtime: RuntimeOf(name)}
	ok := true
	switch c.Runtime {
	case Python:
		c.Flag, c.Script, c.Args, ok = pythonScript(args[1:])
	case Java:
		c.Script, c.Args, ok = script(args[1:], javaValues, "")
		if before := len(args) - len(c.Args) - 2; ok && args[before] == "-jar" {
			c.Flag = "-jar"
		}
	case Node:
		c.Script, c.Args, ok = nodeScript(name, args[1:])
	case Container:
		c.Package, c.Args, ok = containerImage(args[1:], nil)
	default:
		c.Args = args[1:]
		return c
	}
	if !ok || c.Script == "" && c.Package == "" {
		return Command{}
	}
	if strings.HasPrefix(c.Script, "npm:") || strings.HasPrefix(c.Script, "jsr:") {
		c.Package = c.Script
	}
	return c
}

// Label is what to call what runs, such as srv.py, my_module or my-server; ""
// when it has no name. It is foreign text.
func (c Command) Label() string {
	what := strings.TrimPrefix(cmp.Or(c.Script, c.Program), "title:")
	switch {
	case c.Runtime == Container:
		what = c.Package
	case c.Runtime == 0 && len(c.Args) > 0 && !strings.HasPrefix(c.Args[0], "-") && Is(monitor.ProgramName(c.Program), Interpreter):
		what = c.Args[0]
	}
	return what[strings.LastIndexAny(what, `/\`)+1:]
}

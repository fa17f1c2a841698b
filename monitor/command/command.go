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
	// Script is the script, the class, the image, or what stands behind Flag. "title:NAME" is a
	// Node program that has given its process that title, which is then all that is
	// left of its command line.
	Script string
	Flag   string // "-m"
	// Package is from where the innermost launcher takes the program: what it is told
	// with --from and the like, else the program. Of a container it is the image,
	// without its tag, and of deno npm:PACKAGE.
	Package string
	// Args are the arguments of what runs.
	Args []string
	// Through are the launchers in front, as the command line calls them, outermost first.
	Through []string
}

// IsLauncher reports whether a process only starts one command and waits for it:
// npx, uvx and the like, a shell that was given one command line, timeout, the docker
// command above its plugin, and our own keeper. Such a process belongs to
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
	for c := (Command{}); ; exe = "" { // what the launchers tell
		name := startedAs(exe, args)
		if name == "" {
			return c
		}
		what := c
		what.Program, what.Runtime, what.Args = cmp.Or(exe, args[0]), RuntimeOf(name), args[1:]
		inner, fetched := what.read(name, args)
		switch {
		case len(inner) > 0:
			args, c.Through, c.Package = inner, append(c.Through, args[0]), cmp.Or(fetched, c.Package)
		case what.Runtime != 0 && what.Script == "": // it cannot be told
			return c
		default:
			return what
		}
	}
}

// read tells what a program runs, or takes the outermost launcher off: inner is the
// command that it runs, empty when there is none, and fetched the package from which that
// comes, "" for what is installed, or lies in a project.
func (c *Command) read(name string, words []string) (inner []string, fetched string) {
	if shell := traitsOf(name, shells); shell != 0 {
		return shellCommand(shell, words), ""
	}
	s, given, rest := look(name, words)
	switch {
	case s == nil:
	case s.runtime == 0:
		return s.command(given, rest)
	case s.runtime == Container && len(words) > 3 && slices.Equal(words[1:4], []string{"mcp", "gateway", "run"}):
		return append([]string{name + "-mcp"}, words[1:]...), "" // the plugin is started with the same arguments
	case s.runtime == Container:
		c.readImage(s, given, rest)
	default:
		c.readScript(s, given, rest)
		launcher := monitor.ProgramName(c.Script)
		if s := syntaxOf(launcher); s != nil && s.runtime == 0 && !s.dashes && c.Runtime != Java { // node npx-cli.js, python -m pipx
			return c.read(launcher, words[len(words)-len(c.Args)-1:])
		}
	}
	return nil, ""
}

// command finds the command that a launcher runs.
func (s *syntax) command(given options, rest []string) (inner []string, fetched string) {
	if s.names == "timeout" && len(rest) > 0 { // how long
		rest = rest[1:]
	}
	for s.names == "env" && len(rest) > 0 && isAssignment(rest[0]) {
		rest = rest[1:]
	}
	if len(rest) == 0 || rest[0] == "" || rest[0][0] == '-' && !s.dashes {
		return nil, ""
	}
	switch {
	case s.values == pythonToolValues && given.has("-m --module"):
		return append([]string{"python", "-m"}, rest...), ""
	case s.values == pythonToolValues && (strings.HasSuffix(rest[0], ".py") || given.has("-s --script --gui-script --path")):
		return append([]string{"python"}, rest...), ""
	case s.from != "":
		return rest, cmp.Or(given.value(s.from), rest[0])
	}
	return rest, ""
}

// readScript tells what an interpreter runs, nothing when that cannot be told. A name
// without a dot or a slash is a subcommand to bun and deno, or a task of the project,
// which has a process of its own.
func (c *Command) readScript(s *syntax, given options, rest []string) {
	c.Args = nil
	switch {
	case given.has(s.refused):
	case given.has(s.final):
		c.Flag, c.Script, c.Args = s.final, given.value(s.final), rest
	case len(rest) == 0:
	case strings.HasPrefix(rest[0], "npm:"), strings.HasPrefix(rest[0], "jsr:"): // a package, to deno
		c.Script, c.Args = rest[0], rest[1:]
		if at := strings.LastIndexByte(c.Script, '@'); at > len("npm:") {
			c.Script = c.Script[:at] // without its version
		}
		c.Package = c.Script
	case s.verbs == "" || strings.ContainsAny(rest[0], `./\`):
		c.Script, c.Args = rest[0], rest[1:]
	}
}

// readImage tells the image from which "docker run -i" serves, without its tag. A
// container that runs detached, on a terminal, without -i or with another entry point
// is no server over standard input.
func (c *Command) readImage(s *syntax, given options, rest []string) {
	open := given.has("-i --interactive") && !monitor.HasWord("false 0", given.value("-i --interactive"))
	isOther := func(option [2]string) bool {
		return len(option[0]) == 2 && !monitor.HasWord("-i -q -P -D "+s.values, option[0])
	}
	if len(rest) == 0 || !open || given.has("--detach --tty --entrypoint --help") || slices.ContainsFunc(given, isOther) {
		return
	}
	image, _, _ := strings.Cut(rest[0], "@")
	if i := strings.LastIndexByte(image, ':'); i > strings.LastIndexByte(image, '/') {
		image = image[:i]
	}
	for _, prefix := range []string{"docker.io/", "index.docker.io/", "registry-1.docker.io/", "library/"} {
		image = strings.TrimPrefix(image, prefix)
	}
	c.Script, c.Package, c.Args = image, image, rest[1:]
}

// startedAs is what a program was started as, which tells what it does: "" when the
// executable is a launcher or an interpreter and the arguments name another one.
func startedAs(exe string, args []string) string {
	if len(args) == 0 || args[0] == "" {
		return ""
	}
	program, name := monitor.ProgramName(exe), monitor.ProgramName(args[0])
	family := RuntimeOf(program) | traitsOf(program, shells)
	switch {
	case exe == "", program == name,
		family != 0 && family == RuntimeOf(name)|traitsOf(name, shells),
		program == "uv" && name == "uvx", program == "bun" && name == "bunx",
		monitor.HasWord("busybox coreutils toybox", program) && Is(name, Starter): // several tools in one
		return name
	case family != 0 || Is(program, Starter):
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
	if c := Parse("", strings.Fields(title)); strings.HasPrefix(title, "npm ") && len(c.Through) > 0 {
		return c
	}
	if title == "" || strings.ContainsAny(title, ` /\`) {
		return Command{}
	}
	return Command{Program: "node", Runtime: Node, Script: "title:" + strings.ToLower(title)}
}

// Label is what to call what runs, such as srv.py, my_module or my-server; ""
// when it has no name. It is foreign text.
func (c Command) Label() string {
	what := strings.TrimPrefix(cmp.Or(c.Script, c.Program), "title:")
	if c.Runtime == 0 && len(c.Args) > 0 && !strings.HasPrefix(c.Args[0], "-") && Is(monitor.ProgramName(c.Program), Interpreter) {
		what = c.Args[0]
	}
	return what[strings.LastIndexAny(what, `/\`)+1:]
}

package clients

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"lamplighter/monitor"
	"lamplighter/monitor/command"
	"lamplighter/monitor/process"
)

// Running tells which clients run among some processes: their pids in ascending
// order, by the ID of the client. A client that does not run is not in it. Of a
// program with windows only the main process counts, not the helpers that it starts.
func Running(all []process.Info) map[string][]int {
	found := map[string][]int{}
	for _, p := range all {
		if id, helper := identify(p); id != "" && !helper {
			found[id] = append(found[id], p.PID)
		}
	}
	for _, pids := range found {
		slices.Sort(pids)
	}
	return found
}

// Of is the ID of the client that a process is, or whose helper it is: a program
// with windows starts servers from one. It is "" for all others.
func Of(p process.Info) string {
	id, _ := identify(p)
	return id
}

// NameOf is what people call the program of a process that has started an instance
// or asked for one: the client's name where it is known, else the program's own,
// which is foreign text.
func NameOf(p process.Info) string {
	exe := monitor.ProgramName(p.Exe)
	return cmp.Or(productNames[exe], NameOfID(Of(p)), productNames[scriptName(p)], productNames[strings.ToLower(p.Name)], p.Name, exe, "unknown program")
}

// SaidName is what people call a client that calls itself so, in MCP: foreign text
// where it is not known.
func SaidName(said string) string {
	name := strings.ToLower(said)
	says := first(func(c client) bool { return monitor.HasWord(c.programs, name) || monitor.HasWord(c.says, name) })
	return cmp.Or(says.name, productNames[name], said, "unknown program")
}

// identify tells the client that a process is, and whether it is only a helper of
// it.
func identify(p process.Info) (id string, helper bool) {
	argv0 := ""
	if len(p.Args) > 0 {
		argv0 = p.Args[0]
	}
	exe := cmp.Or(p.Exe, argv0)
	name, path := monitor.ProgramName(exe), slashed(exe)
	owner := first(func(c client) bool { return hasPart(path, c.own) })
	switch {
	case isOurs(name) || isOurs(monitor.ProgramName(argv0)):
		return "", false // also where it passes on what a client is called
	case owner.id != "":
		id = owner.id
	case command.RuntimeOf(name) == command.Node:
		return idOfScript(p, exe), false
	default:
		id = idOfProgram(name, path)
	}
	return id, id != "" && (isHelper(p.Args) || strings.Contains(name, " helper") || strings.HasPrefix(name, "language_server"))
}

// idOfProgram is the client that a program of its own is. The path has slashes and
// lower case.
func idOfProgram(name, path string) string {
	if strings.HasPrefix(name, "codex-x86_64-") || strings.HasPrefix(name, "codex-aarch64-") {
		return "codex" // as the files of its releases are called
	}
	// The command line tool of Claude and its application are both called claude, and the
	// application brings the tool with it, on macOS as a claude.app below claude-code.
	byPath := name == "electron" || name == "claude" && !strings.Contains(path, "/claude-code/")
	owner := first(func(c client) bool { return byPath && hasPart(path, c.paths) })
	// macOS calls helpers "Code Helper (Plugin)".
	name, _, _ = strings.Cut(name, " helper")
	name = strings.ReplaceAll(name, " ", "")
	return cmp.Or(owner.id, first(func(c client) bool { return monitor.HasWord(c.programs, name) }).id)
}

// hasPart reports whether a path has one of these parts.
func hasPart(path string, parts []string) bool {
	return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(path, part) })
}

// isHelper reports whether a program that is made with Electron runs as a helper:
// that has a --type, or runs a script of the program or of an extension as node
// would. A file that is to be opened may be a script as well. Some helpers write
// their command line anew, as one text.
//
// Source: the page "Process Model" of Electron's documentation, and
// ELECTRON_RUN_AS_NODE in its page "Environment Variables".
func isHelper(args []string) bool {
	for i, arg := range args {
		if strings.HasPrefix(arg, "--type=") || i == 0 && strings.Contains(arg, " --type=") {
			return true
		}
	}
	if len(args) < 2 {
		return false
	}
	script := slashed(args[1])
	return slices.Contains([]string{".js", ".mjs", ".cjs"}, filepath.Ext(script)) && hasPart(script, []string{"/resources/app", "/extensions/"})
}

// idOfScript is the client whose script a runner of scripts runs.
func idOfScript(p process.Info, exe string) string {
	script := command.Parse(exe, p.Args).Script
	path, name := "/"+slashed(script), scriptName(p)
	title, titled := strings.CutPrefix(script, "title:")
	if titled {
		path, name = "", title // a script may write what it is called over its command line
	}
	return first(func(c client) bool { return hasPart(path, c.packages) || monitor.HasWord(c.scripts, name) }).id
}

// scriptName is what the script that a process runs is called, "" for none.
func scriptName(p process.Info) string {
	return monitor.ProgramName(strings.TrimPrefix(command.Parse(p.Exe, p.Args).Script, "title:"))
}

// isOurs reports whether a program is one of ours.
func isOurs(name string) bool {
	return name == "lamplighter" || strings.HasPrefix(name, "lamplighter-")
}

// slashed is a path for comparing parts of it.
func slashed(path string) string {
	return strings.ToLower(strings.ReplaceAll(strings.TrimSuffix(path, " (deleted)"), `\`, "/"))
}

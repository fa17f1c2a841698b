package clients

import (
	"cmp"
	"slices"
	"strings"

	"lamplighter/monitor"
	"lamplighter/monitor/command"
	"lamplighter/monitor/process"
)

// Running tells which clients run among some processes: their pids in ascending
// order, by the ID of the client. A client that does not run is not in it. What another
// process of the same client has started is only a helper of that, and not counted.
func Running(all []process.Info) map[string][]int {
	at := map[int]process.Info{}
	for _, p := range all {
		at[p.PID] = p
	}
	found := map[string][]int{}
	for _, p := range all {
		// On Windows the pid of a parent that has ended may be another's, as a helper's.
		parent := at[p.Parent]
		if id := Of(p); id != "" && (id != Of(parent) || parent.Start > p.Start) {
			found[id] = append(found[id], p.PID)
		}
	}
	for _, pids := range found {
		slices.Sort(pids)
	}
	return found
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

// Of is the ID of the client that a process is, or whose helper it is: a program
// with windows starts servers from one. It is "" for all others.
func Of(p process.Info) string {
	argv0 := ""
	if len(p.Args) > 0 {
		argv0 = p.Args[0]
	}
	exe := cmp.Or(p.Exe, argv0)
	name, path := monitor.ProgramName(exe), Slashed(exe)
	owner := first(func(c client) bool { return hasPart(path, c.own) })
	switch {
	case isOurs(name) || isOurs(monitor.ProgramName(argv0)):
		return "" // also where it passes on what a client is called
	case owner.id != "":
		return owner.id
	case command.RuntimeOf(name) == command.Node:
		return idOfScript(p)
	}
	return idOfProgram(name, path)
}

// idOfProgram is the client that a program of its own is. The path has slashes and
// lower case.
func idOfProgram(name, path string) string {
	if strings.HasPrefix(name, "codex-x86_64-") || strings.HasPrefix(name, "codex-aarch64-") {
		return "codex" // as the files of its releases are called
	}
	// macOS calls helpers "Code Helper (Plugin)".
	name, _, _ = strings.Cut(name, " helper")
	// The command line tool of Claude and its application are both called claude, and the
	// application brings the tool with it, on macOS as a claude.app below claude-code.
	byPath := name == "electron" || name == "claude" && !strings.Contains(path, "/claude-code/")
	owner := first(func(c client) bool { return byPath && hasPart(path, c.paths) })
	name = strings.ReplaceAll(name, " ", "")
	return cmp.Or(owner.id, first(func(c client) bool { return monitor.HasWord(c.programs, name) }).id)
}

// hasPart reports whether a path has one of these parts.
func hasPart(path string, parts []string) bool {
	return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(path, part) })
}

// idOfScript is the client whose script a runner of scripts runs. A script may write what
// it is called over its command line.
func idOfScript(p process.Info) string {
	path, name := "/"+Slashed(command.Parse(p.Exe, p.Args).Script), scriptName(p)
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

// Slashed is a path for comparing parts of it: in lower case, with the separators of every
// system alike. What is recorded on one is read on another.
func Slashed(path string) string {
	path = strings.ToLower(strings.ReplaceAll(strings.TrimSuffix(path, " (deleted)"), `\`, "/"))
	for strings.Contains(path, "//") {
		path = strings.ReplaceAll(path, "//", "/")
	}
	return path
}

package command

import (
	"slices"
	"strings"

	"lamplighter/monitor"
)

// Elsewhere is what a command line has run that is no process below it.
type Elsewhere struct {
	What string // a part of a sentence: "the container that docker runs"
	Look string // how to see whether it runs: "docker ps"
	// End are the arguments with which the same program ends it, before its name; nil:
	// it cannot be named. The name is Name, or what the file IDFile holds.
	End          []string
	Name, IDFile string
}

// RunsElsewhere tells what a command line has run that is no process below it: in a
// container, on another machine or in another system, or as a unit of systemd; nothing
// when there is none of that. What ends it ends none of that.
func RunsElsewhere(exe string, args []string) (e Elsewhere) {
	name := startedAs(exe, args)
	switch {
	case len(args) < 2:
	case name == "ssh":
		e.What, e.Look = "what ssh runs on the other machine", "ps there"
	case name == "wsl":
		e.What, e.Look = "what wsl runs", "wsl ps -e"
	case name == "systemd-run" && !slices.Contains(args, "--scope"): // with that it becomes what it runs
		e.What, e.Look = "the unit that systemd-run has made", "systemctl list-units 'run-*'"
		if slices.Contains(args, "--user") {
			e.Look = "systemctl --user list-units 'run-*'"
		}
	case RuntimeOf(name) == Container:
		_, behind := syntaxOf(name).options(args[1:])
		if len(behind) == 0 || !monitor.HasWord("run exec start container compose", behind[0]) {
			return e
		}
		_, given, _ := look(name, args)
		e = Elsewhere{What: "the container that " + name + " runs", Look: name + " ps", Name: given.value("--name"), IDFile: given.value("--cidfile")}
		if e.Name != "" || e.IDFile != "" {
			e.End = slices.Concat(args[1:len(args)-len(behind)], []string{"stop", "--time", "2"})
		}
	}
	return e
}

// IsContainerName reports whether a container can be called that: it is no option, and
// names one.
func IsContainerName(name string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	return len(name) > 1 && strings.ContainsRune(letters, rune(name[0])) && strings.Trim(name, letters+"_.-") == ""
}

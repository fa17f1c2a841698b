package command

import (
	"slices"
	"strings"
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
// container, on another machine or in another system, or as a unit of systemd. What
// ends it ends none of that.
func RunsElsewhere(exe string, args []string) (e Elsewhere, ok bool) {
	name := startedAs(exe, args)
	switch {
	case len(args) < 2:
	case RuntimeOf(name) == Container:
		return inContainer(name, args)
	case name == "ssh":
		return Elsewhere{What: "what ssh runs on the other machine", Look: "ps there"}, true
	case name == "wsl":
		return Elsewhere{What: "what wsl runs", Look: "wsl ps -e"}, true
	case name == "systemd-run" && !slices.Contains(args, "--scope"): // with that it becomes what it runs
		look := "systemctl list-units 'run-*'"
		if slices.Contains(args, "--user") {
			look = "systemctl --user list-units 'run-*'"
		}
		return Elsewhere{What: "the unit that systemd-run has made", Look: look}, true
	}
	return Elsewhere{}, false
}

func inContainer(name string, args []string) (Elsewhere, bool) {
	words := skipGlobal(args[1:])
	if len(words) == 0 || !slices.Contains([]string{"run", "exec", "start", "container", "compose"}, words[0]) {
		return Elsewhere{}, false
	}
	e := Elsewhere{What: "the container that " + name + " runs", Look: name + " ps"}
	containerImage(args[1:], func(option, value string) {
		switch option {
		case "--name":
			e.Name = value
		case "--cidfile":
			e.IDFile = value
		}
	})
	if e.Name != "" || e.IDFile != "" {
		global := args[1 : len(args)-len(words)]
		e.End = slices.Concat(global, []string{"stop", "--time", "2"})
	}
	return e, true
}

// IsContainerName reports whether a container can be called that: it is no option, and
// names one.
func IsContainerName(name string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	return len(name) > 1 && strings.ContainsRune(letters, rune(name[0])) && strings.Trim(name, letters+"_.-") == ""
}

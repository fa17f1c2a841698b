// Package rules recognises MCP servers that are not Serena by the program that
// runs and by its arguments, with rules that are built in and rules of the user.
//
// Pure functions live here. What a command line runs is for monitor/command to
// tell, reading the process table is monitor/process, and Serena has its own
// recognition in monitor/serena. Arguments may hold secrets: nothing here logs or
// returns any of them.
package rules

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"lamplighter/monitor"
)

// Rule says what one kind of server looks like in the process table. The
// settings file holds rules; they are compared without regard to case.
type Rule struct {
	// Name is what the server is called in every view.
	Name string `yaml:"name"`
	// Program is the file name of the executable without .exe, or the end of its
	// path. Four names stand for a family: python (all versions, pypy), node (bun
	// and deno too), java, and docker (podman, nerdctl and finch too).
	Program string `yaml:"program"`
	// Arguments are what the command line must hold, in this order, from its
	// beginning. Options between them are skipped. For an interpreter the first is
	// the script that it runs: a file name, or the end of a path whose parts are
	// separated by "/"; or -m and the module, -jar and the file. For docker it is
	// the image without its tag.
	Arguments []string `yaml:"arguments"`
	// Disabled switches the built-in rule of this name off. Nothing else may
	// be given then.
	Disabled bool `yaml:"disabled"`
	// Hidden says that what this looks like is no server: on the pipes of a client it is
	// not shown.
	Hidden bool `yaml:"hidden"`
}

// FieldError says what is wrong with one field of a rule, or of another part of the
// settings file, in words for its owner.
type FieldError struct {
	Name string // of the field, as in the settings; empty when one is missing
	Text string
}

// Wrong is the error of a field.
func Wrong(field, format string, args ...any) *FieldError {
	return &FieldError{field, field + ": " + fmt.Sprintf(format, args...)}
}

// Error says it.
func (e *FieldError) Error() string { return e.Text }

// Field is the name of the field, for whoever looks up its line.
func (e *FieldError) Field() string { return e.Name }

// maxName is how many columns a name may have: it is shown in a menu.
const maxName = 40

// CheckName tells what is wrong with a name that a user gives to servers, nil when it can
// be used. The error is a *FieldError.
func CheckName(name string) error {
	switch {
	case name == "":
		return &FieldError{"", "has no name; add name: and what to call the server"}
	case !utf8.ValidString(name) || monitor.Clean(name) != name:
		return Wrong("name", "holds characters that cannot be shown, or spaces at its ends; remove them")
	case monitor.Columns(name) > maxName:
		return Wrong("name", "is longer than %d columns; shorten it", maxName)
	}
	return nil
}

// Key is equal for two rules that cannot stand beside each other.
func (r Rule) Key() string { return strings.ToLower(r.Name) }

// Check tells what is wrong with a rule, nil when it can be used. The error is
// a *FieldError. That names are unique is for the owner of the list to check.
func (r Rule) Check() error {
	if err := CheckName(r.Name); err != nil {
		return err
	}
	switch {
	case strings.EqualFold(r.Name, monitor.KindSerena):
		return Wrong("name", "Serena is recognised without a rule; take another name")
	case r.Disabled:
		return r.checkDisabled()
	case r.Program == "":
		return &FieldError{"", "has no program; add program: and the executable that runs, such as node"}
	case slices.Contains(r.Arguments, ""):
		return Wrong("arguments", "has an empty entry; remove it")
	}
	for i, word := range append([]string{r.Program}, r.Arguments...) {
		field := "arguments"
		if i == 0 {
			field = "program"
		}
		if strings.ContainsAny(word, "*?[") || !utf8.ValidString(word) {
			shown := monitor.Shorten(monitor.Clean(word), maxName)
			return Wrong(field, "%q holds a wildcard (*, ? or [), of which a rule has none, or bytes that are no text; write the whole name, or the end of its path", shown)
		}
	}
	return r.checkMeaning()
}

func (r Rule) checkDisabled() error {
	if r.Program != "" || len(r.Arguments) > 0 || r.Hidden {
		return Wrong("disabled", "a rule that is disabled has nothing but a name; remove the rest, or remove disabled")
	}
	var names []string
	for _, b := range builtin() {
		names = append(names, b.Name)
	}
	if slices.ContainsFunc(names, func(name string) bool { return strings.EqualFold(name, r.Name) }) {
		return nil
	}
	slices.Sort(names)
	return Wrong("name", "no built-in rule has this name, so there is nothing to disable; there are %s", strings.Join(slices.Compact(names), ", "))
}

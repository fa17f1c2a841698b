package config

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"lamplighter/monitor"
)

// The limits of a template.
const (
	maxTemplateName = 40 // columns: it is shown in a menu
	maxMCPPath      = 256
)

// Template says how one kind of server is started that speaks MCP over HTTP.
// In its command, directory and environment {port}, {port_file} and {project}
// are put in place of. One that gets no port tells it by listening.
type Template struct {
	Name      string      `yaml:"name"`
	Command   Command     `yaml:"command"`
	Transport Transport   `yaml:"transport"`
	Path      string      `yaml:"path"`      // of MCP
	Directory string      `yaml:"directory"` // where it runs; "" is a neutral place
	Env       Environment `yaml:"env"`       // what it gets besides
}

// Key is equal for two templates that cannot stand beside each other.
func (t Template) Key() string { return strings.ToLower(t.Name) }

// Check tells what is wrong with a template. The error is a *settingError.
func (t Template) Check() error {
	if err := t.checkName(); err != nil {
		return err
	}
	if t.Command == nil {
		return &settingError{"", "has no command; add command: and the program with its arguments, such as [uvx, my-server, --port, \"{port}\"]"}
	}
	if err := t.checkPath(); err != nil {
		return err
	}
	return t.checkDirectory()
}

// filled is the template with what follows from the transport.
func (t Template) filled() Template {
	t.Transport = t.Transport.or(StreamableHTTP)
	if t.Path == "" {
		t.Path = "/mcp"
		if t.Transport == SSE {
			t.Path = "/sse"
		}
	}
	return t
}

func (t Template) checkName() error {
	wrong := func(format string, args ...any) error {
		return &settingError{"name", "name: " + fmt.Sprintf(format, args...)}
	}
	switch {
	case t.Name == "":
		return &settingError{"", "has no name; add name: and what to call the server"}
	case !utf8.ValidString(t.Name) || monitor.Clean(t.Name) != t.Name:
		return wrong("holds characters that cannot be shown, or spaces at its ends; remove them")
	case monitor.Columns(t.Name) > maxTemplateName:
		return wrong("is longer than %d columns; shorten it", maxTemplateName)
	case strings.EqualFold(t.Name, monitor.KindSerena):
		return wrong("Serena needs no template; use session_command and session_arguments, or take another name")
	}
	return nil
}

func (t Template) checkPath() error {
	wrong := func(text string) error { return &settingError{"path", "path: " + text} }
	switch {
	case t.Path == "":
		return nil
	case !strings.HasPrefix(t.Path, "/") || strings.HasPrefix(t.Path, "//"):
		return wrong(excerpt(t.Path) + " does not begin with one /; write only the path of MCP, such as /mcp")
	case len(t.Path) > maxMCPPath:
		return wrong(fmt.Sprintf("is longer than %d bytes; shorten it", maxMCPPath))
	case strings.ContainsFunc(t.Path, func(r rune) bool { return r <= ' ' || r > '~' || r == '?' || r == '#' }):
		return wrong(excerpt(t.Path) + " holds what does not belong into a path; write only the path of MCP, such as /mcp")
	}
	return nil
}

func (t Template) checkDirectory() error {
	wrong := func(text string) error { return &settingError{"directory", "directory: " + text} }
	if err := checkWord(t.Directory); err != nil {
		return wrong(err.Error())
	}
	if t.Directory == "" || strings.HasPrefix(t.Directory, "{project}") || filepath.IsAbs(t.Directory) {
		return nil
	}
	return wrong(excerpt(t.Directory) + " is not a whole path; write one that begins at the root, or {project}")
}

// Environment is what a server finds in its environment besides.
type Environment map[string]string

// ours is what names in the environment begin with by which Lamplighter knows
// what it has started.
const ours = "LAMPLIGHTER_"

// Check tells what no environment can hold. The error is a *settingError.
func (e Environment) Check() error {
	names := make([]string, 0, len(e))
	for name := range e {
		names = append(names, name)
	}
	slices.Sort(names) // so that it is the same problem each time
	for _, name := range names {
		wrong := func(text string) error { return &settingError{name, excerpt(name) + ": " + text} }
		switch {
		case name == "" || strings.ContainsAny(name, "=\x00"):
			return wrong("is no name of a variable; write NAME: value")
		case strings.HasPrefix(strings.ToUpper(name), ours):
			return wrong("names that begin with " + ours + " are Lamplighter's own; take another one")
		}
		if err := checkWord(e[name]); err != nil {
			return wrong(err.Error())
		}
	}
	return nil
}

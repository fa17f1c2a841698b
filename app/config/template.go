package config

import (
	"path/filepath"
	"slices"
	"strings"

	"lamplighter/monitor"
	"lamplighter/monitor/rules"
)

// maxMCPPath bounds the path of MCP, in bytes.
const maxMCPPath = 256

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

// Check tells what is wrong with a template. The error is a *rules.FieldError.
func (t Template) Check() error {
	if err := rules.CheckName(t.Name); err != nil {
		return err
	}
	switch {
	case strings.EqualFold(t.Name, monitor.KindSerena):
		return rules.Wrong("name", "Serena needs no template; use session_command and session_arguments, or take another name")
	case t.Command == nil:
		return &rules.FieldError{Text: "has no command; add command: and the program with its arguments, such as [uvx, my-server, --port, \"{port}\"]"}
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

func (t Template) checkPath() error {
	switch {
	case t.Path == "":
		return nil
	case !strings.HasPrefix(t.Path, "/") || strings.HasPrefix(t.Path, "//"):
		return rules.Wrong("path", "%s does not begin with one /; write only the path of MCP, such as /mcp", excerpt(t.Path))
	case len(t.Path) > maxMCPPath:
		return rules.Wrong("path", "is longer than %d bytes; shorten it", maxMCPPath)
	case strings.ContainsFunc(t.Path, func(r rune) bool { return r <= ' ' || r > '~' || r == '?' || r == '#' }):
		return rules.Wrong("path", "%s holds what does not belong into a path; write only the path of MCP, such as /mcp", excerpt(t.Path))
	}
	return nil
}

func (t Template) checkDirectory() error {
	if err := checkWord(t.Directory); err != nil {
		return rules.Wrong("directory", "%v", err)
	}
	if t.Directory == "" || strings.HasPrefix(t.Directory, "{project}") || filepath.IsAbs(t.Directory) {
		return nil
	}
	return rules.Wrong("directory", "%s is not a whole path; write one that begins at the root, or {project}", excerpt(t.Directory))
}

// Environment is what a server finds in its environment besides.
type Environment map[string]string

// ours is what names in the environment begin with by which Lamplighter knows
// what it has started.
const ours = "LAMPLIGHTER_"

// Check tells what no environment can hold. The error is a *rules.FieldError.
func (e Environment) Check() error {
	names := make([]string, 0, len(e))
	for name := range e {
		names = append(names, name)
	}
	slices.Sort(names) // so that it is the same problem each time
	for _, name := range names {
		wrong := func(text string) error { return &rules.FieldError{Name: name, Text: excerpt(name) + ": " + text} }
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

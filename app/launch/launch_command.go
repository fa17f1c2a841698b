package launch

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"lamplighter/monitor"
)

// The placeholders of a template.
const (
	portMark     = "{port}"      // a free port, which the server is to listen on
	portFileMark = "{port_file}" // a file that the server writes its port to
	projectMark  = "{project}"
)

// values are what the placeholders stand for in one launch.
type values struct {
	port     int
	portFile string
	project  string
	literal  bool // nothing is a placeholder
}

// fill puts the values into a text, each placeholder once: what a value holds
// is not looked at again.
func (v values) fill(text string) string {
	if v.literal {
		return text
	}
	return strings.NewReplacer(portMark, strconv.Itoa(v.port), portFileMark, v.portFile, projectMark, v.project).Replace(text)
}

func (v values) fillAll(texts []string) []string {
	filled := make([]string, len(texts))
	for i, text := range texts {
		filled[i] = v.fill(text)
	}
	return filled
}

// uses reports whether a template has a placeholder.
func (t *Template) uses(mark string) bool {
	has := func(text string) bool { return !t.Literal && strings.Contains(text, mark) }
	return slices.ContainsFunc(t.Command, has) || slices.ContainsFunc(t.Arguments, has) ||
		slices.ContainsFunc(slices.Collect(maps.Values(t.Env)), has)
}

// isSerena reports whether the template starts Serena.
func (t *Template) isSerena() bool { return t.Name == monitor.KindSerena }

// transport is what the server is to speak.
func (t *Template) transport() string {
	if t.Transport == "" {
		return StreamableHTTP
	}
	return t.Transport
}

// path is where it speaks it.
func (t *Template) path() string {
	switch {
	case t.Path != "":
		return t.Path
	case t.transport() == SSE:
		return "/sse"
	}
	return "/mcp"
}

// check refuses an order that cannot be carried out.
func (s *Spec) check() error {
	t := &s.Template
	switch {
	case s.Lifetime != Session && s.Lifetime != Shared:
		return fmt.Errorf("there is no lifetime %.20q", s.Lifetime)
	case !filepath.IsAbs(s.Project) && !(s.Project == "" && s.Lifetime == Shared && t.isSerena()):
		return fmt.Errorf("the project %q is not an absolute path", s.Project)
	case strings.ContainsRune(s.Project, 0):
		return errors.New("the path of the project holds a zero byte")
	case t.Name == "":
		return errors.New("the template has no name")
	case len(t.Command) == 0 && !t.isSerena():
		return errors.New("the template has no command")
	case t.transport() != StreamableHTTP && t.transport() != SSE:
		return fmt.Errorf("there is no transport %.40q; use %s or %s", t.Transport, StreamableHTTP, SSE)
	case !strings.HasPrefix(t.path(), "/"):
		return fmt.Errorf("the path %.40q does not begin with a slash", t.Path)
	}
	return nil
}

// serverArgs is what follows the command of a server. Serena is told how to
// listen, for which project, and to open no page by itself.
func serverArgs(t *Template, command []string, version string, v values) []string {
	own := v.fillAll(t.Arguments)
	if !t.isSerena() {
		return own
	}
	var args []string
	// A second one would be the project to Serena, and win over --project.
	if !slices.Contains(command, subcommand) {
		args = append(args, subcommand)
	}
	args = append(args, "--transport", t.transport(), "--host", "127.0.0.1", "--port", "0")
	if v.project != "" {
		args = append(args, "--project", v.project)
	}
	args = append(args, "--open-web-dashboard", "false")
	if older(version, "2.0") {
		own = without(own, "--agent-interface")
	}
	return append(args, own...)
}

// without leaves out an option with its value.
func without(args []string, option string) []string {
	var kept []string
	for i := 0; i < len(args); i++ {
		switch {
		case args[i] == option:
			i++
		case strings.HasPrefix(args[i], option+"="):
		default:
			kept = append(kept, args[i])
		}
	}
	return kept
}

// templateEnv is what a template sets besides, in a fixed order.
func templateEnv(t *Template, v values) []string {
	var env []string
	for _, name := range slices.Sorted(maps.Keys(t.Env)) {
		env = append(env, name+"="+v.fill(t.Env[name]))
	}
	return env
}

// unset leaves out what a template does not want of our own environment.
func (t *Template) unset(env []string) []string {
	return slices.DeleteFunc(env, func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		_, set := t.Env[name]
		return !set && slices.Contains(t.Unset, name)
	})
}

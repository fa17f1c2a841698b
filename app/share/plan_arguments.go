package share

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"lamplighter/monitor"
)

// arguments are those of start-mcp-server.
type arguments struct {
	project    string // as given
	hasProject bool
	fromCwd    bool
	context    string
	modes      []string
	kept       []string // what is not about transport, project and page, in its order, each option with its value behind it; the context last
}

// withValue are the options that take one. Source: serena/cli.py of 1.5.3 to
// 2.1.0. One that is not here may mean anything.
var withValue = []string{
	"--project", "--project-file", "--context", "--mode", "--add-mode", "--language-backend", "--agent-interface", "--transport", "--host", "--port",
	"--enable-web-dashboard", "--open-web-dashboard", "--enable-gui-log-window", "--log-level", "--trace-lsp-communication", "--tool-timeout",
}

// parseArguments reads arguments as Serena's parser (click) does: a value may
// follow its option or be joined to it by "=", options and the project may
// stand in any order, "--" ends the options, and the last of two equal options
// counts. Whatever it does not take is a reason not to share.
func parseArguments(args []string, dir string) (arguments, string) {
	a := arguments{context: "desktop-app"} // DEFAULT_CONTEXT
	projects, named := 0, false            // named: the context
	project := func(value string) {
		a.project, a.hasProject = value, true
		projects++
	}
	for i := 0; i < len(args); i++ {
		word := args[i]
		switch {
		case word == "--project-from-cwd":
			a.fromCwd = true
			continue
		case word == "--":
			for _, rest := range args[i+1:] {
				project(rest)
			}
			i = len(args)
			continue
		case !strings.HasPrefix(word, "-") || word == "-":
			project(word)
			continue
		}
		option, value, joined := strings.Cut(word, "=")
		if !slices.Contains(withValue, option) {
			return a, "it has an option that lamplighter does not know: " + monitor.Shorten(monitor.Clean(option), 60)
		}
		if !joined {
			// The parser would take the next option for the value, which nobody means.
			if i++; i == len(args) || strings.HasPrefix(args[i], "--") {
				return a, "its option " + option + " has no value"
			}
			value = args[i]
		}
		switch option {
		case "--project", "--project-file":
			project(value)
			continue
		case "--host", "--port", "--open-web-dashboard":
			continue
		case "--transport":
			if value != "stdio" {
				return a, "it is to speak " + monitor.Shorten(monitor.Clean(value), 60) + ", and not stdio with its client"
			}
			continue
		case "--context":
			a.context, named = absolute(dir, value), true
			continue
		case "--mode", "--add-mode":
			value = absolute(dir, value)
			a.modes = append(a.modes, value)
		}
		a.kept = append(a.kept, option, value)
	}
	if named { // where it stands among the others means nothing, so that all who name it share
		a.kept = append(a.kept, "--context", a.context)
	}
	switch {
	case projects > 1:
		return a, "its project is given twice"
	case a.hasProject && a.fromCwd:
		return a, "it has both a project and --project-from-cwd"
	}
	return a, ""
}

// absolute is the name of a context or a mode, or the path of its file.
func absolute(dir, name string) string {
	if (filepath.Separator != '/' || !strings.Contains(name, `\`)) && looksLikePath(name) && !filepath.IsAbs(name) {
		return filepath.Join(dir, name)
	}
	return name
}

// useSingleProject makes the context one in which the project cannot be changed.
func (a *arguments) useSingleProject() {
	if slices.Contains(singleProject, a.context) {
		return
	}
	a.context = "claude-code"
	var kept []string
	for i := 0; i+1 < len(a.kept); i += 2 {
		if a.kept[i] != "--context" {
			kept = append(kept, a.kept[i], a.kept[i+1])
		}
	}
	a.kept = append(kept, "--context", a.context)
}

// singleProject are the contexts in which a server that was started with a
// project cannot change it: those with single_project: true in
// serena/resources/config/contexts of 1.5.3 to 2.1.0. ide-assistant is an older
// name of claude-code.
var singleProject = []string{
	"antigravity", "claude-code", "codebuddy", "copilot-cli", "grok", "ide", "ide-assistant", "jb-ai-assistant", "jb-copilot-plugin", "junie", "vscode", "zcode",
}

// isSingleProject reports whether the project cannot be changed in a context. A user's
// own context of that name wins over Serena's, and is not read.
func isSingleProject(name, serenaHome string) bool {
	own := func(name string) bool {
		_, err := os.Lstat(filepath.Join(serenaHome, "contexts", name+".yml"))
		return !errors.Is(err, fs.ErrNotExist)
	}
	return slices.Contains(singleProject, name) && !own(name) && !(name == "ide-assistant" && own("claude-code"))
}

// looksLikePath is as in serena/config/context_mode.py, but both separators
// count everywhere.
func looksLikePath(name string) bool {
	lower := strings.ToLower(name)
	return strings.ContainsAny(name, `/\`) || strings.HasSuffix(lower, ".yml") || strings.HasSuffix(lower, ".yaml")
}

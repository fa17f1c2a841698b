package share

import (
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
			a.context, named = value, true
			continue
		case "--mode", "--add-mode":
			if (filepath.Separator != '/' || !strings.Contains(value, `\`)) && looksLikePath(value) && !filepath.IsAbs(value) {
				value = filepath.Join(dir, value)
			}
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

// projectSwitching are Serena's others.
var projectSwitching = []string{"agent", "chatgpt", "codex", "desktop-app", "oaicompat-agent"}

// contextAlone says why a context is not shared; isOwn tells whether the user
// has a file of that name, which wins over Serena's.
func contextAlone(name string, isOwn func(name string) bool) string {
	shown := monitor.Shorten(monitor.Clean(name), 60)
	switch {
	case looksLikePath(name):
		return "its context is a file of the user (" + shown + "), which may let clients change the project"
	case isOwn(name), name == "ide-assistant" && isOwn("claude-code"):
		return "its context " + shown + " is one of the user's own, which may let clients change the project"
	case slices.Contains(singleProject, name):
		return ""
	case slices.Contains(projectSwitching, name):
		return "its context " + shown + " can change the project" + wayOut
	}
	return "its context " + shown + " is not known, and may let clients change the project" + wayOut
}

// wayOut is what can be done about a context.
const wayOut = " (with --context ide in its place it can be shared)"

// looksLikePath is as in serena/config/context_mode.py, but both separators
// count everywhere.
func looksLikePath(name string) bool {
	lower := strings.ToLower(name)
	return strings.ContainsAny(name, `/\`) || strings.HasSuffix(lower, ".yml") || strings.HasSuffix(lower, ".yaml")
}

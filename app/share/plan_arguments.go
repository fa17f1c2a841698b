package share

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"lamplighter/monitor"
)

// arguments are those of start-mcp-server.
type arguments struct {
	project    string // as given
	hasProject bool
	fromCwd    bool
	context    string
	named      bool // the context
	modes      []string
	kept       []string // what is not about transport, project, context and page, in its order, each option with its value behind it
	page       string   // see Reading
	noPage     bool
}

// words are the arguments with which the server is started. Where its context stood
// among the others means nothing, so that all who name it share.
func (a *arguments) words() []string {
	if a.named {
		return append(slices.Clip(a.kept), "--context", a.context)
	}
	return a.kept
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
func parseArguments(args []string, dir string) (a arguments, why string) {
	a.context = "desktop-app" // DEFAULT_CONTEXT
	projects := 0
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
			why = cmp.Or(why, "it has an option that lamplighter does not know: "+monitor.Shorten(monitor.Clean(option), 60))
			continue
		}
		if !joined {
			// The parser would take the next option for the value, which nobody means.
			if i+1 == len(args) || strings.HasPrefix(args[i+1], "--") {
				why = cmp.Or(why, "its option "+option+" has no value")
				continue
			}
			i++
			value = args[i]
		}
		switch option {
		case "--project", "--project-file":
			project(value)
		case "--host", "--port":
		case "--open-web-dashboard":
			a.page = strconv.FormatBool(!isFalse(value))
		case "--transport":
			if value != "stdio" {
				why = cmp.Or(why, "it is to speak "+monitor.Shorten(monitor.Clean(value), 60)+", and not stdio with its client")
			}
		case "--context":
			a.context, a.named = absolute(dir, value), true
		case "--mode", "--add-mode":
			value = absolute(dir, value)
			a.modes = append(a.modes, value)
			a.kept = append(a.kept, option, value)
		case "--enable-web-dashboard":
			a.noPage = isFalse(value)
			a.kept = append(a.kept, option, value)
		default:
			a.kept = append(a.kept, option, value)
		}
	}
	switch {
	case projects > 1:
		why = cmp.Or(why, "its project is given twice")
	case a.hasProject && a.fromCwd:
		why = cmp.Or(why, "it has both a project and --project-from-cwd")
	}
	return a, why
}

// isFalse reports what click takes for false.
func isFalse(value string) bool {
	return slices.Contains([]string{"false", "0", "no", "off", "f", "n"}, strings.ToLower(value))
}

// Reading is what a command tells by itself, before anything is looked at.
type Reading struct {
	Serena bool
	// Alone says why its server cannot be shared, as a part of a sentence; "" when
	// nothing in the command speaks against it.
	Alone string
	// Page is what the command says about Serena's own page: "true" when it is to
	// open, "false" when it is not or when there is none, "" for nothing.
	Page string
}

// ReadCommand reads a command as a client's lamplighter-connect would give it. It looks
// at no file.
func ReadCommand(goos string, command []string) Reading {
	_, args, why := split(goos, command)
	a, whyNot := parseArguments(args, "")
	r := Reading{Serena: why == "" || why == fromTheDir, Alone: cmp.Or(why, whyNot, beginsWithTilde(a.project)), Page: a.page}
	if a.noPage {
		r.Page = "false"
	}
	return r
}

// absolute is the name of a context or a mode, or the path of its file.
func absolute(dir, name string) string {
	if (filepath.Separator != '/' || !strings.Contains(name, `\`)) && looksLikePath(name) && !filepath.IsAbs(name) {
		return filepath.Join(dir, name)
	}
	return name
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

package doctor

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"lamplighter/monitor"
)

// tools are programs that servers start: Serena and uv's own, and the language
// servers that Serena takes from the PATH, with what they run on.
//
// Source: solidlsp/language_servers of Serena 2.1.0.
var tools = []string{
	"serena", "uvx", "uv", "go", "gopls", "node", "npm", "npx", "python3", "rust-analyzer", "cargo", "clangd", "ccls", "java", "dotnet", "ruby",
	"solargraph", "ruby-lsp", "php", "perl", "R", "julia", "elixir", "erl", "erlang_ls", "zls", "zig", "nixd", "lua-language-server", "bash-language-server",
	"haskell-language-server-wrapper", "ghc", "terraform", "terraform-ls", "dart", "sourcekit-lsp", "kotlin-lsp", "metals", "fortls", "clojure", "clojure-lsp",
	"ocamllsp", "opam", "elm-language-server", "regal", "pyright-langserver", "typescript-language-server",
}

// pathFacts are the PATH of who starts servers and that of the login shell.
type pathFacts struct {
	whose   string // in words
	desktop string
	who     string // whose PATH is the other one
	login   string
	err     error             // why the login shell's is not known; it is "" on systems that have none
	only    map[string]string // tools that only the login shell finds, and where
	here    map[string]string // tools that only the terminal finds in which this command runs
}

func gatherPath(ctx context.Context, o Options, w world) pathFacts {
	f := pathFacts{whose: w.whose(), desktop: variable(w.environ, "PATH"), who: "the login shell"}
	if runtime.GOOS == "windows" {
		f.who = "a new session" // which has what was installed since this one began
	}
	f.login, f.err = w.finder.LoginPath(ctx)
	if f.err == nil && f.login != "" {
		f.only = onlyIn(pathDirs(f.login), pathDirs(f.desktop), lookIn)
	}
	if w.ofDesktop {
		others := append(pathDirs(f.desktop), pathDirs(f.login)...)
		f.here = onlyIn(pathDirs(variable(o.Environ, "PATH")), others, lookIn)
	}
	return f
}

// whose says whose environment is looked at.
func (w world) whose() string {
	if w.ofDesktop {
		return "the background process"
	}
	return "this command"
}

// onlyIn are the tools that these directories have and those others have not.
func onlyIn(dirs, others []string, look func([]string, string) string) map[string]string {
	more := slices.DeleteFunc(slices.Clone(dirs), func(dir string) bool { return slices.Contains(others, dir) })
	only := map[string]string{}
	for _, tool := range tools {
		if at := look(more, tool); at != "" && look(others, tool) == "" {
			only[tool] = at
		}
	}
	return only
}

func judgePath(f pathFacts) []Line {
	lines := []Line{judgeDirs(f)}
	login := pathDirs(f.login)
	desktop := pathDirs(f.desktop)
	more := slices.DeleteFunc(slices.Clone(login), func(dir string) bool { return slices.Contains(desktop, dir) })
	switch {
	case errors.Is(f.err, errors.ErrUnsupported):
	case f.err != nil:
		lines = append(lines, Line{
			Mark: Warn, Text: fmt.Sprintf("%s does not tell its PATH: %v", f.who, f.err),
			Means: "Servers that Lamplighter starts get the PATH above alone; language servers elsewhere are not found.",
			Do:    "See what your shell's start-up files wait for; they run without a terminal here.",
		})
	case len(login) == 0:
	case len(more) == 0:
		lines = append(lines, Line{Mark: OK, Text: f.who + "'s PATH has nothing more"})
	default:
		lines = append(lines, Line{
			Mark: OK, Text: fmt.Sprintf("%s's PATH has %s more: %s", f.who, monitor.Plural(len(more), "directory", "directories"), strings.Join(more, ", ")),
			Means: "Servers that Lamplighter starts get both.",
		})
	}
	if len(f.only) > 0 {
		lines = append(lines, Line{
			Mark: Warn, Text: "only " + f.who + " finds " + namesOf(f.only),
			Means: "What Lamplighter starts finds them, too. An assistant that you start from the desktop's menu may not, nor do the servers it starts.",
			Do:    "Set PATH where the desktop reads it, too (Linux: ~/.profile or ~/.config/environment.d), and log in again; or write full paths into the assistant's settings.",
		})
	}
	if len(f.here) > 0 {
		lines = append(lines, Line{
			Mark: Warn, Text: "only this terminal finds " + namesOf(f.here),
			Means: "A virtual environment that is active here, or what was added to PATH by hand, is not there for what Lamplighter starts.",
			Do:    "Name the program's full path in session_command of the settings if it is wanted.",
		})
	}
	return lines
}

// namesOf lists tools and where they lie, in our order.
func namesOf(found map[string]string) string {
	var names []string
	for _, tool := range tools {
		if at := found[tool]; at != "" {
			names = append(names, tool+" ("+filepath.Dir(at)+")")
		}
	}
	return strings.Join(names, ", ")
}

// judgeDirs is about the PATH itself.
func judgeDirs(f pathFacts) Line {
	var odd []string
	for _, dir := range filepath.SplitList(f.desktop) {
		if !filepath.IsAbs(dir) {
			odd = append(odd, `"`+monitor.Clean(dir)+`"`)
		}
	}
	dirs := pathDirs(f.desktop)
	switch {
	case len(dirs) == 0:
		return Line{
			Mark: Warn, Text: "the PATH of " + f.whose + " is empty", Means: "No program is found by its name.",
			Do: "Start lamplighter from the desktop or a login shell, or set PATH.",
		}
	case len(odd) > 0:
		return Line{
			Mark: Warn, Text: fmt.Sprintf("the PATH of %s has a directory that is not absolute: %s", f.whose, strings.Join(odd, ", ")),
			Means: "It is another directory in every project, so a project could put its own program there. Lamplighter passes over it; others may not.",
			Do:    "Take it out of PATH.",
		}
	}
	return Line{Mark: OK, Text: fmt.Sprintf("the PATH of %s has %s", f.whose, monitor.Plural(len(dirs), "directory", "directories"))}
}

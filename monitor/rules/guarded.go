package rules

import (
	"cmp"
	"slices"
	"strings"

	"lamplighter/monitor"
	"lamplighter/monitor/command"
)

// subject is a process as rules see it: what its command line runs.
type subject struct {
	command.Command
	name string   // what argv[0] calls it
	what []string // the parts of the path of the executable, or of the script, module or image
}

// read tells what a process runs. It is false when that cannot be a server: the
// executable is unreadable, a launcher or our shim, or it cannot be told what runs.
func read(exe string, args []string) (subject, bool) {
	c := command.Parse(exe, args)
	if exe == "" || c.Program == "" || len(c.Through) > 0 || command.IsShim(exe, args) {
		return subject{}, false
	}
	what := c.Program
	if c.Runtime != 0 {
		what = cmp.Or(c.Script, c.Package)
	}
	return subject{c, monitor.ProgramName(args[0]), splitPath(what)}, true
}

// guarded tells command lines that are never a server's, whatever a rule says.
func (s *subject) guarded() bool {
	switch s.Runtime {
	case 0:
		never := command.Guarded | command.Starter
		if !slices.ContainsFunc(s.Args, hasMCP) {
			never |= command.GuardedTool
		}
		return isLanguageServer(monitor.ProgramName(s.Program)) || command.Is(monitor.ProgramName(s.Program), never) || command.Is(s.name, never)
	case command.Container:
		return command.Is(s.Package, command.GuardedImage)
	}
	path := strings.Join(s.what, "/")
	for _, editor := range []string{"/.vscode/extensions/", "/.vscode-server/", "/code-server/"} {
		if strings.Contains("/"+path, editor) {
			return true
		}
	}
	what := slices.Clone(s.what)
	for _, prefix := range scriptPrefixes {
		rest, found := strings.CutPrefix(what[0], prefix)
		if what[0] = rest; found && command.Is(packageAt(what), command.GuardedScript) {
			return true
		}
	}
	last := what[len(what)-1]
	if s.Runtime == command.Java && !strings.Contains(last, "mcp") && slices.ContainsFunc(javaSuites, func(begin string) bool { return strings.HasPrefix(last, begin) }) {
		return true
	}
	if s.Flag == "-m" {
		last, _, _ = strings.Cut(last, ".") // pytest.__main__
	}
	return slices.ContainsFunc([]string{monitor.ProgramName(last), installed(what)}, func(name string) bool {
		return isLanguageServer(name) || command.Is(name, command.GuardedScript)
	})
}

// isLanguageServer reports whether a program is called after what editors start for a
// language.
func isLanguageServer(name string) bool {
	if strings.Contains(name, "mcp") {
		return false
	}
	endings := []string{"language-server", "languageserver", "langserver", "-lsp"}
	return slices.ContainsFunc(endings, func(ending string) bool { return strings.HasSuffix(name, ending) })
}

// javaSuites are the beginnings of names of classes and archives that are never
// servers. A server for one of them has "mcp" in its name.
var javaSuites = []string{
	"org.gradle.", "worker.org.gradle.", "gradle-wrapper", "org.codehaus.", "org.junit.", "org.eclipse.", "com.intellij.", "org.jetbrains.",
	"org.apache.", "kafka.", "org.elasticsearch.",
}

// scriptPrefixes stand before what is no path: a title, a package.
var scriptPrefixes = []string{"title:", "npm:", "jsr:"}

// installed is the package in which a script lies, "" where it lies in none.
func installed(path []string) string {
	for i := len(path) - 2; i >= 0; i-- {
		switch path[i] {
		case "node_modules", "site-packages", "dist-packages":
			return packageAt(path[i+1:])
		}
	}
	return ""
}

func packageAt(path []string) string {
	if strings.HasPrefix(path[0], "@") && len(path) > 1 {
		return path[0] + "/" + path[1]
	}
	return path[0]
}

package rules

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"lamplighter/monitor"
	"lamplighter/monitor/clients"
	"lamplighter/monitor/command"
)

// subject is what a process runs, or what a rule says that one does.
type subject struct {
	runtime command.Trait
	flag    string // "-m" before a module of Python
	what    string // the path of the program, or of the script, module or image, as clients.Slashed gives it
	name    string // what the program is called, of a process by argv[0]
	args    []string
}

// families are the programs of a rule that stand for a family.
var families = map[string]command.Trait{"node": command.Node, "python": command.Python, "java": command.Java, "docker": command.Container}

// says is what a rule says that a process runs.
func (r Rule) says() subject {
	program := clients.Slashed(r.Program)
	s := subject{runtime: families[program], what: strings.TrimSuffix(program, ".exe"), args: r.Arguments}
	if s.runtime != 0 {
		s.what = ""
		switch {
		case len(s.args) == 0:
		case s.runtime == command.Python && s.args[0] == "-m":
			s.flag, s.args = s.args[0], s.args[1:]
		case s.runtime == command.Java && s.args[0] == "-jar":
			s.args = s.args[1:]
		}
		if len(s.args) > 0 {
			s.what, s.args = clients.Slashed(s.args[0]), s.args[1:]
		}
	}
	s.name = s.last()
	return s
}

// read tells what a process runs. It is false when that cannot be a server: the
// executable is unreadable, a launcher, or it cannot be told what runs.
func read(exe string, args []string) (subject, bool) {
	c := command.Parse(exe, args)
	if exe == "" || c.Program == "" || len(c.Through) > 0 {
		return subject{}, false
	}
	return subject{c.Runtime, c.Flag, clients.Slashed(cmp.Or(c.Script, c.Program)), monitor.ProgramName(args[0]), c.Args}, true
}

func (s *subject) last() string { return s.what[strings.LastIndexByte(s.what, '/')+1:] }

// guarded tells command lines that are never a server's, whatever a rule says.
func (s *subject) guarded() bool {
	program, path := monitor.ProgramName(s.what), s.what
	switch s.runtime {
	case 0:
		never := command.Guarded | command.Starter
		if !slices.ContainsFunc(s.args, hasMCP) {
			never |= command.GuardedTool
		}
		script := ""
		if len(s.args) > 0 && command.Is(s.name, command.Interpreter) {
			script = monitor.ProgramName(s.args[0]) // ruby solargraph
		}
		return isLanguageServer(program) || isLanguageServer(script) ||
			command.Is(program, never) || command.Is(s.name, never) || command.Is(script, never&^command.Starter)
	case command.Container:
		return command.Is(path, command.GuardedImage)
	}
	for _, editor := range []string{"/.vscode/extensions/", "/.vscode-server/", "/code-server/", "/.cursor/extensions/", "/.cursor-server/", "/.windsurf/extensions/", "/.windsurf-server/"} {
		if strings.Contains("/"+path, editor) {
			return true
		}
	}
	for _, prefix := range []string{"title:", "npm:", "jsr:"} { // of what is no path
		if rest, found := strings.CutPrefix(path, prefix); found {
			path = "node_modules/" + rest
		}
	}
	last := path[strings.LastIndexByte(path, '/')+1:]
	if s.runtime == command.Java && !strings.Contains(last, "mcp") && slices.ContainsFunc(javaSuites, func(begin string) bool { return strings.HasPrefix(last, begin) }) {
		return true
	}
	if s.flag == "-m" {
		last, _, _ = strings.Cut(last, ".") // pytest.__main__
	}
	names := append(ofPackage.FindStringSubmatch("/"+path), monitor.ProgramName(last))
	return slices.ContainsFunc(names, func(name string) bool {
		return isLanguageServer(name) || command.Is(name, command.GuardedScript)
	})
}

// isLanguageServer reports whether a program is called after what editors start for a
// language.
func isLanguageServer(name string) bool {
	endings := []string{"language-server", "languageserver", "langserver", "-lsp"}
	return !strings.Contains(name, "mcp") && slices.ContainsFunc(endings, func(ending string) bool { return strings.HasSuffix(name, ending) })
}

// javaSuites are the beginnings of names of classes and archives that are never
// servers. A server for one of them has "mcp" in its name.
var javaSuites = []string{
	"org.gradle.", "worker.org.gradle.", "gradle-wrapper", "org.codehaus.", "org.junit.", "org.eclipse.", "com.intellij.", "org.jetbrains.",
	"org.apache.", "kafka.", "org.elasticsearch.", "scala.meta.metals.", "org.javacs.kt.",
}

// ofPackage matches a script in a package, whose name its group is: of several that of the
// innermost. The whole match is a path, which is no name.
var ofPackage = regexp.MustCompile(`(?s).*/(?:node_modules|site-packages|dist-packages)/((?:@[^/]+/)?[^/]*)`)

// endsWith compares the end of a path, part by part.
func endsWith(path, end string) bool {
	return strings.HasSuffix("/"+path, "/"+end) || strings.HasSuffix("/"+trimEnding(path), "/"+end)
}

// trimEnding removes what installers add to the name of an entry point. The
// ending of a script stays: a scratch file of the same name is not the server.
func trimEnding(name string) string {
	for _, ending := range []string{".exe", ".cmd", "-script.py", "-script.pyw"} {
		if s, ok := strings.CutSuffix(name, ending); ok {
			return s
		}
	}
	return name
}

package share

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"lamplighter/monitor"
	"lamplighter/monitor/command"
	"lamplighter/monitor/serena"
)

// subcommand is the one of Serena that serves MCP.
const subcommand = "start-mcp-server"

// What says why a command is not shared.
const (
	notSerena  alone = "it is not a Serena, which is the only server that lamplighter can share"
	fromTheDir alone = "what it starts depends on the directory where it is started"
)

// arguments are those of start-mcp-server.
type arguments struct {
	project string // as given, "" for none
	fromCwd bool
	context string
	modes   []string
	kept    []string // what is not about transport, project, context and page, in its order, each option with its value behind it
	page    string   // see Reading
}

// words are the arguments with which the server is started. Where its context stood
// among the others means nothing, so that all who have it share.
func (a *arguments) words() []string { return append(slices.Clip(a.kept), "--context", a.context) }

// read divides a command into what starts the server, up to its subcommand, and its
// arguments; or says why it is none that can be shared. What it says stands in the
// wish all the same.
func (w *wish) read(goos string) error {
	words := w.Command
	if goos == "windows" {
		words = command.WithoutShell(words)
	}
	if c, ok := serena.ParseCommand("", words); ok {
		w.program = slices.Clip(words[:len(words)-len(c.Args)])
		return w.parse(c.Args)
	}
	// What stands behind the program are its arguments: another one that is given the
	// command of Serena, such as a guard before its tools, is no Serena, and neither is
	// a script of that name.
	c := command.Parse("", words)
	if len(c.Through) != 1 || c.Runtime != 0 || !serena.IsPackage(c.Program) || len(c.Args) == 0 || c.Args[0] != subcommand {
		return notSerena
	}
	launcher := c.Through[0]
	// What comes from elsewhere may call a program of its own by that name.
	isElsewhere := c.Package != "" && c.Package != c.Program && !isSource(c.Package)
	if !command.Is(monitor.ProgramName(launcher[0]), command.Fetcher) || isElsewhere {
		return notSerena
	}
	w.program = slices.Clip(words[:len(launcher)+2])
	err := w.parse(c.Args[1:])
	isPlace := func(o serena.Option) bool {
		return (o.Name == "--directory" || o.Name == "--project") && filepath.IsAbs(o.Value)
	}
	if c.Package == "" && !slices.ContainsFunc(serena.Options(launcher[1:]), isPlace) {
		err = fromTheDir // in a project of uv, which is that of the working directory
	}
	return err
}

// isSource reports whether Serena comes from there: its package, its repository or a
// fork of that, or a clone.
func isSource(from string) bool {
	if strings.HasPrefix(from, ".") {
		return true // a relative name, which is refused for that
	}
	from, _, _ = strings.Cut(from, " ")
	from, _, _ = strings.Cut(from, "#")
	if _, rest, found := strings.Cut(from, "://"); found {
		_, from, _ = strings.Cut(rest, "/") // the host is none of it
	}
	from, _, _ = strings.Cut(strings.ReplaceAll(from, `\`, "/"), "@")
	if i := strings.IndexAny(from, "[=<>~!;"); i >= 0 {
		from = from[:i] // which version
	}
	return serena.IsPackage(strings.TrimSuffix(path.Base(from), ".git"))
}

// namesFiles reports whether what starts a server is given files or directories by
// relative names. A server runs elsewhere, so that they would be others there.
func namesFiles(dir string, program []string) bool {
	end := len(program) - 2 // without the subcommand, and the name of what a launcher runs
	if command.IsPython(monitor.ProgramName(program[0])) {
		end++
	}
	for _, o := range serena.Options(program[1:max(1, end)]) {
		// These take names of packages, and of files only with a separator.
		isName := (o.Name == "--from" || o.Name == "--with") && !hasSeparator(o.Value)
		switch {
		case strings.HasPrefix(o.Value, "."):
			return true
		case o.Value == "", isName, filepath.IsAbs(o.Value):
			continue
		}
		if _, err := os.Lstat(filepath.Join(dir, o.Value)); err == nil {
			return true
		}
	}
	return false
}

// withValue are the options that take one. Source: serena/cli.py of 1.5.3 to
// 2.1.0. One that is not here may mean anything.
var withValue = []string{
	"--project", "--project-file", "--context", "--mode", "--add-mode", "--language-backend", "--agent-interface", "--transport", "--host", "--port",
	"--enable-web-dashboard", "--open-web-dashboard", "--enable-gui-log-window", "--log-level", "--trace-lsp-communication", "--tool-timeout",
}

// parse reads arguments as Serena's parser (click) does: options and the project may
// stand in any order, and the last of two equal options counts. Whatever it does not
// take is a reason not to share, of which the first is returned.
func (w *wish) parse(args []string) (err error) {
	refuse := func(why string) { err = cmp.Or(err, error(alone(why))) }
	w.context = "desktop-app" // DEFAULT_CONTEXT
	twice, hasPage := false, true
	for _, o := range serena.Options(args) {
		switch isOption := o.Name != ""; {
		case o.Name == "--project-from-cwd" && o.Value == "":
			w.fromCwd = true
			continue
		case isOption && !slices.Contains(withValue, o.Name):
			refuse("it has an option that lamplighter does not know: " + monitor.Shorten(monitor.Clean(o.Name), 60))
			continue
		case isOption && o.Value == "":
			refuse("its option " + o.Name + " has no value")
			continue
		}
		switch o.Name {
		case "", "--project", "--project-file":
			twice = twice || w.project != ""
			w.project = o.Value
		case "--host", "--port":
		case "--open-web-dashboard":
			w.page = strconv.FormatBool(!isFalse(o.Value))
		case "--transport":
			if o.Value != "stdio" {
				refuse("it is to speak " + monitor.Shorten(monitor.Clean(o.Value), 60) + ", and not stdio with its client")
			}
		case "--context":
			w.context = absolute(w.Dir, o.Value)
		case "--mode", "--add-mode":
			mode := absolute(w.Dir, o.Value)
			w.modes = append(w.modes, mode)
			w.kept = append(w.kept, o.Name, mode)
		case "--enable-web-dashboard":
			hasPage = !isFalse(o.Value)
			fallthrough
		default:
			w.kept = append(w.kept, o.Name, o.Value)
		}
	}
	if !hasPage {
		w.page = "false"
	}
	switch {
	case twice:
		refuse("its project is given twice")
	case w.project != "" && w.fromCwd:
		refuse("it has both a project and --project-from-cwd")
	}
	return err
}

// isFalse reports what click takes for false.
func isFalse(value string) bool {
	return slices.Contains([]string{"false", "0", "no", "off", "f", "n"}, strings.ToLower(value))
}

// absolute is the name of a context or a mode, or the path of its file. Source:
// serena/config/context_mode.py.
func absolute(dir, name string) string {
	lower := strings.ToLower(name)
	isPath := hasSeparator(name) || strings.HasSuffix(lower, ".yml") || strings.HasSuffix(lower, ".yaml")
	if isPath && !filepath.IsAbs(name) {
		return filepath.Join(dir, name)
	}
	return name
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
func ReadCommand(goos string, words []string) Reading {
	w := wish{Request: Request{Command: words}}
	why := cmp.Or(w.read(goos), beginsWithTilde(w.project))
	r := Reading{Serena: w.program != nil, Page: w.page}
	if why != nil {
		r.Alone = why.Error()
	}
	return r
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

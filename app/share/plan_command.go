package share

import (
	"cmp"
	"path/filepath"
	"regexp"
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

// source are the places where Serena comes from: its package, its repository or a fork of
// that, or a clone; and relative names, which are refused for that. What stands behind a
// place, such as a branch or a directory in it, says nothing.
var source = regexp.MustCompile(`^\.|^serena(-agent)?($|[\[=<>~!;@ ])|^(\w[\w+.-]*://[^/]*)?([^#@ ]*[^#@ /\\])?[/\\]serena(-agent)?(\.git)?[/\\]?($|[@# ])`)

// read divides a command into what starts the server, up to its subcommand, and its
// arguments; or says why it is none that can be shared. What it says stands in the
// wish all the same.
func (w *wish) read(goos string) error {
	words := w.Command
	if goos == "windows" {
		words = command.WithoutShell(words)
	}
	c, isProgram := serena.ParseCommand("", words)
	args, isRelative := c.Args, false // to the working directory
	if !isProgram {
		// What stands behind the program are its arguments: another one that is given the
		// command of Serena, such as a guard before its tools, is no Serena, and neither is
		// a script of that name. What comes from elsewhere may call a program of its own by
		// that name.
		c := command.Parse("", words)
		if c.Package != "" && c.Package != c.Program && !source.MatchString(c.Package) || len(c.Through) != 1 || !command.Is(monitor.ProgramName(c.Through[0]), command.Fetcher) || c.Runtime != 0 ||
			!serena.IsPackage(c.Program) || len(c.Args) == 0 || c.Args[0] != subcommand {
			return notSerena
		}
		isPlace := func(o serena.Option) bool {
			return (o.Name == "--directory" || o.Name == "--project") && filepath.IsAbs(o.Value)
		}
		// A project of uv is that of the working directory.
		args, isRelative = c.Args[1:], c.Package == "" && !slices.ContainsFunc(serena.Options(words[1:len(words)-len(c.Args)]), isPlace)
	}
	w.program = slices.Clip(words[:len(words)-len(args)])
	for _, o := range serena.Options(w.program[1:]) {
		// A server runs elsewhere. In settings it may begin with a ${VARIABLE} of the client.
		isPath := hasSeparator(o.Value) && !strings.Contains(o.Value, "://") && !strings.HasPrefix(o.Value, "${")
		isRelative = isRelative || strings.HasPrefix(o.Value, ".") || isPath && !filepath.IsAbs(o.Value)
	}
	if err := w.parse(args); !isRelative {
		return err
	}
	return fromTheDir
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
	projects := 0
	for _, o := range serena.Options(args) {
		isFlag := o.Name == "--project-from-cwd"
		isKnown := o.Name == "" || isFlag && o.Value == "" || o.Value != "" && slices.Contains(withValue, o.Name)
		if !isKnown {
			refuse("its option " + monitor.Shorten(monitor.Clean(o.Name), 60) + " has no value, or is one that lamplighter does not know")
			continue
		}
		switch o.Name {
		case "", "--project", "--project-file", "--project-from-cwd":
			projects++
			w.project, w.fromCwd = o.Value, isFlag
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
			o.Value = absolute(w.Dir, o.Value)
			w.modes = append(w.modes, o.Value)
			fallthrough
		default:
			w.kept = append(w.kept, o.Name, o.Value)
		}
	}
	if projects > 1 {
		refuse("its project is given twice")
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
	if hasSeparator(name) || slices.Contains([]string{".yml", ".yaml"}, strings.ToLower(filepath.Ext(name))) {
		return from(dir, name)
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
	why := w.read(goos)
	if why == nil && strings.HasPrefix(w.project, "~") {
		why = alone("the project " + monitor.Shorten(monitor.Clean(w.project), 100) + " begins with ~, which nobody replaces by the home directory here (write the whole path)")
	}
	r := Reading{Serena: w.program != nil, Page: w.page}
	hasPage := true
	for option := range slices.Chunk(w.kept, 2) {
		if option[0] == "--enable-web-dashboard" {
			hasPage = !isFalse(option[1]) // the last one counts
		}
	}
	if !hasPage {
		r.Page = "false"
	}
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

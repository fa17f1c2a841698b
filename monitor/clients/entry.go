package clients

import (
	"bytes"
	"cmp"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"lamplighter/monitor"
	"lamplighter/monitor/command"
	"lamplighter/monitor/statefile"
)

// Entry is an MCP server in the settings of a client. Its texts are foreign, and its
// arguments may hold secrets.
type Entry struct {
	Client  string // its ID
	Name    string
	Command string // "" of one that has an address
	Args    []string
	File    string
	Scope   Scope
	// Dir is the directory of the project that it is for, "" for all.
	Dir    string
	Plugin string // that has brought it, "" for none
	Cwd    string // in which it is started, "" for the client's
	Off    bool   // the client is told not to use it
}

// maxSettings is how large a file of settings may be, in bytes, as in setup, which
// says so: that of Claude Code has the history of all chats.
const maxSettings = 32 << 20

// readFile is what a file holds, behind links, nil when that cannot be told. Nothing but
// a file is opened: a pipe would never answer.
func readFile(path string) []byte {
	target, _ := filepath.EvalSymlinks(path) // nothing is there, and nothing is read
	text, _ := statefile.Read(target, maxSettings)
	return text
}

// entries reads the servers of a place that start a program.
func (p Place) entries() []Entry {
	tables := p.Tables
	if p.Flat {
		tables = [][]string{{}}
	}
	settings, err := p.Format.Decode(bytes.TrimPrefix(readFile(p.Path), []byte("\uFEFF")), tables)
	if err != nil {
		return nil
	}
	var servers []Server
	for _, table := range p.Tables {
		servers = append(servers, serversIn(settings, nil, table)...)
	}
	if len(servers) == 0 && p.Flat {
		servers = serversIn(settings, nil, nil)
	}
	// What extensions of the Gemini CLI and of Qwen Code write for their directory.
	separator := string(filepath.Separator)
	variables := strings.NewReplacer("${extensionPath}", filepath.Dir(p.Path), "${/}", separator, "${pathSeparator}", separator)
	var list []Entry
	for _, s := range servers {
		if s.Command == "" {
			continue
		}
		entry := Entry{
			Client: p.Client, Name: s.Path[len(s.Path)-1], Command: variables.Replace(s.Command), File: p.Path, Scope: p.Scope, Dir: p.Dir, Plugin: p.Plugin,
			Cwd: variables.Replace(s.Dir), Off: s.Off,
		}
		for _, arg := range s.Args {
			entry.Args = append(entry.Args, variables.Replace(arg))
		}
		if len(s.Path) == 4 && s.Path[0] == "projects" {
			entry.Scope, entry.Dir = Project, s.Path[1] // that of Claude Code for one project
		}
		if words := append([]string{entry.Command}, entry.Args...); command.IsShim(words[0], words) {
			_, behind := command.Connect(words[2:]) // which our shim runs, or becomes without us
			entry.Command, entry.Args = behind[0], behind[1:]
		}
		list = append(list, entry)
	}
	return list
}

// Fit is how well a process fits an entry.
type Fit int

// The fits.
const (
	NoFit      Fit = iota
	PackageFit     // it runs what the package of the entry has installed, with the arguments of the entry
	WholeFit       // it runs what the entry says
	WordsFit       // it was started by the words of the entry
)

// Runs tells whether a process runs what the entry says: its executable, as far as
// that is known, and its command line. The arguments must be those of the entry,
// where a variable may stand for anything, see sameWord. The program may have an interpreter in
// front of it, as a script has, and a launcher may have rewritten its title. A path that is
// relative on one side only is meant from one of the directories, in which client and process work.
func (e Entry) Runs(exe string, args, dirs []string) Fit {
	if len(args) == 0 {
		return NoFit
	}
	words := args
	if title := strings.Fields(args[0]); len(title) > 1 && strings.Join(args[1:], "") == "" && command.RuntimeOf(monitor.ProgramName(exe)) != 0 {
		words = title
	}
	if at := len(words) - len(e.Args); at >= 1 && sameWords(e.Args, words[at:]) && e.starts(exe, words[:at]) {
		return WordsFit
	}
	is, says := command.Parse(exe, args), command.Parse("", append([]string{e.Command}, e.Args...))
	if is.Program == "" || says.Program == "" || !sameWords(says.Args, is.Args) {
		return NoFit
	}
	if len(says.Through) == 0 && rooted(e.Command) && rooted(args[0]) && !sameFile(e.Command, args[0]) {
		return NoFit // as python of another environment
	}
	fits := false
	switch {
	case says.Package != "" && is.Package != "":
		fits = unversioned(says.Package) == unversioned(is.Package)
	case says.Package != "":
		if runsPackage(unversioned(says.Package), is) {
			return PackageFit
		}
	case says.Runtime != is.Runtime:
	case says.Script != "":
		fits = says.Flag == is.Flag && e.sameScript(says.Script, is.Script, dirs)
	default:
		fits = sameFile(says.Program, is.Program)
	}
	if fits {
		return WholeFit
	}
	return NoFit
}

// runsPackage reports whether a command runs what a package has installed: a script in
// its directory, or one that is called after it. Several packages install a command
// that is called mcp.
func runsPackage(pkg string, c command.Command) bool {
	script, own := cmp.Or(c.Script, c.Program), pkg[strings.LastIndexByte(pkg, '/')+1:]
	return strings.Contains(Slashed(script), "/node_modules/"+pkg+"/") || monitor.ProgramName(script) == own && len(own) >= 5
}

// maxFront is how many words an interpreter may need before the program of an entry:
// node --no-warnings /usr/bin/npx.
const maxFront = 4

// starts reports whether the words in front of the arguments of an entry are its
// program.
func (e Entry) starts(exe string, front []string) bool {
	if len(front) == 1 {
		return sameFile(e.Command, front[0]) || sameFile(e.Command, exe)
	}
	runner := monitor.ProgramName(front[0])
	return len(front) <= maxFront && sameFile(e.Command, front[len(front)-1]) && (command.RuntimeOf(runner) != 0 || command.Is(runner, command.Starter|command.Interpreter))
}

// sameFile reports whether two names of a program or a script may be one: two absolute
// paths have to be equal, but for variables, else the last parts.
func sameFile(says, is string) bool {
	says, is = Slashed(says), Slashed(is)
	if variable.MatchString(says[strings.LastIndexByte(says, '/')+1:]) {
		return false
	}
	if rooted(is) && (rooted(says) || variable.MatchString(says)) {
		return sameWord(says, is) || sameWord(says+".exe", is)
	}
	return monitor.ProgramName(says) == monitor.ProgramName(is) && monitor.ProgramName(says) != ""
}

// sameScript reports whether two names of a script are one: other directories have scripts
// of that name too.
func (e Entry) sameScript(says, is string, dirs []string) bool {
	if rooted(says) == rooted(is) || variable.MatchString(says) {
		return sameFile(says, is) && (rooted(is) || path.Clean(Slashed(says)) == path.Clean(Slashed(is)))
	}
	if e.Cwd != "" {
		dirs = []string{e.Cwd}
	}
	absolute, relative := Slashed(is), Slashed(says)
	if rooted(says) {
		absolute, relative = relative, absolute
	}
	return slices.ContainsFunc(dirs, func(dir string) bool { return path.Join(Slashed(dir), relative) == path.Clean(absolute) })
}

// rooted reports whether a path is absolute on any system.
func rooted(path string) bool { return IsAbsolute("windows", path) || IsAbsolute("linux", path) }

// sameWords compares the arguments of an entry with those of a process.
func sameWords(says, are []string) bool { return slices.EqualFunc(says, are, sameWord) }

// variable is what a client, or a shell, puts something else in the place of.
var variable = regexp.MustCompile(`^~|\$\{[^}]*\}|\$[A-Za-z_]\w*|%[A-Za-z_]\w*%|\{env:[^}]*\}`)

// sameWord reports whether a word of an entry may have become that of a process: each of
// its variables stands for anything, and the rest for itself.
func sameWord(says, is string) bool {
	literal := variable.Split(says, -1)
	first, last := literal[0], literal[len(literal)-1]
	if len(literal) == 1 || len(is) < len(first)+len(last) || !strings.HasPrefix(is, first) || !strings.HasSuffix(is, last) {
		return says == is
	}
	rest := is[len(first) : len(is)-len(last)]
	for _, part := range literal[1 : len(literal)-1] {
		_, after, found := strings.Cut(rest, part)
		if !found {
			return false
		}
		rest = after
	}
	return true
}

// IsLiteral reports whether an entry has no variables, so that nothing else fits it.
func (e Entry) IsLiteral() bool {
	return !variable.MatchString(e.Command) && !slices.ContainsFunc(e.Args, variable.MatchString)
}

// unversioned is a package without its version.
func unversioned(pkg string) string {
	if at := strings.LastIndexByte(pkg, '@'); at > 0 {
		pkg = pkg[:at]
	}
	pkg, _, _ = strings.Cut(pkg, "==")
	return strings.ToLower(pkg)
}

// In reports whether the entry counts for somebody who works in a directory.
func (e Entry) In(dir string) bool {
	if e.Dir == "" {
		return true
	}
	inside, err := filepath.Rel(filepath.Clean(e.Dir), filepath.Clean(dir))
	return dir != "" && err == nil && filepath.IsLocal(inside)
}

// For reports whether a process of a client, by its ID, may have started the entry: it
// is the client's own, or that of an extension of it.
func (e Entry) For(id string) bool {
	return e.Client == id || monitor.HasWord(first(func(c client) bool { return c.id == e.Client }).within, id)
}

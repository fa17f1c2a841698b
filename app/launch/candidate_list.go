package launch

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"lamplighter/monitor"
)

// most is how many interpreters are tried; more are a machine of a collector.
const most = 16

// winError is what users of Windows know as the failure to find a program.
const winError = " Programs that try to start it say: [WinError 2] The system cannot find the file specified."

// list collects candidates, each once.
type list struct {
	f    facts
	all  []Candidate
	seen []string
	env  []string
}

// candidatesFor makes the ordered list for a command. It is pure. What the settings name
// by its path comes first, and for who is content with that nothing else is looked for.
func candidatesFor(f facts, w Wanted, serena bool) iter.Seq[Candidate] {
	return func(yield func(Candidate) bool) {
		l := &list{f: f, env: f.withoutProject()}
		isPath := len(w.Command) > 0 && f.separated(w.Command[0])
		if isPath {
			l.named(w.Command)
		}
		for _, c := range l.all {
			if !yield(c) {
				return
			}
		}
		given, known := len(l.all), f.places()
		f.disk.ahead(slices.Concat(f.path, f.login, dirsOf(known)))
		if len(w.Command) > 0 && !isPath {
			l.searched(w.Command, known)
		}
		if serena {
			l.everywhere(known)
		}
		for _, c := range slices.Concat(passedOver(f.disk.silent(), w), l.all[given:]) {
			if !yield(c) {
				return
			}
		}
	}
}

// everywhere adds what starts Serena in any place.
func (l *list) everywhere(known []place) {
	onPath := placesOf(l.f.path, "PATH of this process")
	onLogin := placesOf(l.f.login, l.f.loginSource())
	l.serena(onPath, "PATH of this process", l.f.path)
	l.serena(onLogin, l.f.loginSource(), l.f.login)
	for _, p := range l.f.environments() {
		for _, file := range l.f.programs(p.dir, program) {
			l.add(Candidate{Command: []string{file}, Source: p.source, Untrusted: true}, l.f.disk.target(file))
		}
	}
	l.serena(known, "", nil)
	all := slices.Concat(onPath, onLogin, known)
	l.uvx(all)
	l.interpreters(all)
}

// passedOver says which directories could not be searched. It comes first: a
// program in one of them may be the one that is meant.
func passedOver(dirs []string, w Wanted) []Candidate {
	name := program
	if len(w.Command) > 0 {
		name = w.Command[0]
	}
	var list []Candidate
	for _, dir := range dirs {
		list = append(list, Candidate{
			Command: []string{name}, Source: "the directory " + monitor.Clean(dir), problem: Silent,
			note: "It did not answer within " + monitor.Span(lookLimit) + ", so nothing was looked for in it.",
		})
	}
	return list
}

func dirsOf(places []place) []string {
	var dirs []string
	for _, p := range places {
		dirs = append(dirs, p.dir)
	}
	return dirs
}

func placesOf(dirs []string, source string) []place {
	var list []place
	for _, dir := range dirs {
		list = append(list, place{dir: dir, source: source, shims: strings.HasSuffix(strings.TrimRight(dir, `/\`), "shims")})
	}
	return list
}

// add appends a candidate unless the same was there before. What is the same is
// said by key.
func (l *list) add(c Candidate, key string) {
	key = l.f.comparable(key)
	if slices.Contains(l.seen, key) {
		return
	}
	l.seen = append(l.seen, key)
	if c.Env == nil {
		c.Env = l.env
	}
	c.Untrusted = c.Untrusted || l.f.ofProject(c.Command[0])
	if c.Untrusted {
		c.project = l.f.project
	}
	l.all = append(l.all, c)
}

// named adds the program to which the settings give a path. They may name what is the
// project's.
func (l *list) named(command []string) {
	file := strings.ReplaceAll(command[0], "{project}", l.f.project)
	if rest, ok := strings.CutPrefix(file, "~/"); ok {
		file = l.f.join(l.f.home, rest)
	}
	if !l.f.absolute(file) && l.f.project != "" {
		file = l.f.join(l.f.project, strings.TrimPrefix(file, "./"))
	}
	l.take(command, file, "the settings", false)
	l.beside(file, command)
}

// take adds a program that the settings name.
func (l *list) take(command []string, file, source string, untrusted bool) {
	c := Candidate{Command: slices.Concat([]string{file}, command[1:]), Source: source, Env: l.envOf(file, untrusted), Untrusted: untrusted}
	if untrusted {
		c.project = l.f.project
	}
	l.all = append(l.all, c)
	if len(command) == 1 {
		l.seen = append(l.seen, l.f.target(file))
	}
}

// searched adds the programs that have the name which the settings give.
func (l *list) searched(command []string, known []place) {
	name := command[0]
	var searched, seen []string
	before := len(l.all)
	for _, p := range slices.Concat(placesOf(l.f.path, "PATH of this process"), placesOf(l.f.login, l.f.loginSource()), known) {
		for _, file := range l.f.programs(p.dir, name) {
			// An interpreter is another one in another environment.
			key := l.f.target(l.f.dir(file)) + " " + l.f.target(file)
			if slices.Contains(seen, key) {
				continue
			}
			seen = append(seen, key)
			// A bare name does not name what is the project's.
			l.take(command, file, "the settings, found by "+p.source, l.f.ofProject(file))
		}
		searched = append(searched, p.dir)
	}
	if len(l.all) == before {
		note := notIn(name, "PATH of this process", l.f.path)
		if n := len(searched) - len(l.f.path); n > 0 {
			note += fmt.Sprintf(" Nor is it in %d other directories: those of the %s and where programs of users lie.", n, l.f.loginSource())
		}
		if l.f.windows() {
			note += winError
		}
		l.all = append(l.all, Candidate{Command: slices.Clone(command), Source: "the settings", problem: NotFound, note: note})
	}
}

// envOf is the environment of a file that the settings name: without the
// project, unless it is the project's own that they mean.
func (l *list) envOf(file string, untrusted bool) []string {
	if !untrusted && l.f.ofProject(file) {
		return nil
	}
	return l.env
}

// beside adds the program of today when the settings name the one of old, or an
// interpreter with a module of Serena, which starts nothing by itself.
func (l *list) beside(name string, command []string) {
	where := []string{l.f.dir(name)}
	module := moduleOf(slices.Concat([]string{l.f.base(name)}, command[1:]))
	switch {
	case strings.TrimSuffix(strings.ToLower(l.f.base(name)), ".exe") == oldProgram:
	case module == program || strings.HasPrefix(module, program+"."):
		if l.f.windows() {
			where = append(where, l.f.join(where[0], l.f.binName())) // outside of environments
		}
	default:
		return
	}
	for _, dir := range where {
		for _, file := range l.f.programs(dir, program) {
			l.all = append(l.all, Candidate{Command: []string{file}, Source: "beside what the settings name", Env: l.envOf(file, false)})
			l.seen = append(l.seen, l.f.target(file))
		}
	}
}

// serena adds the programs of Serena in these places. Where nothing is on a
// PATH, that is a candidate too: its absence explains most.
func (l *list) serena(places []place, which string, dirs []string) {
	found := false
	for _, name := range []string{program, oldProgram} {
		for _, p := range places {
			for _, file := range l.f.programs(p.dir, name) {
				found = true
				l.add(Candidate{Command: []string{file}, Source: p.source}, l.f.target(file))
			}
		}
	}
	if !found && len(dirs) > 0 {
		l.add(Candidate{Command: []string{program}, Source: which, problem: NotFound, note: notIn(program, which, dirs)}, "no "+which)
	}
}

func (l *list) uvx(places []place) {
	before := len(l.all)
	for _, p := range places {
		for _, file := range l.f.programs(p.dir, "uvx") {
			l.add(Candidate{Command: []string{file, "--from", packageName, program}, Source: "uvx, found by " + p.source}, l.f.target(file))
		}
	}
	if len(l.all) == before {
		l.add(Candidate{
			Command: []string{"uvx", "--from", packageName, program}, Source: "uvx", problem: NotFound,
			note: "uvx was found nowhere. To have it: https://docs.astral.sh/uv/getting-started/installation/",
		}, "no uvx")
	}
}

func (l *list) interpreters(places []place) {
	before := len(l.all)
	add := func(file, source string) {
		if len(l.all)-before >= most {
			return
		}
		// The same file in another environment is another interpreter.
		key := l.f.target(l.f.dir(file)) + " " + l.f.target(file)
		l.add(Candidate{Command: []string{file, "-P", "-c", entry}, Source: source}, key)
	}
	for _, p := range places {
		names := []string{"python3", "python", "python3.14", "python3.13", "python3.12", "python3.11"}
		if l.f.windows() {
			names = []string{"python", "python3"}
		}
		for _, name := range names {
			files := l.f.programs(p.dir, name)
			for _, file := range files {
				add(file, "Python, found by "+p.source)
			}
			if p.shims && len(files) > 0 {
				break // the others are the same file
			}
		}
	}
	for _, file := range l.f.python {
		add(file, "Python, found by the py launcher")
	}
	if len(l.all) == before {
		l.add(Candidate{
			Command: []string{"python3", "-P", "-c", entry}, Source: "Python", problem: NotFound,
			note: "No interpreter of Python was found. Serena needs Python " + oldestPython + " or newer.",
		}, "no python")
	}
}

// withoutProject returns what keeps the project's files out of what is started:
// PATH and PYTHONPATH without them, where they have some.
func (f facts) withoutProject() []string {
	var env []string
	all := splitPath(f.goos, joinPath(f.goos, slices.Concat(f.path, f.login, []string{systemPath(f.goos, f.env)})))
	if kept := slices.DeleteFunc(slices.Clone(all), f.ofProject); len(kept) < len(all) {
		env = append(env, "PATH="+joinPath(f.goos, kept))
	}
	if value := f.env.get("PYTHONPATH"); value != "" {
		// What is relative would be looked for wherever the server runs.
		kept := slices.DeleteFunc(splitPath(f.goos, value), f.ofProject)
		if cleaned := joinPath(f.goos, kept); cleaned != value {
			env = append(env, "PYTHONPATH="+cleaned)
		}
	}
	return env
}

// notIn says where a program was looked for in vain.
func notIn(name, which string, dirs []string) string {
	where := fmt.Sprintf("in none of the %d directories", len(dirs))
	switch len(dirs) {
	case 0:
		return fmt.Sprintf("%q is not found: the %s is empty.", name, which)
	case 1:
		where = "not in the only directory"
	}
	return fmt.Sprintf("%q is %s on the %s: %s.", name, where, which, strings.Join(dirs, ", "))
}

package doctor

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"lamplighter/installer"
	"lamplighter/monitor"
)

// howUnit is installer.LoginEntry.How of a systemd service.
const howUnit = "systemd user unit"

// loginFacts are what would start lamplighter at login, and whether that is what
// runs.
type loginFacts struct {
	login    installer.Login
	entries  []loginEntry
	command  string   // what to type for this program
	runs     *copyOf  // what runs in the background, or else this program; nil when neither is known
	pid      int      // of what runs in the background, 0 for none
	lacks    []string // what belongs to start at login, and is not there
	packaged string   // the program of a package, "" for none
}

// loginEntry is one thing that would start it, with what became of its program.
type loginEntry struct {
	installer.LoginEntry
	program *copyOf // nil when it is not known, or not there
	missing error   // why it cannot be started
	moved   string  // where it lies below this home, when it is looked for below another
	foreign bool    // it is looked for below the home of somebody else
	stale   bool    // this program would write it in another way
	hides   string  // the file of a package that has no say because of this one
}

func judgeAutostart(f loginFacts) []Line {
	var lines []Line
	starts, told := false, false // something does; it was said why nothing does
	for i := range f.entries {
		e := &f.entries[i]
		starts = starts || e.On && e.Err == nil
		if !e.On && e.Err == nil && e.Package {
			continue // a package switches nothing on for anybody
		}
		told = told || !e.On || e.Err != nil || !e.Ours && !e.Package
		lines = append(lines, e.judge(f))
	}
	lines = append(lines, judgeSystemdSocket(f)...)
	if starts && len(f.lacks) > 0 {
		lines = append(lines, Line{
			Mark: Warn, Text: "start at login is not whole: there is no " + strings.Join(f.lacks, ", no "), Means: "It may not start on every desktop, or not with the first client.",
			Do: "Have it written anew: " + f.command + " install",
		})
	}
	if f.login.Why != "" && !told {
		mark := Warn
		if starts {
			mark = OK
		}
		lines = append(lines, Line{Mark: mark, Text: "start at login cannot be switched by Lamplighter", Means: f.login.Why})
	}
	if !starts {
		l := Line{Mark: Warn, Text: "lamplighter does not start at login", Means: "That is no fault: it runs when you start it."}
		if !told && f.login.Can {
			l.Do = "To have it: " + f.command + " install"
		}
		lines = append(lines, l)
	}
	return lines
}

// judge says how one entry is. Of several things the worst is said: once that is
// mended, the next one is.
func (e *loginEntry) judge(f loginFacts) Line {
	const never = "Lamplighter does not start at login."
	at := fmt.Sprintf("the %s %s", e.How, e.Path)
	anew := "Have it written anew: " + f.command + " install"
	switch {
	case e.Package:
		anew = "Install the package again."
	case !e.Ours:
		anew = "Correct it, or have it replaced (a copy is kept): " + f.command + " install --replace"
	}
	leave := "Leave it to the package: " + monitor.Quoted([]string{"rm", e.Path})
	if e.Ours && f.packaged != "" {
		leave = "Leave it to the package: " + monitor.Quoted([]string{f.packaged, "install"})
	}
	switch {
	case e.Err != nil && e.On:
		return Line{Mark: Broken, Text: fmt.Sprintf("%s cannot be used: %v", at, reason(e.Err)), Means: never, Do: anew}
	case e.Err != nil:
		return Line{Mark: Warn, Text: fmt.Sprintf("%s cannot be used: %v", at, reason(e.Err)), Do: anew}
	case !e.On && e.Ours:
		return Line{Mark: Warn, Text: at + " is there, but switched off", Do: "Switch it on: " + f.command + " install"}
	case !e.On:
		return Line{Mark: Warn, Text: at + " is there, but switched off", Means: "Lamplighter did not write it.", Do: "To have one that is on (a copy of this one is kept): " + f.command + " install --replace"}
	case e.Program == "":
		return Line{Mark: Warn, Text: "what " + at + " starts cannot be told", Do: anew}
	case e.missing != nil && e.moved != "":
		return Line{
			Mark: Broken, Text: fmt.Sprintf("%s starts %s, which is not there; it is %s now", at, e.Program, e.moved), Means: "The home directory was moved. " + never,
			Do: "Have it written anew: " + monitor.Quoted([]string{e.moved, "install"}),
		}
	case errors.Is(e.missing, fs.ErrNotExist):
		return Line{Mark: Broken, Text: fmt.Sprintf("%s starts %s, which is not there", at, e.Program), Means: never, Do: anew}
	case e.missing != nil:
		return Line{
			Mark: Broken, Text: fmt.Sprintf("%s starts %s, which cannot be run: %v", at, e.Program, reason(e.missing)), Means: never,
			Do: "Make it executable: " + monitor.Quoted([]string{"chmod", "u+x", e.Program}),
		}
	case e.foreign:
		return Line{
			Mark: Warn, Text: fmt.Sprintf("%s starts %s, in the home of somebody else", at, e.Program),
			Means: "The settings came from another home. It starts what that one has, as long as it may.", Do: anew,
		}
	case e.another(f.runs):
		return e.judgeAnother(at, f)
	case e.hides != "":
		return Line{
			Mark: Warn, Text: fmt.Sprintf("%s starts it, and hides that of the package, %s", at, e.hides),
			Means: "An upgrade of the package does not change how it is started.", Do: leave,
		}
	case e.stale:
		return Line{
			Mark: Warn, Text: at + " starts it, but is not what this version writes", Means: "Another version wrote it, or it was changed since.", Do: anew,
		}
	case !e.Ours && !e.Package:
		return Line{
			Mark: OK, Text: at + " starts it", Means: "Lamplighter did not write it: install refuses to change it, and uninstall leaves it.",
			Do: "To have its own instead (a copy of this one is kept): " + f.command + " install --replace",
		}
	}
	return Line{Mark: OK, Text: at + " starts it"}
}

// another reports whether an entry starts another program than that copy.
func (e *loginEntry) another(than *copyOf) bool {
	return e.program != nil && than != nil && e.program.key != than.key && !(e.program.twin && than.self || e.program.self && than.twin)
}

func (e *loginEntry) judgeAnother(at string, f loginFacts) Line {
	l := Line{Mark: Warn, Text: fmt.Sprintf("%s starts %s, and this is %s", at, e.program, f.runs), Means: "After the next login another copy runs than the one that you use now."}
	if f.pid != 0 {
		l.Text = fmt.Sprintf("%s starts %s, and what runs now (pid %d) is %s", at, e.program, f.pid, f.runs)
		l.Means = "After the next login another copy runs."
	}
	l.Do = fmt.Sprintf("To have the one that %s: %s", map[bool]string{true: "runs", false: "this is"}[f.pid != 0], monitor.Quoted([]string{f.runs.path, "install"}))
	if !e.Ours && !e.Package {
		l.Do += " --replace"
	}
	return l
}

// judgeSystemdSocket is about a socket whose service is gone: systemd then
// listens for clients and has nothing to give them.
func judgeSystemdSocket(f loginFacts) []Line {
	s := f.login.Socket
	if s == nil || s.Package || slices.ContainsFunc(f.entries, func(e loginEntry) bool { return e.How == howUnit }) {
		return nil
	}
	l := Line{Mark: Warn, Text: fmt.Sprintf("the %s %s is there, but not its service", s.How, s.Path), Means: "It is switched off and does nothing.", Do: "Take it away: " + monitor.Quoted([]string{"rm", s.Path})}
	if s.On {
		l.Mark, l.Means = Broken, "A client that connects is not answered: systemd takes the place of Lamplighter and cannot start it."
		l.Do = "Take it away: systemctl --user disable --now lamplighter.socket"
	}
	if s.Ours {
		l.Do = "Have both: " + f.command + " install. To have neither: " + f.command + " uninstall"
	}
	return []Line{l}
}

// movedTo is where a program that is looked for below another home lies below
// this one, by the longest end of its path that leads to one.
func movedTo(program, home string, there func(path string) bool) string {
	if home == "" || !filepath.IsAbs(program) || below(program, home) {
		return ""
	}
	rest := filepath.Clean(program)[len(filepath.VolumeName(program)):]
	for {
		var found bool
		_, rest, found = strings.Cut(rest[1:], string(filepath.Separator))
		if !found {
			return ""
		}
		if path := filepath.Join(home, rest); there(path) {
			return path
		}
		rest = string(filepath.Separator) + rest
	}
}

// ofAnotherHome tells a path in a home that lies beside this one.
func ofAnotherHome(path, home string) bool {
	if home == "" || below(path, home) {
		return false
	}
	homes := filepath.Dir(filepath.Clean(home))
	return filepath.Dir(homes) != homes && below(path, homes) && filepath.Dir(path) != homes
}

// below reports whether a path is that directory or in it.
func below(path, dir string) bool {
	path, dir = filepath.Clean(path), filepath.Clean(dir)
	if runtime.GOOS == "windows" {
		path, dir = strings.ToLower(path), strings.ToLower(dir)
	}
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, string(filepath.Separator))+string(filepath.Separator))
}

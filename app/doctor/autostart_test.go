package doctor

import (
	"io/fs"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"lamplighter/installer"
)

// local makes a path of this system of one that begins with a slash.
func local(path string) string {
	if runtime.GOOS == "windows" {
		return "C:" + filepath.FromSlash(path)
	}
	return path
}

func TestJudgeAutostart(t *testing.T) {
	here := &copyOf{path: "/b/lamplighter", key: "/b", version: "2.0"}
	other := &copyOf{path: "/o/lamplighter", key: "/o", version: "1.0"}
	this := &copyOf{path: "/b/lamplighter", key: "/b", self: true}
	twin := &copyOf{path: "/o/lamplighter", key: "/o", twin: true}
	unit := loginEntry{
		LoginEntry: installer.LoginEntry{How: "systemd user unit", Path: "/u", On: true, Ours: true, Program: "/b/lamplighter"},
		program:    here,
	}
	ours := func(change func(*loginEntry)) loginFacts {
		e := unit
		change(&e)
		return loginFacts{login: installer.Login{On: e.On, Can: true}, entries: []loginEntry{e}, command: "lamplighter", runs: here}
	}
	facts := func(f loginFacts, change func(*loginFacts)) loginFacts { change(&f); return f }
	socket := func(on, ours bool) *installer.LoginEntry {
		return &installer.LoginEntry{How: "systemd user socket", Path: "/s", On: on, Ours: ours}
	}
	alone := func(on, ours bool) loginFacts {
		return loginFacts{login: installer.Login{Can: true, Socket: socket(on, ours)}, command: "lamplighter"}
	}
	well := func(*loginEntry) {}
	foreign := func(e *loginEntry) { e.Ours = false }
	for name, test := range map[string]struct {
		facts loginFacts
		mark  Mark
		want  string
	}{
		"none":       {loginFacts{command: "/b/lamplighter", login: installer.Login{Can: true}}, Warn, "does not start at login | That is no fault: it runs when you start it. | To have it: /b/lamplighter install\n"},
		"it cannot":  {loginFacts{command: "lamplighter", login: installer.Login{Why: "There is no home directory."}}, Warn, "start at login cannot be switched by Lamplighter | There is no home directory. | \nwarn: lamplighter does not start at login | That is no fault: it runs when you start it. | \n"},
		"well":       {ours(well), OK, "ok: the systemd user unit /u starts it |  | \n"},
		"nothing on": {facts(ours(well), func(f *loginFacts) { f.runs = nil }), OK, "starts it"},
		"off": {ours(func(e *loginEntry) { e.On = false }), Warn,
			"the systemd user unit /u is there, but switched off |  | Switch it on: lamplighter install\nwarn: lamplighter does not start at login | That is no fault: it runs when you start it. | \n"},
		"foreign, off":      {ours(func(e *loginEntry) { e.On, e.Ours = false, false }), Warn, "Lamplighter did not write it. | To have one that is on (a copy of this one is kept): lamplighter install --replace"},
		"of a package, off": {ours(func(e *loginEntry) { e.On, e.Ours, e.Package = false, false, true }), Warn, "warn: lamplighter does not start at login | That is no fault: it runs when you start it. | To have it: lamplighter install\n"},
		"foreign":           {ours(foreign), OK, "ok: the systemd user unit /u starts it | Lamplighter did not write it: install refuses to change it, and uninstall leaves it. | To have its own instead (a copy of this one is kept): lamplighter install --replace"},
		"of a package":      {ours(func(e *loginEntry) { e.Ours, e.Package = false, true }), OK, "ok: the systemd user unit /u starts it |  | \n"},
		"gone": {ours(func(e *loginEntry) { e.missing = fs.ErrNotExist }), Broken,
			"starts /b/lamplighter, which is not there | Lamplighter does not start at login. | Have it written anew: lamplighter install"},
		"gone, foreign": {ours(func(e *loginEntry) { e.missing, e.Ours = fs.ErrNotExist, false }), Broken, "Correct it, or have it replaced (a copy is kept): lamplighter install --replace"},
		"gone, of a package": {ours(func(e *loginEntry) { e.missing, e.Ours, e.Package = fs.ErrNotExist, false, true }), Broken,
			"Install the package again."},
		"moved": {ours(func(e *loginEntry) { e.missing, e.moved = fs.ErrNotExist, "/new home/lamplighter" }), Broken,
			`which is not there; it is /new home/lamplighter now | The home directory was moved. Lamplighter does not start at login. | Have it written anew: "/new home/lamplighter" install`},
		"not to run":        {ours(func(e *loginEntry) { e.missing = fs.ErrPermission }), Broken, "which cannot be run: permission denied | Lamplighter does not start at login. | Make it executable: chmod u+x /b/lamplighter"},
		"unreadable":        {ours(func(e *loginEntry) { e.Err = &fs.PathError{Err: syscall.EACCES} }), Broken, "cannot be used: " + syscall.EACCES.Error()},
		"nobody knows what": {ours(func(e *loginEntry) { e.Program = "" }), Warn, "what the systemd user unit /u starts cannot be told"},
		"in another home":   {ours(func(e *loginEntry) { e.foreign = true }), Warn, "in the home of somebody else"},
		"another than this": {ours(func(e *loginEntry) { e.program = other }), Warn, "starts /o/lamplighter (1.0), and this is /b/lamplighter (2.0) | After the next login another copy runs than the one that you use now. | To have the one that this is: /b/lamplighter install\n"},
		"another than runs": {facts(ours(func(e *loginEntry) { e.program = other }), func(f *loginFacts) { f.pid = 7 }), Warn, "what runs now (pid 7) is /b/lamplighter (2.0) | After the next login another copy runs. | To have the one that runs: /b/lamplighter install\n"},
		"another like it":   {facts(ours(func(e *loginEntry) { e.program = twin }), func(f *loginFacts) { f.runs = this }), OK, "starts it"},
		"another, foreign":  {ours(func(e *loginEntry) { e.program, e.Ours = other, false }), Warn, "/b/lamplighter install --replace"},
		"stale":             {ours(func(e *loginEntry) { e.stale = true }), Warn, "is not what this version writes | Another version wrote it, or it was changed since. | Have it written anew: lamplighter install"},
		"hides a package's": {ours(func(e *loginEntry) { e.hides = "/usr/lib/u" }), Warn, "hides that of the package, /usr/lib/u | An upgrade of the package does not change how it is started. | Leave it to the package: rm /u"},
		"hides a package's, whose program is known": {
			facts(ours(func(e *loginEntry) { e.hides = "/usr/lib/u" }), func(f *loginFacts) { f.packaged = "/usr/bin/lamplighter" }), Warn,
			"Leave it to the package: /usr/bin/lamplighter install\n",
		},
		"socket alone":           {alone(true, true), Broken, "the systemd user socket /s is there, but not its service | A client that connects is not answered: systemd takes the place of Lamplighter and cannot start it. | Have both: lamplighter install"},
		"foreign socket alone":   {alone(true, false), Broken, "Take it away: systemctl --user disable --now lamplighter.socket"},
		"socket alone, off":      {alone(false, false), Warn, "It is switched off and does nothing. | Take it away: rm /s"},
		"socket and service":     {facts(ours(well), func(f *loginFacts) { f.login.Socket = socket(true, true) }), OK, "starts it"},
		"not whole":              {facts(ours(well), func(f *loginFacts) { f.lacks = []string{"/x", "/y"} }), Warn, "start at login is not whole: there is no /x, no /y"},
		"on by an administrator": {facts(ours(func(e *loginEntry) { e.Ours, e.Package = false, true }), func(f *loginFacts) { f.login.Can, f.login.Why = false, "He can." }), OK, "ok: start at login cannot be switched by Lamplighter | He can. | \n"},
		"foreign, not to switch": {facts(ours(foreign), func(f *loginFacts) { f.login.Can, f.login.Why = false, "WHY" }), OK, "starts it | Lamplighter did not write it"},
	} {
		lines := judgeAutostart(test.facts)
		if worst(lines) != test.mark || !strings.Contains(said(lines), test.want) {
			t.Errorf("%s: want %s with %q:\n%s", name, test.mark, test.want, said(lines))
		}
	}
}

func TestMovedTo(t *testing.T) {
	for name, test := range map[string]struct {
		program, home string
		there         []string
		want          string
	}{
		"moved":             {"/home/old/.local/bin/lamplighter", "/home/new", []string{"/home/new/.local/bin/lamplighter"}, "/home/new/.local/bin/lamplighter"},
		"the longest":       {"/a/b/c/lamplighter", "/h", []string{"/h/c/lamplighter", "/h/lamplighter", "/h/b/c/lamplighter"}, "/h/b/c/lamplighter"},
		"nowhere":           {"/home/old/.local/bin/lamplighter", "/home/new", nil, ""},
		"of this home":      {"/h/bin/lamplighter", "/h", []string{"/h/h/bin/lamplighter", "/h/bin/lamplighter"}, ""},
		"no home":           {"/a/lamplighter", "", []string{"/lamplighter"}, ""},
		"relative":          {"lamplighter", "/h", []string{"/h/lamplighter"}, ""},
		"a home like it":    {"/home/me2/x/lamplighter", "/home/me", []string{"/home/me/x/lamplighter"}, "/home/me/x/lamplighter"},
		"below the root":    {"/lamplighter", "/h", []string{"/h/lamplighter"}, ""},
		"strange but whole": {"/a//b/../b/lamplighter", "/h", []string{"/h/b/lamplighter"}, "/h/b/lamplighter"},
	} {
		program, home, want := test.program, test.home, test.want
		if filepath.IsAbs(local("/")) && strings.HasPrefix(program, "/") {
			program = local(program)
		}
		if home != "" {
			home = local(home)
		}
		if want != "" {
			want = local(want)
		}
		got := movedTo(program, home, func(path string) bool {
			for _, there := range test.there {
				if path == local(there) {
					return true
				}
			}
			return false
		})
		if got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func TestOfAnotherHome(t *testing.T) {
	for _, test := range []struct {
		path, home string
		want       bool
	}{
		{"/home/old/.local/bin/lamplighter", "/home/new", true},
		{"/home/new/.local/bin/lamplighter", "/home/new", false},
		{"/home/lamplighter", "/home/new", false},
		{"/usr/bin/lamplighter", "/home/new", false},
		{"/usr/bin/lamplighter", "/root", false},
		{"/usr/bin/lamplighter", "", false},
	} {
		home := test.home
		if home != "" {
			home = local(home)
		}
		if got := ofAnotherHome(local(test.path), home); got != test.want {
			t.Errorf("%s, %s: %v", test.path, test.home, got)
		}
	}
}

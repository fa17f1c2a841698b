package doctor

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"

	"lamplighter/installer"
)

// lookAtInstaller asks what is installed and what starts at login, and which of
// those entries this program would write in another way.
func lookAtInstaller(ctx context.Context, in Installer) (found installerFound) {
	found.login = in.Login()
	if found.installed, found.installedErr = in.Installed(); found.installedErr != nil || found.installed.Kind == installer.None || !found.login.On {
		return found // what is not installed would have others start it
	}
	plan, err := in.PlanLogin(ctx, true)
	if err != nil {
		return found // of which the entries tell
	}
	for _, c := range plan.Changes {
		_, err := os.Lstat(c.Path)
		there := !errors.Is(err, fs.ErrNotExist)
		switch {
		case c.Op == installer.OpSetValue:
			found.stale = append(found.stale, c.Path+`\`+c.Name)
		case c.Op == installer.OpWrite && there:
			found.stale = append(found.stale, c.Path)
		case c.Op == installer.OpWrite, c.Op == installer.OpLink && !there:
			found.lacks = append(found.lacks, c.Path)
		}
	}
	return found
}

// installerFound is what the installer tells.
type installerFound struct {
	login        installer.Login
	installed    installer.Installation
	installedErr error    // with what is installed
	stale        []string // files that are there
	lacks        []string // files that are not
}

// gatherAutostart looks at what starts lamplighter at login.
func gatherAutostart(o Options, w world) loginFacts {
	f := loginFacts{login: w.login, command: w.command, lacks: w.lacks}
	for _, c := range w.copies {
		if c.runs || c.self && f.runs == nil {
			f.runs = c
		}
		if c.kind != "" {
			f.packaged = c.path
		}
	}
	if w.background.runs() && f.runs != nil && f.runs.runs {
		f.pid = w.background.health.PID
	}
	dirs := pathDirs(variable(o.Environ, "PATH"))
	for _, e := range w.login.Entries {
		found := loginEntry{LoginEntry: e, foreign: ofAnotherHome(e.Program, o.Home)}
		switch path := started(e.Program, dirs); {
		case e.Program == "":
		case path == "":
			found.missing = fs.ErrNotExist
		default:
			if found.missing = runnable(path); found.missing == nil {
				found.program = w.copies.find(path)
			}
		}
		if found.missing != nil {
			found.moved = movedTo(e.Program, o.Home, func(path string) bool { return runnable(path) == nil })
		}
		found.stale = slices.Contains(w.stale, e.Path)
		if i := slices.IndexFunc(e.Instead, fromPackage); i >= 0 && e.On && !e.Package {
			found.hides = e.Instead[i]
		}
		f.entries = append(f.entries, found)
	}
	return f
}

// fromPackage tells the path of a file that a package of the system has put there.
func fromPackage(path string) bool {
	return strings.HasPrefix(path, "/usr/") && !strings.HasPrefix(path, "/usr/local/")
}

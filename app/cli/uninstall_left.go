package cli

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"lamplighter/app/daemon"
	"lamplighter/installer"
)

// isNotHere says that there was nothing to take away. That is a failure where
// programs of an installation lie about.
func (r *uninstallRun) isNotHere() error {
	if len(r.left) > 0 {
		return errors.New("nothing was taken away: " + r.leftWords())
	}
	text := "Lamplighter is not installed here, and nothing of it is left.\n"
	if _, err := os.Lstat(r.Places().StateDir); !errors.Is(err, fs.ErrNotExist) {
		text = "Lamplighter is not installed here.\n"
	}
	return r.print(text + notesText(r.plan.Notes))
}

// programsLeft are the programs where install puts them, when there is no receipt by
// which they could go.
func (r *uninstallRun) programsLeft() []string {
	if r.belongs.Receipt != nil || r.belongs.Kind == installer.Package || r.options.keepPrograms {
		return nil
	}
	dir, end := daemon.InDir(r.Base.Home, ".local", "bin"), ""
	if runtime.GOOS == "windows" {
		dir, end = daemon.InDir(r.Installation(runtime.GOOS).LocalApps, "Lamplighter"), ".exe"
	}
	if dir == "" {
		return nil
	}
	var left []string
	for _, name := range []string{"lamplighter", daemon.ConnectName, "lamplighter-tray"} {
		path := filepath.Join(dir, name+end)
		if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() {
			left = append(left, path)
		}
	}
	return left
}

func (r *uninstallRun) leftWords() string {
	return strings.Join(homelyPaths(r.program, r.left), ", ") + " stay: no receipt of an installation that could be used lies in " + r.homely(r.Places().StateDir) +
		". Did you install with another LAMPLIGHTER_STATE_DIR? Else remove them by hand."
}

// linkedSettings notes that what goes lies behind a link, which stays.
func (r *uninstallRun) linkedSettings() []string {
	dir := r.Installation(runtime.GOOS).ConfigDir
	to, err := os.Readlink(dir)
	if err != nil || !r.options.purge {
		return nil
	}
	return []string{r.homely(dir) + " is a link to " + r.homely(to) + ": the settings there go, and the link stays."}
}

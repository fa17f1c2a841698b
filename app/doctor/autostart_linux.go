package doctor

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"lamplighter/monitor/plainfile"
)

// The names under which lamplighter is started at login.
const (
	unitName    = "lamplighter.service"
	desktopName = "lamplighter.desktop"
)

// toAutostart says how to have lamplighter started at login.
const toAutostart = "To have it, put an autostart entry " + desktopName + " that runs lamplighter run into ~/.config/autostart."

// gatherAutostart looks for a systemd user unit and for a desktop entry.
//
// Source: systemd.unit(5), "User Unit Search Path"; the Desktop Application
// Autostart Specification of freedesktop.org.
func gatherAutostart(o Options, w world) []autostart {
	getenv := func(name string) string { return variable(o.Environ, name) }
	configHome := getenv("XDG_CONFIG_HOME")
	if !filepath.IsAbs(configHome) {
		configHome = ""
		if o.Home != "" {
			configHome = filepath.Join(o.Home, ".config")
		}
	}
	var list []autostart
	units := []string{"/etc/systemd/user", "/usr/local/lib/systemd/user", "/usr/lib/systemd/user"}
	entries := []string{"/etc/xdg/autostart"}
	if configHome != "" {
		units = slices.Insert(units, 0, filepath.Join(configHome, "systemd", "user"))
		entries = slices.Insert(entries, 0, filepath.Join(configHome, "autostart"))
	}
	folders := pathFolders(getenv("PATH"))
	// The first one counts; it replaces those after it.
	for _, dir := range units {
		if a, found := unitAt(filepath.Join(dir, unitName), units); found {
			list = append(list, a.checked(folders))
			break
		}
	}
	for _, dir := range entries {
		if a, found := entryOf(filepath.Join(dir, desktopName)); found {
			list = append(list, a.checked(folders))
			break
		}
	}
	return list
}

// checked looks whether what is started can be.
func (a autostart) checked(folders []string) autostart {
	switch {
	case a.program == "":
	case filepath.IsAbs(a.program):
		a.missing = runnable(a.program)
	case lookIn(folders, a.program) == "":
		a.missing = fs.ErrNotExist
	}
	return a
}

// unitAt reads a unit. It is switched on when some target wants it.
func unitAt(path string, dirs []string) (autostart, bool) {
	// Works for units without [Install] too.
	a := autostart{kind: "the systemd user unit", path: path, enable: "Switch it on: systemctl --user add-wants graphical-session.target " + unitName}
	keys, err := readKeys(path)
	if errors.Is(err, fs.ErrNotExist) {
		return a, false
	}
	a.err, a.program = err, firstWord(strings.TrimLeft(keys["ExecStart"], "-@:+!"))
	for _, dir := range dirs {
		for _, kind := range []string{"wants", "requires"} {
			links, _ := filepath.Glob(filepath.Join(globEscape(dir), "*.target."+kind, unitName))
			a.on = a.on || len(links) > 0
		}
	}
	return a, true
}

// entryOf reads a desktop entry.
func entryOf(path string) (autostart, bool) {
	a := autostart{kind: "the autostart entry", path: path, enable: "Take Hidden=true and X-GNOME-Autostart-enabled=false out of it."}
	keys, err := readKeys(path)
	if errors.Is(err, fs.ErrNotExist) {
		return a, false
	}
	a.err, a.program = err, firstWord(keys["Exec"])
	off := func(name, value string) bool { return strings.EqualFold(keys[name], value) }
	a.on = !off("Hidden", "true") && !off("X-GNOME-Autostart-enabled", "false")
	return a, true
}

// globEscape makes a path a pattern for itself.
func globEscape(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// readKeys reads the lines KEY=VALUE of a unit or a desktop entry, the first of
// each key.
func readKeys(path string) (map[string]string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is not a file")
	}
	file, err := plainfile.OpenShared(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	const most = 64 << 10
	return parseKeys(io.LimitReader(file, most)), nil
}

func parseKeys(r io.Reader) map[string]string {
	keys := map[string]string{}
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		key, value, found := strings.Cut(strings.TrimSpace(lines.Text()), "=")
		if key = strings.TrimSpace(key); found && key != "" && key[0] != '#' && key[0] != ';' && keys[key] == "" {
			keys[key] = strings.TrimSpace(value)
		}
	}
	return keys // a line that is too long ends it
}

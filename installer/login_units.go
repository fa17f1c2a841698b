package installer

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// unit is one unit of the user's manager, as its files have it.
type unit struct {
	path    string // "" for none
	masked  bool   // it stands for nothing
	ours    bool
	wanted  bool // something enables it
	program string
	err     error    // it cannot be read, or systemd would refuse it
	instead []string // others of the name, in whose place it is
}

// starts reports whether it starts something at login.
func (u unit) starts() bool { return u.path != "" && u.wanted && !u.masked }

// unit reads the unit of a name: the first one in the directories counts.
func (d desktop) unit(name string) unit { return d.unitBut(name, false) }

// unitBut is unit, as if what is ours were gone.
func (d desktop) unitBut(name string, oursGone bool) unit {
	var u unit
	var settings []setting
	links := d.units
	for _, dir := range d.units {
		path := filepath.Join(dir, name)
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if u.path != "" {
			u.instead = append(u.instead, path)
			continue
		}
		content, err := readSmall(path)
		// A link, too, is not what we write, whatever it leads to.
		_, isLink := os.Readlink(path)
		own := dir == d.ownUnits && err == nil && isLink != nil && isOurs(content)
		if own && oursGone {
			continue
		}
		u = unit{path: path, ours: own, err: err}
		switch {
		case isMask(path) || err == nil && len(content) == 0:
			u.masked, u.err = true, nil
		case err == nil:
			settings = parseUnit(string(content))
		}
	}
	if oursGone && filepath.Dir(u.path) != d.ownUnits { // what enables it goes with ours
		links = slices.DeleteFunc(slices.Clone(links), func(dir string) bool { return dir == d.ownUnits })
	}
	u.wanted = len(wanting(links, name)) > 0
	if u.path == "" || u.masked || u.err != nil || filepath.Ext(name) != ".service" {
		return u
	}
	for _, path := range dropIns(d.units, name) {
		content, err := readSmall(path)
		if err != nil { // as systemd does, which reads the others
			continue
		}
		settings = append(settings, parseUnit(string(content))...)
	}
	said := serviceProgram(settings, d.home)
	u.program, u.err = said.program, said.err
	return u
}

// wanting are the links that have a target start the unit of a name. Where a
// link leads is of no matter, unless it is to nowhere: that takes the place of
// those in later directories. What is no link does so, too, and enables nothing.
//
// Source: systemd.unit(5), ".wants/ and .requires/", and what systemd 252 does.
func wanting(dirs []string, name string) []string {
	var list []string
	seen := map[string]bool{}
	for _, dir := range dirs {
		for _, kind := range []string{"wants", "requires"} {
			links, _ := filepath.Glob(filepath.Join(globEscape(dir), "*.target."+kind, name)) // the pattern is well formed
			for _, link := range links {
				target := filepath.Base(filepath.Dir(link))
				if to, err := os.Readlink(link); err == nil && to != os.DevNull && !seen[target] {
					list = append(list, link)
				}
				seen[target] = true
			}
		}
	}
	return list
}

// dropIns are the files that change a unit, in the order in which they do: by
// their names, of which the one in the first directory counts.
func dropIns(dirs []string, name string) []string {
	found := map[string]string{}
	for _, dir := range dirs {
		files, _ := filepath.Glob(filepath.Join(globEscape(dir), name+".d", "*.conf")) // likewise
		for _, file := range files {
			if base := filepath.Base(file); found[base] == "" {
				found[base] = file
			}
		}
	}
	list := make([]string, 0, len(found))
	for _, file := range found {
		list = append(list, file)
	}
	slices.SortFunc(list, func(a, b string) int { return strings.Compare(filepath.Base(a), filepath.Base(b)) })
	return list
}

// globEscape makes a path a pattern for itself.
func globEscape(path string) string {
	if filepath.Separator == '\\' { // which escapes nothing there
		return path
	}
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// Reasons why systemd refuses a service.
var (
	errNoCommand    = errors.New("it has no ExecStart, so that systemd refuses it")
	errManyCommands = errors.New("it has more than one ExecStart, so that systemd refuses it")
)

// started is what a service starts.
type started struct {
	program string
	err     error // systemd would refuse it
}

// serviceProgram finds it in all settings of a service.
//
// Source: systemd.service(5), ExecStart=.
func serviceProgram(settings []setting, home string) started {
	var commands []string
	oneshot := false
	for _, s := range settings {
		switch {
		case s.section != "Service":
		case s.key == "Type":
			oneshot = s.value == "oneshot"
		case s.key == "ExecStart" && s.value == "": // takes back those before it
			commands = nil
		case s.key == "ExecStart":
			commands = append(commands, s.value)
		}
	}
	if len(commands) == 0 {
		return started{err: errNoCommand}
	}
	s := started{program: unitProgram(commands[0], home)}
	if len(commands) > 1 && !oneshot {
		s.err = errManyCommands
	}
	return s
}

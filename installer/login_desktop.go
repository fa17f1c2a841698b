package installer

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// desktop is start at login on Linux and other freedesktops: systemd user units
// where systemd runs the machine, and an autostart entry for sessions that do
// not reach the target of those.
type desktop struct {
	home       string
	units      []string // directories of units, the one that counts most first
	autostart  []string // directories of autostart entries, likewise
	ownUnits   string   // the user's one of those, "" for none
	ownEntries string
	current    []string // names of the desktop
	systemd    bool     // it runs the machine
	manager    bool     // the one of this user runs
	listening  bool     // there is a socket for clients already
	lingers    bool     // the manager of this user runs without a session
}

// desktop finds the places of this user.
//
// Source: systemd.unit(5), "User Unit Search Path"; XDG Base Directory
// Specification; sd_booted(3); loginctl(1), enable-linger.
func (i *Installer) desktop() desktop {
	d := desktop{home: i.o.Home, current: listed(i.o.Getenv("XDG_CURRENT_DESKTOP"))}
	below := func(dirs []string, names ...string) []string {
		var list []string
		for _, dir := range dirs {
			if filepath.IsAbs(dir) {
				list = append(list, filepath.Join(append([]string{dir}, names...)...))
			}
		}
		return list
	}
	config := dirsOf(i.o.Getenv("XDG_CONFIG_DIRS"), "/etc/xdg")
	data := dirsOf(i.o.Getenv("XDG_DATA_DIRS"), "/usr/local/share", "/usr/share")
	runtime := i.o.Getenv("XDG_RUNTIME_DIR")
	d.units = below([]string{i.o.ConfigHome}, "systemd", "user.control")
	if filepath.IsAbs(i.o.ConfigHome) {
		d.ownUnits = filepath.Join(i.o.ConfigHome, "systemd", "user")
		d.ownEntries = filepath.Join(i.o.ConfigHome, "autostart")
		d.units = append(d.units, d.ownUnits)
		d.autostart = []string{d.ownEntries}
	}
	d.units = append(d.units, below(config, "systemd", "user")...)
	d.units = append(d.units, "/etc/systemd/user")
	d.units = append(d.units, below([]string{runtime}, "systemd", "user")...)
	d.units = append(d.units, "/run/systemd/user")
	d.units = append(d.units, below([]string{i.o.DataHome}, "systemd", "user")...)
	d.units = append(d.units, below(data, "systemd", "user")...)
	d.units = append(d.units, "/usr/local/lib/systemd/user", "/usr/lib/systemd/user")
	d.autostart = append(d.autostart, below(config, "autostart")...)
	d.units, d.autostart = once(d.units), once(d.autostart)
	d.systemd = there("/run/systemd/system")
	d.manager = filepath.IsAbs(runtime) && there(filepath.Join(runtime, "systemd", "private"))
	d.listening = there(i.userSocket())
	if user := i.o.Getenv("USER"); user != "" {
		d.lingers = there(filepath.Join("/var/lib/systemd/linger", filepath.Base(user)))
	}
	return d
}

// once drops from a list what was in it before.
func once(list []string) []string {
	var kept []string
	for _, each := range list {
		if !slices.Contains(kept, each) {
			kept = append(kept, each)
		}
	}
	return kept
}

// dirsOf are the directories that a variable lists, or those that stand for it.
func dirsOf(list string, instead ...string) []string {
	if list == "" {
		return instead
	}
	return listed(list)
}

// listed are the names in a list with colons.
func listed(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ':' })
}

func (d desktop) entries() (list []LoginEntry, socket *LoginEntry) {
	if unit := d.unit(serviceName); unit.path != "" {
		list = append(list, d.entry(unit))
	}
	if unit := d.unit(socketName); unit.path != "" {
		e := d.entry(unit)
		socket = &e
	}
	for _, dir := range d.autostart {
		path := filepath.Join(dir, entryName)
		if _, err := os.Lstat(path); err != nil && errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if n := len(list); n > 0 && list[n-1].How == howEntry {
			list[n-1].Instead = append(list[n-1].Instead, path)
			continue
		}
		e := LoginEntry{How: howEntry, Path: path}
		content, err := readSmall(path)
		if e.Err = err; err == nil {
			keys := parseEntry(string(content))
			e.On, e.Program = entryOn(keys, d.current), entryProgram(keys["Exec"])
			e.Ours = dir == d.ownEntries && isOurs(content)
			e.Package = packaged(path)
		}
		list = append(list, e)
	}
	return list, socket
}

func (d desktop) entry(u unit) LoginEntry {
	e := LoginEntry{How: howUnit, Path: u.path, On: u.starts() && u.err == nil, Ours: u.ours, Package: packaged(u.path), Program: u.program, Err: u.err, Instead: u.instead}
	if filepath.Ext(u.path) == ".socket" {
		e.How = howSocket
	}
	return e
}

// packaged tells a file that a package of the system has put where it is.
func packaged(path string) bool {
	return strings.HasPrefix(path, "/usr/") && !strings.HasPrefix(path, "/usr/local/")
}

func (d desktop) on(programs Programs, o InstallOptions) (Plan, error) {
	var p Plan
	if d.ownUnits == "" {
		return p, fmt.Errorf("cannot start at login: %w that could hold what does it. Set HOME", ErrNoHome)
	}
	if o.Headless && !d.systemd {
		return p, errors.New("cannot start at login without a desktop: systemd does not run on this machine, and nothing else would start it. Leave out --headless, or install with --no-login")
	}
	if d.systemd {
		if err := d.unitsOn(&p, programs.Main, o); err != nil {
			return Plan{}, err
		}
	}
	text, err := autostartEntry(programs.Main, d.systemd)
	if err != nil {
		return Plan{}, err
	}
	entry := filepath.Join(d.ownEntries, entryName)
	if o.Headless {
		p.drop(entry, "it starts without a desktop")
		if !d.lingers {
			p.note("It starts with your first login, and ends with your last session. To have it start with the machine: loginctl enable-linger")
		}
	} else {
		err = p.put(entry, marked(text), o.Replace, "for desktops that systemd does not start")
	}
	if err != nil {
		return Plan{}, err
	}
	if len(p.Changes) == 0 || !d.manager || !d.systemd {
		return p, nil
	}
	p.run("so that systemd knows its units", "systemctl", "--user", "daemon-reload")
	// A unit that starts takes the path of the socket over from whoever listens
	// there; that one is restarted by its service.
	if !d.listening {
		p.run("so that the first client starts it", "systemctl", "--user", "start", socketName)
	}
	return p, nil
}

// run plans a command that may fail.
func (p *Plan) run(why string, command ...string) {
	p.Changes = append(p.Changes, Change{Op: OpRun, Command: command, Optional: true, Why: why})
}

// unitsOn plans the units and what enables them.
func (d desktop) unitsOn(p *Plan, program string, o InstallOptions) error {
	text, err := ServiceUnit(program, o.Headless)
	if err != nil {
		return err
	}
	service, socket := filepath.Join(d.ownUnits, serviceName), filepath.Join(d.ownUnits, socketName)
	if dir := d.packageUnits(program); dir != "" {
		// Ours of an installation by hand would take the place of the package's.
		for _, own := range []string{service, socket} {
			if p.drop(own, "it would take the place of the one in "+dir) {
				return fmt.Errorf("%s takes the place of the one in %s: %w. Move it away", shown(own), dir, ErrForeign)
			}
		}
		service, socket = filepath.Join(dir, serviceName), filepath.Join(dir, socketName)
	} else {
		if err := p.put(service, marked(text), o.Replace, "the service"); err != nil {
			return err
		}
		if err := p.put(socket, marked(SocketUnit()), o.Replace, "its socket, so that the first client starts it"); err != nil {
			return err
		}
	}
	target, other := desktopTarget, headlessTarget
	why := "so that it starts with the desktop"
	if o.Headless {
		target, other, why = other, target, "so that it starts at login, with or without a desktop"
	}
	if err := p.link(filepath.Join(d.ownUnits, target+".wants", serviceName), service, why); err != nil {
		return err
	}
	if err := p.link(filepath.Join(d.ownUnits, "sockets.target.wants", socketName), socket, "so that systemd listens for clients"); err != nil {
		return err
	}
	p.unlink(filepath.Join(d.ownUnits, other+".wants", serviceName), "it starts with another target")
	return nil
}

// packageUnits is the directory of units for all users that start program, which
// need not be written for this one; "" for none, or when others would count.
func (d desktop) packageUnits(program string) string {
	for _, dir := range d.units {
		path := filepath.Join(dir, serviceName)
		if dir == d.ownUnits || !there(path) {
			continue
		}
		content, err := readSmall(path)
		if err == nil && there(filepath.Join(dir, socketName)) && serviceProgram(parseUnit(string(content)), d.home).program == program {
			return dir
		}
		break
	}
	return ""
}

// link plans a symbolic link that enables a unit. One that is there counts by
// its name, wherever it leads, but is brought up to date.
func (p *Plan) link(path, to, why string) error {
	lies, err := os.Readlink(path)
	switch {
	case err == nil && lies == to:
		return nil
	case err != nil && there(path):
		return fmt.Errorf("%s is no link, as those are that enable a unit: %w. Move it away", shown(path), ErrForeign)
	}
	p.Changes = append(p.Changes, Change{Op: OpLink, Path: path, From: to, Why: why})
	return nil
}

// unlink plans to remove a symbolic link.
func (p *Plan) unlink(path, why string) {
	if _, err := os.Readlink(path); err == nil {
		p.Changes = append(p.Changes, Change{Op: OpRemove, Path: path, Why: why})
	}
}

func (d desktop) off() (Plan, error) {
	var p Plan
	if d.ownUnits == "" {
		return p, nil
	}
	foreign := false // the user's own service
	for _, name := range []string{serviceName, socketName} {
		stays := p.drop(filepath.Join(d.ownUnits, name), "start at login")
		foreign = foreign || stays && name == serviceName
	}
	if !foreign {
		for _, name := range []string{serviceName, socketName} {
			for _, link := range wanting([]string{d.ownUnits}, name) {
				p.unlink(link, "start at login")
			}
		}
	}
	p.drop(filepath.Join(d.ownEntries, entryName), "start at login")
	for _, e := range d.others() {
		p.note(othersStay(e))
	}
	if len(p.Changes) > 0 && d.manager && d.systemd {
		p.run("so that it does not listen for clients", "systemctl", "--user", "stop", socketName)
		p.run("so that systemd forgets its units", "systemctl", "--user", "daemon-reload")
	}
	return p, nil
}

// othersStay says of an entry that it starts it still.
func othersStay(e LoginEntry) string {
	program := "it"
	if e.Program != "" {
		program = shown(e.Program)
	}
	return fmt.Sprintf("The %s %s was not written by lamplighter install. It stays, and starts %s.", e.How, shown(e.Path), program)
}

// others are the entries that start it also when all that is ours is gone.
func (d desktop) others() []LoginEntry {
	var list []LoginEntry
	if u := d.unitBut(serviceName, true); u.path != "" && u.starts() {
		list = append(list, d.entry(u))
	}
	for _, dir := range d.autostart {
		path := filepath.Join(dir, entryName)
		content, err := readSmall(path)
		if errors.Is(err, fs.ErrNotExist) || err == nil && dir == d.ownEntries && isOurs(content) {
			continue
		}
		if keys := parseEntry(string(content)); err == nil && entryOn(keys, d.current) {
			list = append(list, LoginEntry{How: howEntry, Path: path, On: true, Program: entryProgram(keys["Exec"])})
		}
		break
	}
	return list
}

func (d desktop) silence(p *Plan) error {
	for _, e := range d.others() {
		own := filepath.Join(d.ownEntries, entryName)
		switch {
		case e.How == howEntry && d.ownEntries != "" && e.Path != own:
			lies, err := lying(own, marked(hiddenEntry()))
			if err != nil {
				return err
			}
			p.leave(own)
			if lies != liesSame {
				p.Changes = append(p.Changes, Change{
					Op: OpWrite, Path: own, Content: marked(hiddenEntry()), Mode: 0o644,
					Why: "so that " + shown(e.Path) + " does not start it for you",
				})
			}
		case e.How == howEntry:
			return fmt.Errorf("%s starts it, and %w. Take it out of there, or out of the autostart settings of your desktop", shown(e.Path), ErrForeign)
		case filepath.Dir(e.Path) == d.ownUnits:
			return fmt.Errorf("%s starts it, and %w. Switch it off there: systemctl --user disable %s", shown(e.Path), ErrForeign, serviceName)
		default:
			return fmt.Errorf("%s starts it for all users. An administrator can switch that off: systemctl --global disable %s", shown(e.Path), serviceName)
		}
	}
	p.Notes = nil
	return nil
}

// leave takes the changes of a path out of a plan.
func (p *Plan) leave(path string) {
	var kept []Change
	for _, c := range p.Changes {
		if c.Path != path || c.Op == OpRun {
			kept = append(kept, c)
		}
	}
	p.Changes = kept
}

// odd: desktops that systemd starts leave the entry alone, also where the unit is
// switched off. Where systemd does not run the machine the unit of a package is off as
// it should be: nobody reads it.
func (d desktop) odd(l Login) string {
	unit, entry := l.by(howUnit), l.by(howEntry)
	if unit == nil || entry == nil || unit.On || !entry.On || !entry.Ours || !d.systemd && !unit.Ours {
		return ""
	}
	return fmt.Sprintf("The unit %s is switched off: desktops that systemd starts do not start it.", shown(unit.Path))
}

// resident: systemd's commands end nothing, and on leaves a socket that is there
// alone.
func (d desktop) resident(*Plan) {}

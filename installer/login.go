package installer

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// Login is how start at login stands.
type Login struct {
	On bool
	// Can reports whether it can be switched here; Why says in a sentence why not,
	// or what is odd about it.
	Can bool
	Why string
	// How names what does it in words: "systemd user unit", "autostart entry",
	// "launch agent", "entry in the registry". Empty while it is off.
	How     string
	Entries []LoginEntry
	// Socket starts Lamplighter for the first client that connects, not at login:
	// the systemd user socket; nil where there is none.
	Socket *LoginEntry
}

// LoginEntry is one thing that starts, or would start, Lamplighter at login.
type LoginEntry struct {
	How     string // as Login.How
	Path    string // the file, or the registry key and value
	On      bool
	Ours    bool   // written by lamplighter install or the switch, not by the user or a package
	Package bool   // it came with a package of the system
	Program string // what it starts, "" when it could not be told
	Err     error  // it cannot be read
	// Instead are other files of that name, which do not count because of this one.
	Instead []string
}

// Words of Login.How.
const (
	howUnit     = "systemd user unit"
	howSocket   = "systemd user socket"
	howEntry    = "autostart entry"
	howAgent    = "launch agent"
	howRegistry = "entry in the registry"
)

// startAtLogin is start at login on one system, as it was found.
type startAtLogin interface {
	// entries are all things that start, or would start, Lamplighter; socket is
	// nil for none.
	entries() (list []LoginEntry, socket *LoginEntry)
	// on plans to have these programs started, and off to take away what is
	// ours. The error of on says why it cannot be.
	on(p Programs, o InstallOptions) (Plan, error)
	off() (Plan, error)
	// silence completes off: it plans what keeps others' entries from starting
	// it for this user, or says in an error why that is not ours to do.
	silence(p *Plan) error
	// odd says in a sentence what is odd about how it stands, "" for nothing.
	odd(l Login) string
	// resident leaves out of a plan what would end or disturb the running one.
	resident(p *Plan)
}

// startAtLogin looks how it is now.
func (i *Installer) startAtLogin() startAtLogin {
	switch i.o.OS {
	case "windows":
		return i.runKeys()
	case "darwin":
		return i.launchd()
	}
	return i.desktop()
}

// Login is how start at login stands. It reads a few files and starts nothing.
func (i *Installer) Login() Login {
	s := i.startAtLogin()
	var l Login
	l.Entries, l.Socket = s.entries()
	for _, e := range l.Entries {
		if e.On && !l.On {
			l.On, l.How = true, e.How
		}
		if e.Err != nil && l.Why == "" {
			l.Why = fmt.Sprintf("The %s %s cannot be used: %v.", e.How, shown(e.Path), e.Err)
		}
	}
	if l.Why == "" {
		l.Why = s.odd(l)
	}
	if _, err := i.planSwitch(s, !l.On); err != nil {
		l.Why = sentence(err.Error())
	} else {
		l.Can = true
	}
	return l
}

// by is the first entry of a kind, nil for none.
func (l Login) by(how string) *LoginEntry {
	if n := slices.IndexFunc(l.Entries, func(e LoginEntry) bool { return e.How == how }); n >= 0 {
		return &l.Entries[n]
	}
	return nil
}

// PlanLogin plans to switch start at login, and nothing else. It may be carried
// out by the program that runs, which goes on.
func (i *Installer) PlanLogin(_ context.Context, on bool) (Plan, error) {
	s := i.startAtLogin()
	p, err := i.planSwitch(s, on)
	if err != nil {
		return Plan{}, err
	}
	s.resident(&p)
	old, base, err := i.loadReceipt()
	p.base = base
	p.remake = func(ctx context.Context) (Plan, error) {
		// What was interrupted may have been taken back, with the program.
		if programs, _ := i.loginPrograms(); on && !isRegular(programs.Main) {
			return Plan{}, i.missing(programs.Main, mainName)
		}
		return i.PlanLogin(ctx, on)
	}
	if err == nil && old != nil { // else there is nothing to bring up to it
		r := *old
		if r.Files = afterwards(old.Files, p.Changes); !r.same(old) {
			p.receipt = &r
		}
	}
	i.keepEdited(&p, i.knownSums(old))
	p.look()
	return p, nil
}

// programsBeside are the programs of an installation, of which main is one.
func programsBeside(main string) Programs {
	p := Programs{Main: main}
	ext := filepath.Ext(main)
	if path := filepath.Join(filepath.Dir(main), trayName+ext); ext != "" && isRegular(path) {
		p.Tray = path
	}
	return p
}

// loginPrograms are those that the switch has started at login, and how.
func (i *Installer) loginPrograms() (Programs, InstallOptions) {
	// A receipt that cannot be used says nothing, and the rest is told.
	here, _ := i.Installed()
	programs, o := here.Programs, InstallOptions{}
	if r := here.Receipt; r != nil {
		o.Headless = r.Headless
		// One that was built or unpacked may be gone at the next login.
		if here.Kind == None && isRegular(r.Program) {
			programs = programsBeside(r.Program)
		}
	}
	return programs, o
}

func (i *Installer) planSwitch(s startAtLogin, on bool) (Plan, error) {
	if on {
		return s.on(i.loginPrograms())
	}
	p, err := s.off()
	if err == nil {
		err = s.silence(&p)
	}
	return p, err
}

// loginOn is the part of an installation that has p started at login.
func (i *Installer) loginOn(p Programs, o InstallOptions) (Plan, error) {
	return i.startAtLogin().on(p, o)
}

// loginOff is the part of taking it away that has nothing of ours started at
// login any more.
func (i *Installer) loginOff() (Plan, error) { return i.startAtLogin().off() }

// userSocket is the path of the socket that clients connect to.
func (i *Installer) userSocket() string {
	switch {
	case i.o.RuntimeDir != "":
		return filepath.Join(i.o.RuntimeDir, "share.sock")
	case i.o.StateDir != "":
		return filepath.Join(i.o.StateDir, "run", "share.sock")
	}
	return ""
}

// there reports whether something is at a path, whatever it is.
func there(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

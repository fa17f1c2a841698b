package installer

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// PlanInstall plans to install the program that runs, or to bring an
// installation up to it. The same plan made again after it was carried out has
// no changes. It writes nothing.
func (i *Installer) PlanInstall(ctx context.Context, o InstallOptions) (Plan, error) {
	if err := i.home(); err != nil {
		return Plan{}, err
	}
	old, base, err := i.loadReceipt()
	p := Plan{base: base, remake: func(ctx context.Context) (Plan, error) { return i.PlanInstall(ctx, o) }}
	if err != nil && base == "" { // it is there and cannot be read
		return Plan{}, err
	}
	if err != nil {
		p.note(sentence(err.Error()))
	}
	i.noteInterrupted(&p)
	if old != nil && old.Headless && !o.Headless {
		o.Headless = true
		p.note("It starts without a desktop, as it was installed. To change that, uninstall it first: the settings stay.")
	}
	w := &wanted{i: i, ctx: ctx, plan: &p, old: old, replace: o.Replace, known: i.knownSums(old)}
	programs, err := w.programs(o)
	if err != nil {
		return Plan{}, err
	}
	if err := w.login(programs, o); err != nil {
		return Plan{}, err
	}
	if err := errors.Join(w.refused...); err != nil {
		return Plan{}, err
	}
	i.keepEdited(&p, w.known)
	w.receipt(programs, o)
	p.look()
	return p, nil
}

func (p *Plan) note(text string) { p.Notes = append(p.Notes, text) }

func (i *Installer) noteInterrupted(p *Plan) {
	if i.interrupted() {
		p.note("An installation was interrupted, or is under way: what it has left is taken back or finished first.")
	}
}

// home refuses to go on without a home directory.
func (i *Installer) home() error {
	advice := "; set HOME to yours"
	if i.o.OS == "windows" {
		advice = "; set USERPROFILE to yours"
	}
	switch {
	case !filepath.IsAbs(i.o.Home) || !filepath.IsAbs(i.o.StateDir):
		return fmt.Errorf("%w to install into%s", ErrNoHome, advice)
	case i.o.Self == "":
		return fmt.Errorf("%w: the system does not say which program runs; call it by its whole path", ErrNoPrograms)
	}
	info, err := os.Stat(i.o.Home)
	if err == nil && !info.IsDir() {
		err = errors.New("it is no directory")
	}
	if err != nil {
		return fmt.Errorf("%w to install into: %w%s", ErrNoHome, failure("there is nothing to be put into", i.o.Home, err), advice)
	}
	return nil
}

// knownSums are the digests of all that was ever put somewhere by what is
// remembered.
func (i *Installer) knownSums(old *Receipt) map[string]bool {
	sums := map[string]bool{}
	if old != nil {
		for _, f := range old.Files {
			sums[f.SHA256] = true
		}
	}
	if j, err := i.journal(); err == nil && j != nil {
		for _, s := range j.Steps {
			sums[s.SHA256] = true
		}
		if j.Receipt != nil {
			for _, f := range j.Receipt.Files {
				sums[f.SHA256] = true
			}
		}
	}
	delete(sums, "")
	return sums
}

// wanted puts a plan together from the files that are to be there.
type wanted struct {
	i       *Installer
	ctx     context.Context // of the plan that is made
	plan    *Plan
	old     *Receipt // nil for none
	replace bool
	known   map[string]bool // digests
	files   []InstalledFile
	archive bool // there is all that belongs to the programs
	refused []error
}

// binDir is where programs of the user are.
func (i *Installer) binDir() string {
	if i.o.OS == "windows" {
		if i.o.LocalApps == "" {
			return ""
		}
		return filepath.Join(i.o.LocalApps, "Lamplighter")
	}
	return filepath.Join(i.o.Home, ".local", "bin")
}

// programs plans to have the programs where they stay, and what belongs to them.
func (w *wanted) programs(o InstallOptions) (Programs, error) {
	here := w.i.programsHere()
	for _, program := range []struct{ path, name string }{{here.Main, mainName}, {here.Connect, connectName}} {
		if !isRegular(program.path) {
			return Programs{}, w.i.missing(program.path, program.name)
		}
	}
	if how := w.i.packaged(); how != "" {
		if w.old != nil && w.old.Program != "" && !sameFile(w.old.Program, here.Main) && isRegular(w.old.Program) {
			w.plan.note(fmt.Sprintf("There is another one, installed by hand: %s. To take that away: %s uninstall", shown(w.old.Program), shown(w.old.Program)))
		}
		return here, nil
	}
	there := here
	if !o.InPlace {
		dir := w.i.binDir()
		if !filepath.IsAbs(dir) {
			return Programs{}, fmt.Errorf("%w for programs; set LOCALAPPDATA", ErrNoHome)
		}
		there = Programs{Main: filepath.Join(dir, w.i.exe(mainName)), Connect: filepath.Join(dir, w.i.exe(connectName))}
		if w.i.o.OS == "windows" {
			there.Tray = filepath.Join(dir, w.i.exe(trayName))
		}
		w.program(here.Main, there.Main, false)
		w.program(here.Connect, there.Connect, false)
		switch {
		case there.Tray == "":
		case here.Tray != "":
			w.program(here.Tray, there.Tray, false)
		default:
			w.program(here.Main, there.Tray, true)
		}
		w.paths(dir, there.Main)
	}
	if err := w.share(here.Main); err != nil {
		return Programs{}, err
	}
	entry := filepath.Join(w.i.o.DataHome, "applications", "lamplighter.desktop")
	if w.i.o.OS != "windows" && w.i.o.OS != "darwin" && w.i.o.DataHome != "" {
		text, err := MenuEntry(there.Main)
		if err != nil {
			return Programs{}, err
		}
		w.file(Change{Op: OpWrite, Path: entry, Content: marked(text), Why: "the entry of the menu"})
		w.icon()
	}
	w.obsolete(o)
	return there, nil
}

// missing says which program is not there.
func (i *Installer) missing(path, name string) error {
	if name == mainName {
		return fmt.Errorf("%w: %s is not there any more, it was removed or replaced while it ran; start it from where it is now", ErrNoPrograms, shown(path))
	}
	return fmt.Errorf("%w: %s is not beside %s; unpack or build both programs into one directory", ErrNoPrograms, i.exe(name), shown(i.self()))
}

func (w *wanted) program(from, to string, gui bool) {
	why := ""
	if gui {
		why = "the one for the tray"
	}
	w.file(Change{Op: OpCopy, From: from, Path: to, Mode: 0o755, GUI: gui, Why: why})
}

// file plans to have what a change puts somewhere, unless it lies there already.
func (w *wanted) file(c Change) {
	want, err := c.sum(w.ctx)
	if err != nil {
		w.refused = append(w.refused, failure("it cannot be read:", c.From, err))
		return
	}
	w.files = append(w.files, InstalledFile{Path: c.Path, SHA256: want})
	if c.Op == OpCopy && !c.GUI && sameFile(c.From, c.Path) && isPlain(c.Path) {
		return // it is in its place
	}
	info, err := os.Lstat(c.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		w.refused = append(w.refused, failure("it cannot be told what lies at", c.Path, err))
		return
	case info.IsDir():
		w.refused = append(w.refused, fmt.Errorf("%s is a directory, and a file is to be there; move it away", shown(c.Path)))
		return
	case !info.Mode().IsRegular():
		c.Backup = true
	default:
		lies, err := digestFile(c.Path)
		if errors.Is(err, fs.ErrNotExist) { // another replaces it right now
			break
		}
		if err != nil {
			w.refused = append(w.refused, failure("it cannot be read:", c.Path, err))
			return
		}
		if lies == want && (w.i.o.OS == "windows" || info.Mode()&0o100 == c.Mode&0o100) {
			return
		}
		c.Backup = lies != want && !w.known[lies] && !isLamplighter(c.Path) && !w.written(c.Path)
	}
	if c.Backup && !w.replace {
		w.refused = append(w.refused, fmt.Errorf("%s is in the way: %w. Move it away, or have it put aside: lamplighter install --replace", shown(c.Path), ErrForeign))
		return
	}
	w.plan.Changes = append(w.plan.Changes, c)
}

// written reports whether a file has the mark of those that are written here.
func (w *wanted) written(path string) bool {
	text, err := readSmall(path)
	return err == nil && isOurs(text)
}

func isPlain(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode().IsRegular()
}

// sum is the digest of what a change puts somewhere.
func (c Change) sum(ctx context.Context) (string, error) {
	source, err := c.open()
	if err != nil {
		return "", err
	}
	defer source.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, &reader{ctx: ctx, Reader: source}); err != nil {
		return "", err
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}

// login plans to start at login.
func (w *wanted) login(programs Programs, o InstallOptions) error {
	if o.NoLogin {
		return nil
	}
	login, err := w.i.loginOn(programs, o)
	if err != nil {
		return err
	}
	w.plan.Changes = append(w.plan.Changes, login.Changes...)
	w.plan.Notes = append(w.plan.Notes, login.Notes...)
	return nil
}

// lies reports whether what was put there lies there still.
func (f InstalledFile) lies() bool {
	return step{SHA256: f.SHA256, Link: f.Link}.lies(f.Path)
}

// startsAtLogin reports whether a file is, by where it is, one that start at login
// consists of.
func (i *Installer) startsAtLogin(path string) bool {
	var dirs []string
	if i.o.ConfigHome != "" {
		dirs = append(dirs, filepath.Join(i.o.ConfigHome, "systemd"), filepath.Join(i.o.ConfigHome, "autostart"))
	}
	if i.o.Home != "" {
		dirs = append(dirs, filepath.Join(i.o.Home, "Library", "LaunchAgents"))
	}
	return slices.ContainsFunc(dirs, func(dir string) bool { return within(path, dir) })
}

// receipt plans what is remembered.
func (w *wanted) receipt(programs Programs, o InstallOptions) {
	r := &Receipt{
		Version: w.i.o.Version, InstalledAt: time.Now().UTC().Truncate(time.Second),
		Program: programs.Main, Home: w.i.o.Home, Headless: o.Headless, Files: w.files,
	}
	if w.old != nil {
		for _, f := range w.old.Files {
			if w.i.startsAtLogin(f.Path) {
				r.Files = append(r.Files, f)
			}
		}
	}
	r.Files = afterwards(r.Files, w.plan.Changes)
	if w.i.packaged() != "" && w.old != nil && w.old.Program != "" && !sameFile(w.old.Program, programs.Main) {
		// What was installed by hand is remembered until it is taken away.
		mine := *w.old
		mine.Files = afterwards(w.old.Files, w.plan.Changes)
		mine.Headless = o.Headless
		r = &mine
	}
	if r.same(w.old) {
		return
	}
	w.plan.receipt = r
	w.plan.Changes = append(w.plan.Changes, Change{Op: OpWrite, Path: w.i.receiptPath(), Mode: 0o600, Why: "the receipt, to take it all away by"})
}

// afterwards are the files of a receipt once changes are made.
func afterwards(files []InstalledFile, changes []Change) []InstalledFile {
	files = slices.Clone(files)
	for _, c := range changes {
		switch c.Op {
		case OpWrite, OpLink, OpRemove:
			at := slices.IndexFunc(files, func(f InstalledFile) bool { return f.Path == c.Path })
			if c.Op == OpRemove {
				if at >= 0 {
					files = slices.Delete(files, at, at+1)
				}
				continue
			}
			f := InstalledFile{Path: c.Path, SHA256: hashOf(c.Content)}
			if c.Op == OpLink {
				f = InstalledFile{Path: c.Path, Link: c.From}
			}
			if at >= 0 {
				files[at] = f
			} else {
				files = append(files, f)
			}
		}
	}
	return files
}

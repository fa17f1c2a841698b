package installer

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// PlanUninstall plans to take away what PlanInstall brought, and what the
// program has written since but for its settings. Workspaces stay, too, unless
// all is purged. What was changed since, or is not ours, stays and is noted. The
// program that runs should have ended before the plan is carried out.
func (i *Installer) PlanUninstall(ctx context.Context, o UninstallOptions) (Plan, error) {
	if !filepath.IsAbs(i.o.StateDir) {
		return Plan{}, fmt.Errorf("%w that anything could be taken away from; set HOME to yours", ErrNoHome)
	}
	old, base, err := i.loadReceipt()
	p := Plan{forget: true, base: base, remake: func(ctx context.Context) (Plan, error) { return i.PlanUninstall(ctx, o) }}
	if errors.Is(err, ErrForeign) {
		return Plan{}, err
	}
	if err != nil {
		p.note(sentence(err.Error()))
	}
	i.noteInterrupted(&p)
	login, err := i.loginOff()
	if err != nil {
		return Plan{}, err
	}
	p.Changes, p.Notes = login.Changes, append(p.Notes, login.Notes...)
	if old != nil {
		i.planFiles(&p, old, o)
	}
	i.planPrograms(&p, old, o)
	i.planTrees(&p, o)
	for _, c := range p.Changes {
		if c.Op == OpRemoveTree {
			if err := i.mountedIn(tree{Path: c.Path, Keep: c.Keep, Known: c.Known}); err != nil {
				return Plan{}, err
			}
		}
	}
	i.keepEdited(&p, i.knownSums(old))
	p.look()
	return p, ctx.Err()
}

// planFiles plans to remove the files of a receipt, the last one first.
func (i *Installer) planFiles(p *Plan, old *Receipt, o UninstallOptions) {
	here := i.programsHere()
	for _, f := range slices.Backward(old.Files) {
		if slices.ContainsFunc(p.Changes, func(c Change) bool { return c.Path == f.Path && c.Op != OpRun }) {
			continue
		}
		if o.KeepPrograms && slices.ContainsFunc([]string{here.Main, here.Connect, here.Tray}, func(path string) bool { return sameFile(path, f.Path) }) {
			continue
		}
		switch _, err := os.Lstat(f.Path); {
		case errors.Is(err, fs.ErrNotExist):
		case err == nil && (f.lies() || hasMark(f.Path)): // an edited one is put aside
			p.Changes = append(p.Changes, Change{Op: OpRemove, Path: f.Path})
		default:
			p.note(fmt.Sprintf("%s was changed since it was installed, and stays.", shown(f.Path)))
		}
	}
}

// hasMark reports whether a file has the mark of those that we write.
func hasMark(path string) bool {
	if !isPlain(path) {
		return false
	}
	text, err := readSmall(path)
	return err == nil && isOurs(text)
}

// planPrograms notes what becomes of the program that runs.
func (i *Installer) planPrograms(p *Plan, old *Receipt, o UninstallOptions) {
	if o.KeepPrograms || i.o.Self == "" {
		return
	}
	self := i.self()
	if how := i.packaged(); how != "" {
		p.note(map[string]string{
			"deb":   "The programs came with a package, and stay for all users. To remove them: sudo apt remove lamplighter",
			"rpm":   "The programs came with a package, and stay for all users. To remove them: sudo dnf remove lamplighter",
			"setup": "The programs came with a setup program, and stay. To remove them: Settings, Apps, Installed apps, Lamplighter.",
			"app":   "The programs are in Lamplighter.app, and stay. To remove them, move it to the Trash.",
		}[how])
		if p.Notes[len(p.Notes)-1] == "" {
			p.Notes[len(p.Notes)-1] = "The programs came with a package, and stay for all users."
		}
		return
	}
	if old.file(self) == nil && isRegular(self) {
		p.note(fmt.Sprintf("%s was not put there by lamplighter install, and stays.", shown(self)))
	}
}

// planTrees plans to remove the directories that the program writes into.
func (i *Installer) planTrees(p *Plan, o UninstallOptions) {
	add := func(path, why string, keep ...string) {
		if !filepath.IsAbs(path) {
			return
		}
		if slices.ContainsFunc(p.Changes, func(c Change) bool { return c.Op == OpRemoveTree && c.Path == path }) {
			return
		}
		tr := tree{Path: path, Known: !i.whole(path)}
		keep = append(keep, i.settingsIn(path, o.Purge)...)
		for _, name := range keep {
			if there(filepath.Join(path, name)) && (name != workspacesName || holdsWork(filepath.Join(path, name))) {
				tr.Keep = append(tr.Keep, name)
			}
		}
		entries, err := os.ReadDir(path)
		if err != nil {
			return
		}
		if len(i.going(tr, entries)) == 0 && len(entries) > 0 && !i.lockAlone(tr, entries) {
			return
		}
		// What comes into being until then is kept as well.
		p.Changes = append(p.Changes, Change{Op: OpRemoveTree, Path: path, Keep: keep, Known: tr.Known, Why: why})
		if others := i.others(tr, entries); len(others) > 0 {
			p.note(fmt.Sprintf("In %s stays what Lamplighter has not written: %s.", shown(path), strings.Join(others, ", ")))
		}
		if tr.Known {
			p.note(fmt.Sprintf("%s is not Lamplighter's alone: only what can be told to be Lamplighter's goes.", shown(path)))
		}
	}
	var keep []string
	if !o.Purge {
		keep = append(keep, workspacesName)
		if path := filepath.Join(i.o.StateDir, workspacesName); holdsWork(path) {
			p.note(fmt.Sprintf("The workspaces stay: %s", shown(path)))
		}
	}
	add(i.o.StateDir, "history and state", keep...)
	add(i.o.RuntimeDir, "sockets")
	if !o.Purge {
		return
	}
	switch path := filepath.Join(i.o.ConfigDir, settingsName); {
	case i.whole(i.o.ConfigDir):
		if !sameFile(i.o.ConfigDir, i.o.StateDir) {
			add(i.o.ConfigDir, "settings")
		}
	case filepath.IsAbs(path) && isPlain(path) && !sameFile(path, i.o.Settings):
		p.Changes = append(p.Changes, Change{Op: OpRemove, Path: path, Why: "settings"})
	}
}

// others are names in a directory of ours that Lamplighter does not give.
func (i *Installer) others(tr tree, entries []fs.DirEntry) []string {
	var names []string
	known := ownedNames()
	for _, e := range entries {
		if name := e.Name(); !tr.Known && !known(name) && !slices.Contains(tr.Keep, name) {
			names = append(names, shown(name))
		}
	}
	return names
}

// lockAlone reports whether nothing but the lock of an installation is left of a
// tree: it goes at the end of the next one.
func (i *Installer) lockAlone(tr tree, entries []fs.DirEntry) bool {
	return sameFile(tr.Path, i.o.StateDir) && len(entries) == 1 && entries[0].Name() == lockName && (!tr.Known || filepath.Base(tr.Path) == ownName)
}

// settingsIn are the names right below a directory that lead to settings which stay,
// by whatever path the directory is one above them.
func (i *Installer) settingsIn(dir string, purge bool) []string {
	files := []string{i.o.Settings}
	if !purge && i.o.ConfigDir != "" {
		files = append(files, filepath.Join(i.o.ConfigDir, settingsName))
	}
	var names []string
	for _, file := range files {
		if !filepath.IsAbs(file) {
			continue
		}
		paths := []string{file}
		if real, err := filepath.EvalSymlinks(file); err == nil && real != file {
			paths = append(paths, real)
		} else if dir, err := filepath.EvalSymlinks(filepath.Dir(file)); err == nil { // it may come into being
			paths = append(paths, filepath.Join(dir, filepath.Base(file)))
		}
		for _, path := range paths {
			for parent := filepath.Dir(path); ; path, parent = parent, filepath.Dir(parent) {
				if name := filepath.Base(path); sameFile(parent, dir) && !slices.Contains(names, name) {
					names = append(names, name)
				}
				if parent == filepath.Dir(parent) {
					break
				}
			}
		}
	}
	return names
}

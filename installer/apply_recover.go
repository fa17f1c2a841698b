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

	"lamplighter/monitor/statefile"
)

// isAside reports whether what lay at path can have been set aside as name.
func isAside(name, path string) bool {
	rest, ok := strings.CutPrefix(name, beside(path, asideSuffix))
	if !ok {
		rest, ok = strings.CutPrefix(name, path+BackupSuffix)
	}
	return ok && strings.Trim(rest, "-0123456789") == ""
}

// recover takes back or finishes what was interrupted, and tells whether there
// was something. The lock is held.
func (i *Installer) recover(ctx context.Context) (bool, error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	j, err := i.journal()
	if errors.Is(err, errJournal) {
		// Nothing can be told from it; all that was put somewhere is looked at
		// again by the plan.
		aside, ferr := firstFree(i.journalPath() + corruptSuffix)
		if ferr != nil {
			return false, ferr
		}
		i.o.Log.Warn("the journal of an installation cannot be read and is put aside", "as", aside, "error", err)
		return true, statefile.Rename(i.journalPath(), aside)
	}
	if err != nil || j == nil {
		return false, err
	}
	if j.Phase == committed {
		i.o.Log.Info("an installation that was interrupted is finished")
		if err := i.complete(j); err != nil {
			return true, err
		}
		return true, i.close(j)
	}
	i.o.Log.Info("an installation that was interrupted is taken back")
	return true, i.rollBack(j)
}

// rollBack takes back what a journal says. It can be interrupted, too, and done
// again. Where something fails the rest is taken back still, and the journal
// stays.
func (i *Installer) rollBack(j *journal) error {
	var failed error
	for _, s := range slices.Backward(j.Steps) {
		if err := i.undo(s, j.Phase); err != nil {
			failed = errors.Join(failed, err)
		}
	}
	if failed != nil {
		return failed
	}
	removeDirs(j.Folders)
	if err := i.at("forget the journal"); err != nil {
		return err
	}
	return i.removeOwn(i.journalPath())
}

// undo takes one step back, however much of it was done.
func (i *Installer) undo(s step, at phase) error {
	if err := i.at("undo " + s.Path); err != nil {
		return err
	}
	if s.Op == OpSetValue || s.Op == OpDeleteValue {
		return i.undoValue(s, at)
	}
	var err error
	if at != staging {
		err = i.restore(s)
	}
	if s.Staged == "" {
		return err
	}
	if info, lerr := os.Lstat(s.Staged); lerr == nil && info.IsDir() {
		return err // somebody else's
	}
	if rerr := os.Remove(s.Staged); rerr != nil && !isGone(rerr) {
		err = errors.Join(err, failure("it cannot be removed:", s.Staged, rerr))
	}
	return err
}

// restore puts back what lay there, but not over what somebody has put there
// since.
func (i *Installer) restore(s step) error {
	if !s.Existed && s.Staged == "" {
		return nil
	}
	beside := s.Aside
	if !s.Existed {
		beside = s.Staged
	}
	_, err := os.Lstat(beside)
	switch {
	case err != nil && !isGone(err):
		return failure("it cannot be told what lies at", beside, err)
	case s.Existed && err != nil:
		return nil // it was not set aside yet, or is back already
	case !s.Existed && err == nil:
		return nil // it was not put there yet
	case s.Existed && sameName(s.Path, s.Aside): // both names are of what lay there
		return failure("it cannot be put back:", s.Path, putBack(s.Aside, s.Path))
	}
	now, err := found(s.Path)
	if err != nil {
		return failure("it cannot be told what lies at", s.Path, err)
	}
	ours := s.Staged != "" && (now == "content "+s.SHA256 || s.Link != "" && now == "link "+s.Link)
	switch {
	case !s.Existed && ours:
		return failure("it cannot be removed:", s.Path, discard(s.Path))
	case !s.Existed:
		return nil // it is gone already, or somebody else's by now
	case ours || now == foundNothing:
		return failure("it cannot be put back:", s.Path, putBack(s.Aside, s.Path))
	case s.Backup:
		return nil
	}
	if was, err := found(s.Aside); err == nil && was == s.Was {
		return failure("it cannot be removed:", s.Aside, discard(s.Aside))
	}
	i.o.Log.Warn("somebody has put another file there while an installation was interrupted; both stay", "path", s.Path, "before", s.Aside)
	return nil
}

// lies reports whether at path lies what the step puts there.
func (s step) lies(path string) bool {
	if s.Link != "" {
		to, err := os.Readlink(path)
		return err == nil && to == s.Link
	}
	digest, err := digestFile(path)
	return err == nil && digest == s.SHA256
}

func (i *Installer) undoValue(s step, at phase) error {
	if at == staging {
		return nil
	}
	now, err := i.values.get(s.Path, s.Name)
	if err != nil {
		return fmt.Errorf("the value %s of %s cannot be read: %w", s.Name, s.Path, err)
	}
	if !now.equal(s.After) || now.equal(s.Before) {
		return nil // it was not changed yet, or somebody else has
	}
	if err := i.values.set(s.Path, s.Name, s.Before); err != nil {
		return fmt.Errorf("the value %s of %s cannot be put back: %w", s.Name, s.Path, err)
	}
	return nil
}

// complete does what is left once all is in its place. It can be interrupted, and
// done again.
func (i *Installer) complete(j *journal) error {
	for _, s := range j.Steps {
		if s.Aside == "" || s.Backup {
			continue
		}
		if err := i.at("discard " + s.Aside); err != nil {
			return err
		}
		if err := discard(s.Aside); err != nil && !errors.Is(err, fs.ErrNotExist) {
			// On Windows, a program that runs: the next installation removes it.
			i.o.Log.Info("what was replaced is still in use and stays for now", "path", s.Aside, "error", err)
		}
	}
	if j.Receipt != nil {
		j.Receipt.Folders = slices.DeleteFunc(deepestFirst(j.Receipt.Folders), removeEmpty)
		data, err := j.Receipt.encode()
		if err != nil {
			return err
		}
		if err := i.at("write the receipt"); err != nil {
			return err
		}
		if err := replaceFile(i.receiptPath(), data); err != nil {
			return err
		}
	}
	if j.Forget {
		if err := i.at("forget the receipt"); err != nil {
			return err
		}
		if err := i.removeOwn(i.receiptPath()); err != nil {
			return err
		}
	}
	return nil
}

// close is the end of what was completed.
func (i *Installer) close(j *journal) error {
	removeDirs(j.Gone)
	if err := i.at("forget the journal"); err != nil {
		return err
	}
	return i.removeOwn(i.journalPath())
}

// removeOwn removes a file of ours that may be gone already.
func (i *Installer) removeOwn(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return failure("it cannot be removed:", path, err)
	}
	_ = statefile.SyncDir(filepath.Dir(path)) // else it is done again
	return nil
}

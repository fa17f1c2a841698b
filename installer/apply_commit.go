package installer

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"lamplighter/monitor/statefile"
)

// commit puts everything in its place, one after the other. The journal says
// what to do about those that are when it ends in the midst of them.
func (t *transaction) commit(ctx context.Context) error {
	for n := range t.j.Steps {
		s := &t.j.Steps[n]
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := t.i.put(s); err != nil {
			return err
		}
		t.tell(t.plan.Changes[s.Change], nil)
	}
	return t.j.sync()
}

// put makes one change.
func (i *Installer) put(s *step) error {
	switch s.Op {
	case OpSetValue, OpDeleteValue:
		if err := i.at("set " + s.Path); err != nil {
			return err
		}
		if err := i.values.set(s.Path, s.Name, s.After); err != nil {
			return fmt.Errorf("the value %s of %s cannot be changed: %w", s.Name, s.Path, err)
		}
		return nil
	}
	if s.Existed {
		if err := i.at("set aside " + s.Path); err != nil {
			return err
		}
		if there(s.Aside) {
			return changed(s.Aside)
		}
		if err := setAside(s.Path, s.Aside, s.Staged != ""); err != nil {
			return failure("it cannot be replaced or removed:", s.Path, err)
		}
		// Only now nobody writes another to it.
		if was, err := found(s.Aside); err == nil && s.Was != "" && was != s.Was {
			return changed(s.Path)
		}
	}
	if s.Staged != "" {
		if err := i.at("put " + s.Path); err != nil {
			return err
		}
		if there(s.Path) && !(s.Existed && sameName(s.Path, s.Aside)) {
			return changed(s.Path)
		}
		if err := statefile.Rename(s.Staged, s.Path); err != nil {
			return failure("it cannot be put there:", s.Path, err)
		}
	}
	return nil
}

// sync has the names of what was put on the disk.
func (j *journal) sync() error {
	var dirs []string
	for _, s := range j.Steps {
		if s.Op != OpSetValue && s.Op != OpDeleteValue {
			dirs = append(dirs, filepath.Dir(s.Path))
		}
	}
	slices.Sort(dirs)
	for _, dir := range slices.Compact(dirs) {
		if err := statefile.SyncDir(dir); err != nil {
			return failure("it cannot be written to the disk:", dir, err)
		}
	}
	return nil
}

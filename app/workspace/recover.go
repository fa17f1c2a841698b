package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/google/uuid"
)

// Recover finishes or undoes what was interrupted, of all workspaces that nobody
// is at work on, and forgets those that were removed long ago: there may be nobody
// who sweeps. The error names what could not be.
func (m *Manager) Recover(ctx context.Context) error {
	records, broken := m.store.all()
	failed := []error{broken}
	clock := m.o.Clock()
	for _, r := range records {
		switch {
		case r.Step != nil:
			if err := m.recoverOne(ctx, r.ID); err != nil {
				failed = append(failed, fmt.Errorf("recovering %s: %w", r.Name, err))
			}
		case r.State == Removed && left(r.Used, removedRest, clock) <= 0:
			failed = append(failed, m.forgetRecord(r.ID))
		default:
			continue
		}
		if ctx.Err() != nil {
			return errors.Join(append(failed, context.Cause(ctx))...)
		}
	}
	failed = append(failed, m.recoverNotes())
	return errors.Join(failed...)
}

// recoverFirst is Recover before something else is done, which goes on whatever comes
// of it.
func (m *Manager) recoverFirst(ctx context.Context) {
	if err := m.Recover(ctx); err != nil && ctx.Err() == nil {
		m.o.Log.Warn("recovering workspaces", "error", err)
	}
}

// recoverNotes removes what processes have left that were killed while they wrote
// a record, or had written down how far something had come.
func (m *Manager) recoverNotes() error {
	left := map[string]bool{}
	for _, dir := range []string{recordsDir, makingDir} {
		entries, err := os.ReadDir(m.store.path(dir))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("looking for what was left: %w", err)
		}
		for _, entry := range entries {
			name, part := strings.CutPrefix(entry.Name(), ".")
			id, _, note := strings.Cut(name, ".json")
			if note && (part || dir == makingDir) && uuid.Validate(id) == nil {
				left[id] = true
			}
		}
	}
	var failed []error
	for id := range left {
		release, err := m.store.try(id)
		if err != nil {
			continue // somebody is at work
		}
		failed = append(failed, m.store.sweep(id))
		if err := os.Remove(m.store.makingPath(id)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			failed = append(failed, err)
		}
		release()
	}
	return errors.Join(failed...)
}

// recoverOne recovers one workspace unless somebody is at work on it.
func (m *Manager) recoverOne(ctx context.Context, id string) error {
	return m.unlessBusy(id, func(r *record) error {
		if r.Step == nil {
			return nil
		}
		return m.recover(ctx, r)
	})
}

// unlessBusy does something with a record, as it is now, under its lock. When
// somebody is at work on it, or it has gone, nothing is done.
func (m *Manager) unlessBusy(id string, do func(*record) error) error {
	release, err := m.store.try(id)
	if errors.Is(err, ErrBusy) {
		return nil
	}
	if err != nil {
		return err
	}
	defer release()
	r, err := m.store.read(id)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return do(r)
}

// recover finishes or undoes the step of a record whose lock the caller holds.
// What r holds is out of date afterwards.
func (m *Manager) recover(ctx context.Context, r *record) error {
	switch r.Step.Verb {
	case stepCreate:
		return m.undoCreate(ctx, r)
	case stepKeep:
		return m.recoverKeep(ctx, r)
	case stepArchive:
		return m.recoverArchive(ctx, r)
	case stepRestore:
		return m.recoverRestore(ctx, r)
	case stepRemove, stepEnd:
		return m.recoverRemove(ctx, r)
	}
	return fmt.Errorf("%s was left by a step that this Lamplighter does not know, %q; update it", r.Name, r.Step.Verb)
}

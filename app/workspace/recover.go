package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
)

// Recover finishes or undoes what was interrupted, of all workspaces that nobody
// is at work on. The error names what could not be.
func (m *Manager) Recover(ctx context.Context) error {
	records, broken := m.store.all()
	failed := []error{broken}
	for _, r := range records {
		if r.Step == nil {
			continue
		}
		if err := m.recoverOne(ctx, r.ID); err != nil {
			failed = append(failed, fmt.Errorf("recovering %s: %w", r.Name, err))
		}
		if ctx.Err() != nil {
			failed = append(failed, context.Cause(ctx))
			break
		}
	}
	return errors.Join(failed...)
}

// recoverOne recovers one workspace unless somebody is at work on it.
func (m *Manager) recoverOne(ctx context.Context, id string) error {
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
	if err != nil || r.Step == nil {
		return err
	}
	return m.recover(ctx, r)
}

// recover finishes or undoes the step of a record whose lock the caller holds.
// What r holds is out of date afterwards.
func (m *Manager) recover(ctx context.Context, r *record) error {
	switch r.Step.Verb {
	case stepCreate:
		return m.undoCreate(ctx, r)
	case stepArchive:
		return m.recoverArchive(ctx, r)
	case stepRestore:
		return m.recoverRestore(ctx, r)
	case stepRemove, stepEnd:
		return m.recoverRemove(ctx, r)
	}
	return fmt.Errorf("%s was left by a step that this Lamplighter does not know, %q; update it", r.Name, r.Step.Verb)
}

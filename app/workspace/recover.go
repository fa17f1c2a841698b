package workspace

import "context"

// Recover finishes or undoes what was interrupted, of all workspaces that nobody
// is at work on. The error names what could not be.
func (m *Manager) Recover(ctx context.Context) error { return errUnbuilt }

// recover finishes or undoes the step of a record whose lock the caller holds.
func (m *Manager) recover(ctx context.Context, r *record) error { return errUnbuilt }

package workspace

import "context"

// List are the workspaces that are whole, in the order in which they were made.
func (m *Manager) List(ctx context.Context) ([]Workspace, error) { return nil, errUnbuilt }

// Find is the one with an id, the beginning of one (8 characters at least), a
// name, or a job. The error Is ErrUnknown, or is an *Ambiguous; of several with one
// job's name only one that is Ready is meant.
func (m *Manager) Find(ctx context.Context, name string) (Workspace, error) {
	return Workspace{}, errUnbuilt
}

// Touch writes down that a workspace is used now.
func (m *Manager) Touch(ctx context.Context, id string) error { return errUnbuilt }

// find is Find for the other files: the record as it is on disk.
func (m *Manager) find(name string) (*record, error) { return nil, errUnbuilt }

// change holds a workspace's lock, reads its record anew, finishes what a crash
// has left, calls do, and writes the record when do returns no error. do may write it in between.
func (m *Manager) change(ctx context.Context, id string, do func(*record) error) error {
	return errUnbuilt
}

// view is what is told of a record: EndsAt, Ends and the number of versions are
// worked out.
func (m *Manager) view(r *record) Workspace { return r.Workspace }

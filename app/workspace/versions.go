package workspace

import "context"

// Keep makes a version of the tree as it is. The error Is ErrState for a temp one.
func (m *Manager) Keep(ctx context.Context, id, message string, progress func(Progress)) (Version, error) {
	return Version{}, errUnbuilt
}

// Versions are those of a workspace, oldest first.
func (m *Manager) Versions(ctx context.Context, id string) ([]Version, error) { return nil, errUnbuilt }

// versions reads them from the disk, which alone knows.
func (m *Manager) versions(id string) ([]Version, error) { return nil, errUnbuilt }

// Changed tells whether the tree differs from its last version, and true when
// there is none.
func (m *Manager) changed(ctx context.Context, r *record) (bool, error) { return true, errUnbuilt }

// Change is one file that differs between two versions.
type Change struct {
	Path string `json:"path"`
	What string `json:"what"`           // added, removed, changed, mode
	Diff string `json:"diff,omitempty"` // unified, of texts up to 1 MiB
}

// Diff is what differs from version from to version to; 0 as to is the tree.
func (m *Manager) Diff(ctx context.Context, id string, from, to int) ([]Change, error) {
	return nil, errUnbuilt
}

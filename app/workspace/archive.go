package workspace

import "context"

// Archive packs all of a workspace and takes its tree away. What would be lost
// with a removal is in the archive, or on a branch.
func (m *Manager) Archive(ctx context.Context, id string, progress func(Progress)) (Workspace, error) {
	return Workspace{}, errUnbuilt
}

// finishArchive and undoArchive are for recover.
func (m *Manager) recoverArchive(ctx context.Context, r *record) error { return errUnbuilt }

package workspace

import "context"

// Restore brings an archived workspace back (version 0), or puts a version into the tree, which
// is kept as a version before when it differs from its last one, so that nothing
// is lost. A tree that has gone is made anew.
func (m *Manager) Restore(ctx context.Context, id string, version int, progress func(Progress)) (Workspace, error) {
	return Workspace{}, errUnbuilt
}

func (m *Manager) recoverRestore(ctx context.Context, r *record) error { return errUnbuilt }

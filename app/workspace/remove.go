package workspace

import "context"

// Remove takes a workspace away with its versions, or says what would be lost:
// the error Is ErrLoss, ErrInUse or ErrBusy then, and Outcome is filled in. Commits
// are never lost: a branch with commits of its own stays, and Outcome.Kept says so.
func (m *Manager) Remove(ctx context.Context, id string, q Removal) (Outcome, error) {
	return Outcome{}, errUnbuilt
}

// Complete says that the job of a workspace has ended: what its clean-up says is
// done. What stands against that is in Outcome.Why and is no error.
func (m *Manager) Complete(ctx context.Context, id, by string) (Outcome, error) {
	return Outcome{}, errUnbuilt
}

// loss is what would be lost with the tree of a record.
func (m *Manager) loss(ctx context.Context, r *record) (Loss, error) { return Loss{}, errUnbuilt }

func (m *Manager) recoverRemove(ctx context.Context, r *record) error { return errUnbuilt }

package workspace

import (
	"context"
	"errors"
)

var errUnbuilt = errors.New("not built yet")

// Create makes a workspace and tells progress on the way; nil is told nothing.
func (m *Manager) Create(ctx context.Context, q Request, progress func(Progress)) (Workspace, error) {
	return Workspace{}, errUnbuilt
}

// undoCreate takes away what was made of a workspace that is not whole.
func (m *Manager) undoCreate(ctx context.Context, r *record) error { return errUnbuilt }

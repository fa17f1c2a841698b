package workspace

import (
	"context"
	"errors"
	"fmt"
)

// endServer ends the servers on a workspace that nobody uses, when nobody works
// inside besides. served tells that one was its own, and the record says then that
// there is none any more. The error Is ErrInUse when somebody works inside.
func (m *Manager) endServer(ctx context.Context, r *record) (served bool, err error) {
	if m.o.Servers == nil {
		return false, m.refuseInUse(ctx, r, r.Path, Started{})
	}
	own := 0
	if r.Server != nil {
		own = r.Server.SessionID
	}
	started, err := m.o.Servers.On(ctx, r.Path, own)
	if err != nil { // their processes tell
		m.o.Log.Info("asking for the servers of a workspace", "workspace", r.Name, "error", err)
		return false, m.refuseInUse(ctx, r, r.Path, Started{})
	}
	if err := m.refuseInUse(ctx, r, r.Path, started); err != nil { // the servers stay as they are
		return false, err
	}
	if r.Server == nil && len(started.Idle) == 0 {
		return false, nil
	}
	if err := m.o.Servers.End(ctx, r.Path, own); err != nil {
		return false, fmt.Errorf("ending its server: %w", err)
	}
	served = r.Server != nil
	r.Server = nil
	if err := m.store.write(r); err != nil {
		return served, err
	}
	return served, m.refuseInUse(ctx, r, r.Path, Started{})
}

// serveAgain starts the server again that was ended, where there is a tree that
// nothing is being done with.
func (m *Manager) serveAgain(ctx context.Context, r *record) {
	if r.State != Ready || r.Step != nil || ctx.Err() != nil {
		return
	}
	err := m.startServer(ctx, r)
	if err != nil {
		r.Server = nil
	}
	if err := errors.Join(err, m.store.write(r)); err != nil {
		m.o.Log.Warn("the server of a workspace was not started again", "workspace", r.Name, "error", err)
	}
}

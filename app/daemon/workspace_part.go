package daemon

import (
	"context"
	"errors"
	"path/filepath"

	"lamplighter/app/api"
	"lamplighter/app/config"
	"lamplighter/app/workspace"
	"lamplighter/monitor/view"
	"lamplighter/tray"
)

// WorkspaceOptions are those of the settings. by says who acts, in words.
func WorkspaceOptions(places config.Places, settings config.Settings, by string) (workspace.Options, error) {
	if places.StateDir == "" {
		return workspace.Options{}, errors.New("workspaces: there is no directory where they could be remembered; set LAMPLIGHTER_STATE_DIR")
	}
	return workspace.Options{Dir: filepath.Join(places.StateDir, "workspaces"), Limits: workspaceLimits(settings), By: by}, nil
}

// workspaceLimits are those of the settings.
func workspaceLimits(settings config.Settings) workspace.Limits {
	holds := settings.Workspaces()
	return workspace.Limits{
		Trees: holds.Dir, Limit: holds.Limit, Retention: holds.Retention, Cleanup: workspace.Cleanup(holds.Cleanup), Budget: holds.Budget,
	}
}

// startWorkspaces makes the part, before settings are watched; nil where nothing can
// be remembered.
func (b *background) startWorkspaces(orders api.Stopper, chronicle workspace.Chronicle) *workspace.Manager {
	o, err := WorkspaceOptions(b.places, b.settings, "lamplighter")
	if err != nil {
		return nil
	}
	o.Log, o.Chronicle = b.log, chronicle
	o.Servers = ourServers{sessions: b.sessions, instances: b.model.Snapshot, stop: orders}
	b.ourSpaces = workspace.New(o)
	return b.ourSpaces
}

// configureWorkspaces takes changed settings over.
func (b *background) configureWorkspaces(s config.Settings) {
	if b.ourSpaces != nil {
		b.ourSpaces.Configure(workspaceLimits(s))
	}
}

// serveWorkspaces does what is due, and has the menu show what there is.
func (b *background) serveWorkspaces(m *workspace.Manager) func(context.Context) error {
	return func(ctx context.Context) error {
		views, cancel := m.Subscribe()
		defer cancel()
		ended := make(chan error, 1)
		go func() { ended <- m.Serve(ctx, b.model.Record) }()
		for {
			select {
			case v := <-views:
				b.spaces.Store(&v.Workspaces)
				b.icon.Redraw()
			case err := <-ended:
				return err
			}
		}
	}
}

// menuWorkspaces are the workspaces as the menu shows them.
func (b *background) menuWorkspaces() []tray.Workspace {
	var shown []tray.Workspace
	for _, w := range view.Value(b.spaces.Load()) {
		shown = append(shown, tray.Workspace{
			ID: w.ID, Job: w.Job, Project: w.Project, SizeBytes: w.SizeBytes, CreatedAt: w.CreatedAt,
			EndsAt: view.Value(w.EndsAt), Ends: w.Ends, Problem: w.Problem,
		})
	}
	return shown
}

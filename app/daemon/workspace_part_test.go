package daemon

import (
	"log/slog"
	"testing"

	"lamplighter/app/config"
	"lamplighter/app/workspace"
)

// Changed settings count for the workspaces of the process that runs.
func TestWorkspaceSettingsAreTakenOver(t *testing.T) {
	d := newDesktop(t)
	b := &background{Program: d.Program, places: d.Places(), log: slog.New(slog.DiscardHandler)}
	b.configureWorkspaces(config.Default()) // before there are any
	b.settings = config.Default()
	m := b.startWorkspaces(nil, workspace.Chronicle{})
	one, two := workspace.Request{Kind: workspace.Temp, Job: "one"}, workspace.Request{Kind: workspace.Temp, Job: "two"}
	if _, err := m.Create(t.Context(), one, nil); err != nil {
		t.Fatal(err)
	}
	changed := config.Default()
	limit := config.WorkspaceLimit(1)
	changed.WorkspaceLimit = &limit
	b.configureWorkspaces(changed)
	if _, err := m.Create(t.Context(), two, nil); err == nil {
		t.Error("the limit does not hold")
	}
	b.configureWorkspaces(config.Default())
	if _, err := m.Create(t.Context(), two, nil); err != nil {
		t.Error(err)
	}
}

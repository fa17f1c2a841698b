package daemon

import (
	"context"
	"log/slog"
	"testing"

	"lamplighter/app/apptest"
	"lamplighter/app/config"
	"lamplighter/app/workspace"
	"lamplighter/monitor/watch"
	"lamplighter/tray"
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

// A workspace comes into the menu while the process runs.
func TestMenuHasTheWorkspaces(t *testing.T) {
	d := newDesktop(t)
	b := &background{
		Program: d.Program, places: d.Places(), settings: config.Default(), log: slog.New(slog.DiscardHandler),
		model: watch.New(watch.Options{}), icon: tray.New(tray.Options{}),
	}
	if list := b.menuWorkspaces(); len(list) != 0 {
		t.Errorf("before anybody looked: %+v", list)
	}
	m := b.startWorkspaces(nil, workspace.Chronicle{})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- b.serveWorkspaces(m)(ctx) }()
	t.Cleanup(func() { cancel(); <-ended })
	made, err := m.Create(t.Context(), workspace.Request{Kind: workspace.Temp, Job: "notes"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	apptest.Eventually(t, "the menu has it", func() bool {
		list := b.menuWorkspaces()
		return len(list) == 1 && list[0].ID == made.ID && list[0].Job == "notes" && list[0].CreatedAt.Equal(made.CreatedAt) && !list[0].EndsAt.IsZero()
	})
}

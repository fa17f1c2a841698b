package tray

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"lamplighter/monitor"
)

func TestWorkspaceList(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 1, 0, time.UTC)
	old := monitor.Workspace{Job: "refactor", Project: "alpha", SizeBytes: 1_200_000_000, CreatedAt: now.Add(-48 * time.Hour), Ends: "stays until it is removed"}
	young := monitor.Workspace{
		Job: "чистка\n логов", Project: "beta", SizeBytes: -1, CreatedAt: now.Add(-time.Hour), EndsAt: now.Add(2 * time.Hour), Ends: "removed", Problem: "in use",
	}
	got := workspaceList([]monitor.Workspace{old, young}, now)
	want := workspaceMenu{Title: "Workspaces: 2, 1.2 GB", Lines: []string{
		"чистка логов · beta · since 11:00 · removed 14:00 · in use",
		"refactor · alpha · 1.2 GB · since 27 Feb 12:00 · stays until it is removed",
	}}
	if !got.equal(want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if none := workspaceList(nil, now); !none.equal(workspaceMenu{}) {
		t.Errorf("of none %q", none)
	}
	small := monitor.Workspace{Job: "notes", SizeBytes: 135_000, CreatedAt: now}
	if got := workspaceList([]monitor.Workspace{small}, now); got.Title != "Workspaces: 1, under 1 MB" || !strings.Contains(got.Lines[0], "under 1 MB") {
		t.Errorf("of a small one %q", got)
	}
	many := workspaceList(make([]monitor.Workspace, 40), now)
	if len(many.Lines) != workspaceLines || many.More != "and 25 more: lamplighter workspace list" || many.Title != "Workspaces: 40" {
		t.Errorf("of many %q", many)
	}
	young.Job = strings.Repeat("long ", 40)
	for _, line := range workspaceList([]monitor.Workspace{young}, now).Lines {
		if w := monitor.Columns(line); w > recentColumns+20 {
			t.Errorf("%d columns: %s", w, line)
		}
	}
	if d := nextWorkspaces([]monitor.Workspace{old}, now); d != 0 {
		t.Errorf("what never reads differently changes in %v", d)
	}
	if d := nextWorkspaces([]monitor.Workspace{old, young}, now); d != dayEnd(now).Sub(now) {
		t.Errorf("the clock of today changes in %v", d)
	}
}

func TestWorkspacesInTheMenu(t *testing.T) {
	o, c, _ := drawer(t)
	snap := snapshot(serena(1, "alpha", 0, 0))
	for i := range 20 {
		snap.Workspaces = append(snap.Workspaces, monitor.Workspace{ID: fmt.Sprint(i), Job: fmt.Sprintf("job %d", i), Project: "alpha"})
	}
	o.see(t, snap)
	if got := c.under(slotWorkspaces); !strings.HasPrefix(got, "job 19 · alpha") || !strings.HasSuffix(got, "and 5 more: lamplighter workspace list") {
		t.Errorf("shows %s", got)
	}
	orders := o.actions.(clicked)
	for _, slot := range []int{slotWorkspaceFirst, slotWorkspaceMore} {
		o.click(slot)
		if got := <-orders; got != "global" {
			t.Errorf("a click ordered %q", got)
		}
	}

	// While the menu is open, no line moves.
	if err := o.menuEvent(menuOpened); err != nil {
		t.Fatal(err)
	}
	shown := c.under(slotWorkspaces)
	next := snapshot(serena(1, "alpha", 0, 0))
	next.Workspaces = snap.Workspaces[:3]
	o.see(t, next)
	if got := c.under(slotWorkspaces); got != shown {
		t.Errorf("an open menu shows %s", got)
	}
	if err := o.menuEvent(menuClicked); err != nil {
		t.Fatal(err)
	}
	if got := c.under(slotWorkspaces); strings.Count(got, "|") != 2 {
		t.Errorf("a menu that was clicked shows %s", got)
	}
}

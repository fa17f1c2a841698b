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
	old := Workspace{Job: "refactor", Project: "alpha", SizeBytes: 1_200_000_000, CreatedAt: now.Add(-48 * time.Hour), Ends: "stays until it is removed"}
	young := Workspace{
		Job: "чистка\n логов", Project: "beta", SizeBytes: -1, CreatedAt: now.Add(-time.Hour), EndsAt: now.Add(2 * time.Hour), Ends: "removed", Problem: "in use",
	}
	for _, c := range []struct {
		list        []Workspace
		title, want string
	}{
		{[]Workspace{old, young}, "Workspaces: 2, 1.2 GB",
			"чистка логов · beta · since 11:00 · removed 14:00 · in use | refactor · alpha · 1.2 GB · since 27 Feb 12:00 · stays until it is removed"},
		{[]Workspace{{Job: "notes", SizeBytes: 135_000, CreatedAt: now}}, "Workspaces: 1, 135 kB", "notes · 135 kB · since 12:00"},
		{nil, "Workspaces: 0", ""}, // which is hidden with its lines
	} {
		if top, lines := workspaceSubmenu(c.list, now); top.Title != c.title || titles(lines) != c.want {
			t.Errorf("got %q, %q; want %q, %q", top.Title, titles(lines), c.title, c.want)
		}
	}
	young.Job = strings.Repeat("long ", 40)
	if _, lines := workspaceSubmenu([]Workspace{young}, now); monitor.Columns(lines[0].Title) > recentColumns+20 {
		t.Errorf("%d columns: %s", monitor.Columns(lines[0].Title), lines[0].Title)
	}
}

func TestWorkspacesInTheMenu(t *testing.T) {
	o, c, _ := drawer(t)
	var list []Workspace
	for i := range 20 {
		list = append(list, Workspace{ID: fmt.Sprint(i), Job: fmt.Sprintf("job %d", i), Project: "alpha"})
	}
	o.opts.Extras = func() Extras { return Extras{Workspaces: list} }
	o.see(t, snapshot(serena(2, "alpha", 0, 0)))
	if got := c.under("workspaces"); !strings.HasPrefix(got, "job 19 · alpha") || !strings.HasSuffix(got, "and 5 more: lamplighter workspace list") {
		t.Errorf("shows %s", got)
	}
	for _, key := range []string{"workspace 19", "more workspaces"} {
		o.press(t, key, key, "global")
	}
}

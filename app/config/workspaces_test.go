package config

import (
	"strings"
	"testing"
	"time"
)

func TestWorkspaces(t *testing.T) {
	usual := Workspaces{Limit: 32, Retention: 24 * time.Hour}
	with := func(change func(*Workspaces)) Workspaces {
		w := usual
		change(&w)
		return w
	}
	for text, want := range map[string]Workspaces{
		"":                                 usual,
		"workspace_limit: 3\n":             with(func(w *Workspaces) { w.Limit = 3 }),
		"workspace_retention_hours: 0.5":   with(func(w *Workspaces) { w.Retention = 30 * time.Minute }),
		"workspace_retention_hours: 168":   with(func(w *Workspaces) { w.Retention = 7 * 24 * time.Hour }),
		"workspace_cleanup: archive":       with(func(w *Workspaces) { w.Cleanup = "archive" }),
		"workspace_budget: 20 GB":          with(func(w *Workspaces) { w.Budget = 20e9 }),
		"workspace_budget: none":           usual,
		"workspace_budget: null":           usual,
		"workspace_limit: 10000":           with(func(w *Workspaces) { w.Limit = 10000 }),
		"workspace_retention_hours: 0.001": with(func(w *Workspaces) { w.Retention = 3600 * time.Millisecond }),
	} {
		settings, problems := parse([]byte(text))
		if got := settings.Workspaces(); len(problems) > 0 || got != want {
			t.Errorf("%q: got %+v, want %+v, %v", text, got, want, problems)
		}
	}
}

func TestParseRefusesWorkspaces(t *testing.T) {
	for text, want := range map[string]string{
		"workspace_dir: work":               `"work" is not the absolute path of a directory`,
		"workspace_dir: ~/work":             "is not the absolute path of a directory",
		"workspace_limit: 0":                "is not a whole number from 1 to 10000",
		"workspace_limit: many":             "is not a whole number from 1 to 10000",
		"workspace_retention_hours: 0":      "is not a number of hours from 0.001 to 87600; workspace_cleanup: manual keeps workspaces for ever",
		"workspace_retention_hours: none":   "is not a number of hours",
		"workspace_cleanup: never":          "is not one of completion, retention, manual, archive",
		"workspace_budget: 20":              "is not an amount of at least 1 MB, such as 500 MB or 20 GB; write none for no limit",
		"workspace_retentions_hours: 1":     `did you mean "workspace_retention_hours"?`,
		"workspace_retention_hours: [1, 2]": "wants one plain value",
	} {
		settings, problems := parse([]byte("# mine\n" + text + "\n"))
		if len(problems) != 1 || problems[0].Line != 2 || !strings.Contains(problems[0].Text, want) || settings.Workspaces() != (Default().Workspaces()) {
			t.Errorf("%s: got %v, want %q", text, problems, want)
		}
	}
}

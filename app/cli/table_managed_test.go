package cli

import (
	"strings"
	"testing"

	"lamplighter/app/apptest"
	"lamplighter/monitor"
)

// A server that we have started says so where others name their client, and below
// where there is none to name, as without the background process.
func TestTableTellsWhatIsManaged(t *testing.T) {
	known, unknown := serenaAt(11, 24282, "alpha"), serenaAt(12, 24283, "beta")
	known.Managed, unknown.Managed = true, true
	known.Client = &monitor.Client{Name: "an assistant with\x1b a very long name"}
	short := serenaAt(13, 24284, "gamma")
	short.Managed, short.Client = true, &monitor.Client{Name: "curl"}
	got := table(&monitor.Snapshot{Instances: []monitor.Instance{known, unknown, short}}, noon, screen{})
	apptest.Contains(t, got, "24282 - alpha  managed, for an assista…long name  ", "24283 - beta   -   ", "\n  started by Lamplighter\n", "24284 - gamma  managed, for curl  ")
	if strings.Count(got, "started by") != 1 {
		t.Error(got)
	}
}

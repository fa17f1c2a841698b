package cli

import (
	"strings"
	"testing"
	"time"

	"lamplighter/app/apptest"
	"lamplighter/app/daemon/daemontest"
	"lamplighter/monitor"
)

// Status shows what is to happen in its own line, and the standing below.
func TestStatusTellsOfThePolicies(t *testing.T) {
	in := daemontest.SerenaAt(7, 24282, "alpha")
	ends := time.Now().Add(4 * time.Minute)
	in.Plan = monitor.Plan{ShutdownAt: ends, Reason: "no call for 30 min\x1b"}
	in.Pinned = true
	d := newDesktop(t)
	d.serveBackground(t, &daemontest.Model{Current: &monitor.Snapshot{Seq: 1, Instances: daemontest.List(in), Policy: monitor.Policy{Active: true, Paused: true}}})
	if got := d.runs(t, "status"); got != 0 || d.err.String() != "" {
		t.Fatal(got, d.err.String())
	}
	apptest.Contains(t, d.out.String(), "\n  pinned; stops at "+monitor.Clock(ends, time.Now())+": no call for 30 min\n")
	if !strings.HasSuffix(d.out.String(), "\nThe policies are paused until you resume them.\n") {
		t.Errorf("printed %q", d.out.String())
	}
}

package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"lamplighter/app/apptest"
	"lamplighter/app/daemon/daemontest"
	"lamplighter/monitor"
	"lamplighter/monitor/process"
	"lamplighter/monitor/situation"
)

// recordable is an instance that nobody would recognise: this test.
func recordable(t *testing.T) monitor.Instance {
	t.Helper()
	s, err := process.ReadStat(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	in := daemontest.SerenaAt(s.PID, 24282, "alpha")
	in.Identity, in.Port = s.Identity, 0
	return in
}

func TestDoctorRecords(t *testing.T) {
	in := recordable(t)
	in.State, in.Cause = monitor.StateZombie, monitor.CauseOrphaned
	in.Evidence = monitor.Evidence{Transport: "stdio", Orphaned: true, ClientGone: true, AloneSince: time.Now().Add(-time.Hour)}
	want := []situation.Expectation{{PID: in.Identity.PID, Do: "end", Rule: "orphans"}}
	for name, background := range map[string]bool{"by a scan": false, "by the background process": true} {
		t.Run(name, func(t *testing.T) {
			d := newDesktop(t, in)
			d.snap.At = time.Now()
			if background {
				d.serveBackground(t, &daemontest.Model{Current: d.snap})
			}
			path := filepath.Join(t.TempDir(), "wrong.json")
			if status := d.runs(t, "doctor", "--record", path); status != statusFine {
				t.Fatalf("status %d: %s", status, d.err.String())
			}
			apptest.Contains(t, d.out.String(), "Wrote "+path+": 1 server, ", "read it before you share it")
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			var s situation.Situation
			if err := json.Unmarshal(text, &s); err != nil {
				t.Fatal(err)
			}
			servers := slices.DeleteFunc(s.Processes, func(p situation.Process) bool { return p.Server == nil })
			if s.Name != "wrong" || s.Origin != situation.Recorded || len(servers) != 1 || servers[0].PID != in.Identity.PID || s.Self != os.Getpid() || !slices.Equal(s.Expect, want) {
				t.Errorf("%s", text)
			}
			if status := d.runs(t, "doctor", "--record", path); status != statusFailed {
				t.Errorf("over another one: status %d", status)
			}
			apptest.Contains(t, d.err.String(), "is there already")
		})
	}
}

func TestDoctorRecordsNowhere(t *testing.T) {
	d := newDesktop(t)
	if status := d.runs(t, "doctor", "--record", filepath.Join(t.TempDir(), "missing", "x.json")); status != statusFailed {
		t.Errorf("status %d", status)
	}
	apptest.Contains(t, d.err.String(), "making the file")
	d = newDesktop(t)
	if status := d.runs(t, "doctor", "--record", "x", "--json"); status != statusUsage {
		t.Errorf("status %d: %s", status, d.err.String())
	}
}

package watch

import (
	"os"
	"os/exec"
	"testing"
	"time"

	"go.uber.org/goleak"

	"lamplighter/monitor"
)

// TestMain takes python3 from where it is installed: the shim of a version manager
// costs more than the programs that are started through it. They are started with
// -S, because to look for installed packages costs as much again.
func TestMain(m *testing.M) {
	if dir, err := exec.Command("python3", "-c", "import os, sys; print(os.path.dirname(sys.executable), end='')").Output(); err == nil {
		os.Setenv("PATH", string(dir)+string(os.PathListSeparator)+os.Getenv("PATH"))
	}
	goleak.VerifyTestMain(m)
}

func TestCompare(t *testing.T) {
	due := time.Now()
	base := func() *monitor.Snapshot {
		return &monitor.Snapshot{
			Instances: []monitor.Instance{{
				Kind: monitor.KindSerena, Port: 1, State: monitor.StateProject,
				Evidence: monitor.Evidence{IdleSince: due}, Plan: monitor.Plan{ShutdownAt: due, Reason: "no call for 30 min"},
			}},
			Policy: monitor.Policy{Active: true, PausedUntil: &due, Rules: []monitor.PolicyRule{{Name: "idle", On: true}}},
		}
	}
	for _, c := range []struct {
		name  string
		touch func(*monitor.Snapshot)
		want  change
	}{
		{"equal", func(*monitor.Snapshot) {}, same},
		{"number and time", func(s *monitor.Snapshot) { s.Seq, s.At = 9, time.Unix(9, 0) }, same},
		{"memory", func(s *monitor.Snapshot) { s.Instances[0].RSSBytes = 5 }, drift},
		{"heartbeat", func(s *monitor.Snapshot) { s.Instances[0].LastHeartbeat = time.Unix(1, 0) }, drift},
		{"state", func(s *monitor.Snapshot) { s.Instances[0].State = monitor.StateZombie }, news},
		{"state and memory", func(s *monitor.Snapshot) { s.Instances[0].State, s.Instances[0].RSSBytes = monitor.StateZombie, 5 }, news},
		{"project", func(s *monitor.Snapshot) { s.Instances[0].ProjectName = "x" }, news},
		{"one less", func(s *monitor.Snapshot) { s.Instances = nil }, news},
		{"used", func(s *monitor.Snapshot) { s.Instances[0].Evidence.IdleSince = due.Add(1) }, news},
		{"another plan", func(s *monitor.Snapshot) { s.Instances[0].Plan.ShutdownAt = due.Add(time.Second) }, news},
		{"another reason", func(s *monitor.Snapshot) { s.Instances[0].Plan.Reason = "x" }, news},
		{"no plan any more", func(s *monitor.Snapshot) { s.Instances[0].Plan = monitor.Plan{} }, news},
		{"kept", func(s *monitor.Snapshot) { s.Instances[0].Plan.KeptUntil = due }, news},
		{"paused", func(s *monitor.Snapshot) { s.Policy.Paused = true }, news},
		{"paused until later", func(s *monitor.Snapshot) { s.Policy.PausedUntil = new(due.Add(time.Hour)) }, news},
		{"a switch", func(s *monitor.Snapshot) { s.Policy.Rules[0].On = false }, news},
		{"how many are idle", func(s *monitor.Snapshot) { s.Policy.Idle = 1 }, news},
		{"warning", func(s *monitor.Snapshot) { s.Warnings = []string{"x"} }, news},
	} {
		a, b := base(), base()
		c.touch(b)
		got := compare(a, b)
		if got != news && !samePlans(a, b) {
			got = news
		}
		if got != c.want {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}

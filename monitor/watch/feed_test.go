package watch

import (
	"testing"
	"time"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"lamplighter/monitor"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestSlowReaderGetsTheNewest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var f feed
		f.publish(&monitor.Snapshot{Seq: 0}) // before the first look: nothing to tell
		c, cancel := f.subscribe()
		var published, seen uint64
		for range rapid.IntRange(0, 30).Draw(t, "steps") {
			if rapid.Bool().Draw(t, "publish") {
				published++
				f.publish(&monitor.Snapshot{Seq: published})
				continue
			}
			select {
			case s := <-c:
				if s.Seq != published || s.Seq < seen {
					t.Fatalf("got %d, newest is %d", s.Seq, published)
				}
				seen = s.Seq
			default:
				if seen != published {
					t.Fatalf("nothing to read, but %d was never seen", published)
				}
			}
		}
		cancel()
		cancel()
		f.publish(&monitor.Snapshot{Seq: published + 1})
	})
}

func TestCompare(t *testing.T) {
	due := time.Now()
	base := func() *monitor.Snapshot {
		return &monitor.Snapshot{
			Instances: []monitor.Instance{{
				Kind: monitor.KindSerena, Port: 1, State: monitor.StateProject,
				Evidence: monitor.Evidence{IdleSince: due}, Plan: monitor.Plan{ShutdownAt: due, Reason: "no call for 30 min"},
			}},
			Policy: monitor.Policy{Active: true, PausedUntil: due, Rules: []monitor.PolicyRule{{Name: "idle", On: true}}},
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
		{"a plan counted anew", func(s *monitor.Snapshot) { s.Instances[0].Plan.ShutdownAt = due.Add(time.Millisecond).Round(0) }, same},
		{"a plan counted anew, and memory", func(s *monitor.Snapshot) {
			s.Instances[0].Plan.ShutdownAt, s.Instances[0].RSSBytes = due.Add(-time.Millisecond), 5
		}, drift},
		{"another plan", func(s *monitor.Snapshot) { s.Instances[0].Plan.ShutdownAt = due.Add(time.Second) }, news},
		{"another reason", func(s *monitor.Snapshot) { s.Instances[0].Plan.Reason = "x" }, news},
		{"no plan any more", func(s *monitor.Snapshot) { s.Instances[0].Plan = monitor.Plan{} }, news},
		{"kept", func(s *monitor.Snapshot) { s.Instances[0].Plan.KeptUntil = due }, news},
		{"paused", func(s *monitor.Snapshot) { s.Policy.Paused = true }, news},
		{"paused, counted anew", func(s *monitor.Snapshot) { s.Policy.PausedUntil = due.Add(time.Millisecond) }, same},
		{"paused until later", func(s *monitor.Snapshot) { s.Policy.PausedUntil = due.Add(time.Hour) }, news},
		{"a switch", func(s *monitor.Snapshot) { s.Policy.Rules[0].On = false }, news},
		{"how many are idle", func(s *monitor.Snapshot) { s.Policy.Idle = 1 }, news},
		{"a workspace", func(s *monitor.Snapshot) { s.Workspaces = []monitor.Workspace{{ID: "x"}} }, news},
		{"warning", func(s *monitor.Snapshot) { s.Warnings = []string{"x"} }, news},
	} {
		a, b := base(), base()
		c.touch(b)
		if got := compare(a, b); got != c.want {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}

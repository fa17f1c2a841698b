package watch

import (
	"os"
	"os/exec"
	"testing"
	"time"

	"go.uber.org/goleak"

	"lamplighter/monitor"
	"lamplighter/monitor/policy"
	"lamplighter/monitor/rules"
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

// Only the number and the time of a snapshot are no change. What the policies say is
// looked at apart, because they are asked after a change alone.
func TestSame(t *testing.T) {
	due := time.Now()
	base := func() *monitor.Snapshot {
		return &monitor.Snapshot{
			Instances: []*monitor.Instance{{
				Kind: monitor.KindSerena, Port: 1, State: monitor.StateProject, Sharing: &monitor.Sharing{SavedBytes: 5},
				Evidence: monitor.Evidence{IdleSince: due}, Plan: monitor.Plan{ShutdownAt: due, Reason: "no call for 30 min"},
			}},
			Policy: monitor.Policy{Active: true, PausedUntil: &due, Rules: []monitor.PolicyRule{{Name: "idle", On: true}}},
		}
	}
	for _, c := range []struct {
		name                  string
		touch                 func(*monitor.Snapshot)
		facts, figures, plans bool // are the same
	}{
		{"equal", func(*monitor.Snapshot) {}, true, true, true},
		{"number and time", func(s *monitor.Snapshot) { s.Seq, s.At = 9, time.Unix(9, 0) }, true, true, true},
		{"memory", func(s *monitor.Snapshot) { s.Instances[0].RSSBytes = 5 }, true, false, true},
		{"memory that sharing saves", func(s *monitor.Snapshot) { s.Instances[0].Sharing.SavedBytes = 6 }, true, false, true},
		{"state", func(s *monitor.Snapshot) { s.Instances[0].State = monitor.StateZombie }, false, true, true},
		{"one less", func(s *monitor.Snapshot) { s.Instances = nil }, false, true, false},
		{"used", func(s *monitor.Snapshot) { s.Instances[0].Evidence.IdleSince = due.Add(1) }, false, true, true},
		{"warning", func(s *monitor.Snapshot) { s.Warnings = []string{"x"} }, false, true, true},
		{"woken", func(s *monitor.Snapshot) { s.AwakeSince = due }, false, true, true},
		{"event", func(s *monitor.Snapshot) { s.Recent = []monitor.Event{{PID: 1}} }, false, true, false},
		{"another plan", func(s *monitor.Snapshot) { s.Instances[0].Plan.ShutdownAt = due.Add(time.Second) }, true, true, false},
		{"no plan any more", func(s *monitor.Snapshot) { s.Instances[0].Plan = monitor.Plan{} }, true, true, false},
		{"refused", func(s *monitor.Snapshot) { s.Instances[0].Evidence.Refused.Until = due }, true, true, false},
		{"paused until later", func(s *monitor.Snapshot) { s.Policy.PausedUntil = new(due.Add(time.Hour)) }, true, true, false},
		{"a switch", func(s *monitor.Snapshot) { s.Policy.Rules[0].On = false }, true, true, false},
	} {
		a, b := base(), base()
		c.touch(b)
		if facts, all, plans := sameFacts(a, b, false), sameFacts(a, b, true), samePlans(a, b); facts != c.facts || all != (c.facts && c.figures) || plans != c.plans {
			t.Errorf("%s: the same facts %v, with figures %v, the same plans %v", c.name, facts, all, plans)
		}
	}
}

// What has not changed stays the same pointer.
func TestKeepUnchanged(t *testing.T) {
	of := func(pid int, plan string) *monitor.Instance {
		return &monitor.Instance{Identity: monitor.Identity{PID: pid, Start: 1}, Modes: []string{"editing"}, Plan: monitor.Plan{Reason: plan}}
	}
	before := &monitor.Snapshot{Instances: []*monitor.Instance{of(1, ""), of(2, ""), of(3, "")}}
	after := &monitor.Snapshot{Instances: []*monitor.Instance{of(4, ""), of(3, ""), of(2, "no call for 30 min")}}
	keepUnchanged(before, after)
	if after.Instances[1] != before.Instances[2] || after.Instances[2] == before.Instances[1] || after.Instances[2].Plan.Reason == "" || after.Instances[0].Identity.PID != 4 {
		t.Errorf("%v after %v", after.Instances, before.Instances)
	}
}

// BenchmarkPublish has 1,000 servers, of which one has said something new, and
// policies that decide about all of them.
func BenchmarkPublish(b *testing.B) {
	w := New(Options{Plan: func(s *monitor.Snapshot) time.Time { _, next := policy.Decide(s, policy.Rules{}); return next }})
	l := newLoop(Options{Rules: rules.New(nil)}, nil)
	now := time.Now()
	l.firstTick, l.looked = now, true
	var one *tracked
	for pid := range 1000 {
		one = &tracked{firstSeen: now, Facts: monitor.Facts{Born: now}, lineage: lineage{root: monitor.Identity{PID: pid + 1, Start: 1}}}
		one.in = monitor.Instance{
			Identity: one.root, Kind: monitor.KindSerena, Recognised: true, ProjectName: "alpha", StartedAt: now, Modes: []string{"editing"},
		}
		l.tracked[one.root] = one
	}
	b.ReportAllocs()
	for n := 0; b.Loop(); n++ {
		one.in.Context = [...]string{"ide", "codex"}[n%2]
		w.publish(l, now)
	}
	if w.Snapshot().Seq < 2 || len(w.Snapshot().Instances) != 1000 {
		b.Fatal("nothing was published")
	}
}

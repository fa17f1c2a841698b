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

// Only the number and the time of a snapshot are no change.
func TestAreSame(t *testing.T) {
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
	for name, touch := range map[string]func(*monitor.Snapshot){
		"memory that sharing saves": func(s *monitor.Snapshot) { s.Instances[0].Sharing.SavedBytes = 6 },
		"state":                     func(s *monitor.Snapshot) { s.Instances[0].State = monitor.StateZombie },
		"one less":                  func(s *monitor.Snapshot) { s.Instances = nil },
		"warning":                   func(s *monitor.Snapshot) { s.Warnings = []string{"x"} },
		"woken":                     func(s *monitor.Snapshot) { s.AwakeSince = due },
		"event":                     func(s *monitor.Snapshot) { s.Recent = []monitor.Event{{PID: 1}} },
		"another plan":              func(s *monitor.Snapshot) { s.Instances[0].Plan.ShutdownAt = due.Add(time.Second) },
		"paused until later":        func(s *monitor.Snapshot) { s.Policy.PausedUntil = new(due.Add(time.Hour)) },
		"a switch":                  func(s *monitor.Snapshot) { s.Policy.Rules[0].On = false },
	} {
		a, b := base(), base()
		b.Seq, b.At = 9, time.Unix(9, 0)
		if !areSame(a, b) {
			t.Error("the number or the time is a change")
		}
		if touch(b); areSame(a, b) {
			t.Errorf("%s is no change", name)
		}
	}
}

// shows begins a loop that has looked, with so many servers.
func shows(servers int) (*loop, []*tracked) {
	l := New(Options{Rules: rules.New(nil)}).begin(nil)
	now := time.Now()
	l.firstTick = now
	var all []*tracked
	for pid := range servers {
		one := &tracked{Facts: monitor.Facts{Born: now}, lineage: lineage{root: monitor.Identity{PID: pid + 1, Start: 1}}}
		one.in = monitor.Instance{
			Identity: one.root, Kind: monitor.KindSerena, Recognised: true, ProjectName: "alpha", StartedAt: now, Modes: []string{"editing"},
		}
		l.tracked[one.root] = one
		all = append(all, one)
	}
	return l, all
}

// What has not changed stays the same pointer, and keeps the plan that the policies,
// which are asked when something has changed, had for it.
func TestPublishKeepsWhatHasNotChanged(t *testing.T) {
	var plans int
	w := New(Options{Plan: func(s *monitor.Snapshot) time.Time {
		plans++
		for _, in := range s.Instances {
			in.Plan.Reason, in.Evidence.Refused.Why = "no call for 30 min", "it is pinned"
		}
		s.Policy.Active = true
		return time.Time{}
	}})
	l, all := shows(2)
	w.publish(l, time.Now())
	before := w.Snapshot()
	if w.publish(l, time.Now()); w.Snapshot() != before || plans != 1 {
		t.Errorf("%d plans, and %d snapshots, although nothing has changed", plans, w.Snapshot().Seq)
	}
	all[1].in.Context = "ide"
	w.publish(l, time.Now())
	if after := w.Snapshot(); after.Instances[0] != before.Instances[0] || after.Instances[1] == before.Instances[1] || after.Instances[1].Plan.Reason == "" || plans != 2 {
		t.Errorf("%v after %v, with %d plans", after.Instances, before.Instances, plans)
	}
}

// BenchmarkPublish has 1,000 servers, of which one has said something new, and
// policies that decide about all of them.
func BenchmarkPublish(b *testing.B) {
	w := New(Options{Plan: func(s *monitor.Snapshot) time.Time { _, next := policy.Decide(s, policy.Rules{}); return next }})
	l, all := shows(1000)
	now := time.Now()
	b.ReportAllocs()
	for n := 0; b.Loop(); n++ {
		all[999].in.Context = [...]string{"ide", "codex"}[n%2]
		w.publish(l, now)
	}
	if w.Snapshot().Seq < 2 || len(w.Snapshot().Instances) != 1000 {
		b.Fatal("nothing was published")
	}
}

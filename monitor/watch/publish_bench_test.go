package watch

import (
	"testing"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/policy"
	"lamplighter/monitor/rules"
)

// BenchmarkPublish has 1,000 servers, of which one has said something new, and
// policies that decide about all of them.
func BenchmarkPublish(b *testing.B) {
	w := New(Options{Plan: func(s *monitor.Snapshot) time.Time { _, next := policy.Decide(s, policy.Rules{}); return next }})
	l := newLoop(Options{Rules: rules.New(nil)}, nil)
	now := time.Now()
	l.begun, l.looked = now, true
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
		w.publish(l, now, true)
	}
	if w.Snapshot().Seq < 2 || len(w.Snapshot().Instances) != 1000 {
		b.Fatal("nothing was published")
	}
}

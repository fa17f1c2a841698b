package policy

import (
	"testing"
	"time"

	"lamplighter/monitor"
)

// thousand are 1,000 instances of all sorts.
func thousand() *monitor.Snapshot {
	sorts := [...]func(*monitor.Instance){
		func(*monitor.Instance) {}, stdio, working, mute, pin, idleFor(time.Minute), orphan(time.Hour), orphan(time.Minute), suspect, large,
	}
	s := &monitor.Snapshot{At: noon}
	for n := range 1000 {
		s.Instances = append(s.Instances, new(server(other(n+1), sorts[n%len(sorts)])))
	}
	return s
}

func rulesForThousand() Rules {
	return settings(override(Override{Project: "beta", Never: true}, Override{Client: "Cursor", Never: true}, Override{Project: "/home/u/gamma", Never: true}))
}

// The target is 5 ms for 1,000 instances.
func BenchmarkDecide(b *testing.B) {
	s, r := thousand(), rulesForThousand()
	b.ReportAllocs()
	for b.Loop() {
		Decide(s, r)
	}
}

func BenchmarkStanding(b *testing.B) {
	s, r := thousand(), rulesForThousand()
	b.ReportAllocs()
	for b.Loop() {
		r.Standing(s)
	}
}

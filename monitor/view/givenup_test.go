package view

import (
	"testing"
	"time"

	"lamplighter/monitor"
)

func TestGivenUpIn(t *testing.T) {
	server := func(pid int, change ...func(*monitor.Instance)) monitor.Instance {
		in := monitor.Instance{Identity: monitor.Identity{PID: pid, Start: 1}, State: monitor.StateZombie, Cause: monitor.CauseSuspended, Recognised: true, RSSBytes: 200_000_000}
		for _, c := range change {
			c(&in)
		}
		return in
	}
	givenUp := func(in *monitor.Instance) { in.Plan.GivenUpSince = time.Unix(1, 0) }
	if got := GivenUpIn(snapshot(server(1))); got != nil {
		t.Errorf("%+v", got)
	}
	s := snapshot(server(1), server(2, givenUp), server(3, givenUp))
	if got := GivenUpIn(s); got == nil || got.Words != "2 given up, 400 MB" || len(got.IDs) != 2 || got.IDs[0] != "2-1" {
		t.Errorf("%+v", got)
	}
	if servers, _ := Divide(All(s)); len(servers) != 1 || servers[0].ID != "1-1" {
		t.Errorf("%d are listed", len(servers))
	}
	if totals := s.Totals(); totals.Instances != 1 || totals.Attention != 1 || totals.RSSBytes != 200_000_000 {
		t.Errorf("%+v", totals)
	}
	s.Instances = s.Instances[1:]
	if worst := s.Worst(); worst != "" {
		t.Errorf("the icon says %q", worst)
	}
}

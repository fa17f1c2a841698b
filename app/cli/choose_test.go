package cli

import (
	"slices"
	"strings"
	"testing"

	"lamplighter/monitor"
	"lamplighter/monitor/view"
)

func TestFindPrefersTheMorePrecise(t *testing.T) {
	all := view.All(&monitor.Snapshot{Instances: []*monitor.Instance{
		{Kind: monitor.KindSerena, Identity: monitor.Identity{PID: 10, Start: 1}, Port: 24282, ProjectName: "20", ProjectRoot: "/p/20"},
		{Kind: monitor.KindSerena, Identity: monitor.Identity{PID: 20, Start: 1}, Port: 24283, ProjectName: "alpha", ProjectRoot: "/p/alpha"},
		{Kind: monitor.KindSerena, Identity: monitor.Identity{PID: 30, Start: 1}, Port: 24284, ProjectName: "alpha", ProjectRoot: "/q/alpha"},
	}})
	for what, want := range map[string][]int{
		"20": {20}, "24282": {10}, "10-1": {10}, "alpha": {20, 30}, "ALPHA": {20, 30}, "/q/alpha": {30}, "beta": nil, "": nil, "0": nil,
	} {
		var got []int
		for _, s := range find(all, what) {
			got = append(got, view.Value(s.PID))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", what, got, want)
		}
	}
}

// The pid that a parked one had may be another server's by now.
func TestFindParked(t *testing.T) {
	parked := monitor.Instance{Identity: monitor.Identity{PID: 7, Start: 1}, State: monitor.StateParked, ProjectName: "alpha"}
	other := monitor.Instance{Identity: monitor.Identity{PID: 7, Start: 2}, ProjectName: "beta"}
	all := view.All(&monitor.Snapshot{Instances: []*monitor.Instance{&parked, &other}})
	for what, want := range map[string]string{"7": other.ID(), "7-1": parked.ID(), "parked - alpha": parked.ID(), "alpha": parked.ID()} {
		if got := find(all, what); len(got) != 1 || string(got[0].ID) != want {
			t.Errorf("%s: %+v", what, got)
		}
	}
	if got := find(all[:1], "7"); len(got) != 1 {
		t.Errorf("%+v", got)
	}
}

// The project that a Serena has means that one; what else status lists for a project has its
// name where there is no Serena.
func TestFindByProject(t *testing.T) {
	server := func(pid int, name, dir string) *monitor.Instance {
		return &monitor.Instance{Identity: monitor.Identity{PID: pid, Start: 1}, Kind: name, State: monitor.StateLive, Recognised: true, Directory: dir}
	}
	serena, child := server(1, monitor.KindSerena, ""), server(6, "tool", "/w/delta")
	serena.ProjectName, serena.ProjectRoot, serena.Port = "alpha", "/w/alpha", 24282
	child.Recognised, child.OnPipes = false, true
	all := view.All(&monitor.Snapshot{Instances: []*monitor.Instance{
		serena, server(2, "notes", "/w/alpha"), server(3, "search", "/w/beta"), server(4, "beta", "/w/gamma"), server(5, "more", "/w/delta"), child,
		server(7, "notes", "/w/epsilon"), server(8, "search", "/w/epsilon"),
	}})
	for what, want := range map[string]string{
		"alpha": "1", "/w/alpha": "1", "beta": "4", "/w/beta": "3", "delta": "5", "Delta": "5", "/w/delta": "5", "epsilon": "7 8", "zeta": "",
	} {
		var got []string
		for _, s := range find(all, what) {
			got = append(got, pidOf(s.ID))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %v, want %s", what, got, want)
		}
	}
}

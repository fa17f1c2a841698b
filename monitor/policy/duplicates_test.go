package policy

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"lamplighter/monitor"
)

// other makes an instance another process, which started when the number says.
func other(n int) func(*monitor.Instance) {
	return func(in *monitor.Instance) {
		in.Identity = monitor.Identity{PID: n, Start: uint64(n)}
		in.StartedAt = ago(time.Hour)
	}
}

func TestDuplicates(t *testing.T) {
	of := func(client int) func(*monitor.Instance) {
		return func(in *monitor.Instance) {
			in.Client = &monitor.Client{Identity: monitor.Identity{PID: client, Start: 1}, Name: "Codex"}
		}
	}
	now := func(in *monitor.Instance) { in.StartedAt = noon }
	elsewhere := func(in *monitor.Instance) { in.ProjectRoot = "/home/u/beta" }
	for _, c := range []struct {
		name      string
		instances []*monitor.Instance
		r         Rules
		want      []string // of whom is told
	}{
		{"two", []*monitor.Instance{new(server(other(1))), new(server(other(2)))}, settings(), []string{"1"}},
		{"three", []*monitor.Instance{new(server(other(3))), new(server(other(1))), new(server(other(2)))}, settings(), []string{"1"}},
		{"two that started in one moment", []*monitor.Instance{
			new(server(other(5))), new(server(other(4), func(in *monitor.Instance) { in.Identity.Start = 5 })),
		}, settings(), []string{"4"}},
		{"the same two in another order", []*monitor.Instance{
			new(server(other(4), func(in *monitor.Instance) { in.Identity.Start = 5 })), new(server(other(5))),
		}, settings(), []string{"4"}},
		{"one", []*monitor.Instance{new(server(other(1)))}, settings(), nil},
		{"off", []*monitor.Instance{new(server(other(1))), new(server(other(2)))}, settings(off(Duplicates)), nil},
		{"not wanted", []*monitor.Instance{new(server(other(1))), new(server(other(2)))}, settings(func(r *Rules) { r.Duplicates = false }), nil},
		{"started anew just now", []*monitor.Instance{new(server(other(1))), new(server(other(2), now))}, settings(), nil},
		{"nobody knows when", []*monitor.Instance{new(server(other(1))), new(server(other(2), func(in *monitor.Instance) { in.StartedAt = time.Time{} }))}, settings(), []string{"1"}},
		{"of two clients", []*monitor.Instance{new(server(other(1))), new(server(other(2), of(8)))}, settings(), nil},
		{"of clients with one pid", []*monitor.Instance{new(server(other(1))), new(server(other(2), of(7)))}, settings(), nil},
		{"of unknown clients", []*monitor.Instance{
			new(server(other(1), func(in *monitor.Instance) { in.Client = nil })), new(server(other(2), func(in *monitor.Instance) { in.Client = nil })),
		}, settings(), nil},
		{"of two projects", []*monitor.Instance{new(server(other(1))), new(server(other(2), elsewhere))}, settings(), nil},
		{"of no project", []*monitor.Instance{
			new(server(other(1), func(in *monitor.Instance) { in.ProjectRoot = "" })), new(server(other(2), func(in *monitor.Instance) { in.ProjectRoot = "" })),
		}, settings(), nil},
		{"of two kinds", []*monitor.Instance{new(server(other(1))), new(server(other(2), func(in *monitor.Instance) { in.Kind = "notes" }))}, settings(), nil},
		{"sessions", []*monitor.Instance{new(server(other(1), session)), new(server(other(2), session))}, settings(), nil},
		{"not recognised", []*monitor.Instance{new(server(other(1))), new(server(other(2), func(in *monitor.Instance) { in.Recognised = false }))}, settings(), nil},
		{"pinned", []*monitor.Instance{new(server(other(1), pin)), new(server(other(2)))}, settings(), nil},
		{"the newer is pinned", []*monitor.Instance{new(server(other(1))), new(server(other(2), pin))}, settings(), []string{"1"}},
		{"paused", []*monitor.Instance{new(server(other(1))), new(server(other(2)))}, settings(pause), nil},
	} {
		var got []string
		for _, in := range c.instances {
			working(in)
		}
		for _, a := range actionsOf(&monitor.Snapshot{At: noon, Instances: c.instances}, c.r) {
			if a.Rule != Duplicates || a.Do != Notify || a.Reason != "its client Codex (7) runs it more than once" {
				t.Errorf("%s: decided %+v", c.name, a)
			}
			got = append(got, fmt.Sprint(a.ID.PID))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: told of %v, want %v", c.name, got, c.want)
		}
	}
}

package view

import (
	"testing"
	"time"

	"lamplighter/monitor"
)

func TestRepeatedIn(t *testing.T) {
	noon := time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)
	codex := &monitor.Client{Identity: monitor.Identity{PID: 9, Start: 1}, Name: "Codex"}
	server := func(pid int, change ...func(*monitor.Instance)) monitor.Instance {
		in := monitor.Instance{
			Identity: monitor.Identity{PID: pid, Start: 1}, Kind: "memory", State: monitor.StateLive, Recognised: true, Client: codex,
			Command: "npx server-memory", RSSBytes: 100_000_000, StartedAt: noon,
		}
		for _, c := range change {
			c(&in)
		}
		return in
	}
	called := func(after time.Duration) func(*monitor.Instance) {
		return func(in *monitor.Instance) { in.LastActivity = noon.Add(after) }
	}
	serena := func(project string) func(*monitor.Instance) {
		return func(in *monitor.Instance) {
			in.Kind, in.ProjectRoot, in.ProjectName = monitor.KindSerena, project, "alpha"
		}
	}
	entry := func(name string) func(*monitor.Instance) {
		return func(in *monitor.Instance) { in.Entry = &monitor.Entry{Name: name, File: "/c.toml"} }
	}
	other := func(in *monitor.Instance) {
		in.Client = &monitor.Client{Identity: monitor.Identity{PID: 8, Start: 1}, Name: "Codex"}
	}
	for name, test := range map[string]struct {
		list  []*monitor.Instance
		words string // "" for none
		keep  ID
	}{
		"one":                  {list: []*monitor.Instance{new(server(1))}},
		"never called":         {[]*monitor.Instance{new(server(1)), new(server(2)), new(server(3, called(0)))}, "Codex has memory ×3, 300 MB; which of them it uses is not known", ""},
		"called":               {[]*monitor.Instance{new(server(1, called(1))), new(server(2, called(2))), new(server(3))}, "Codex has memory ×3, 300 MB; 2 was called last", "2-1"},
		"of two clients":       {list: []*monitor.Instance{new(server(1)), new(server(2, other))}},
		"with other arguments": {list: []*monitor.Instance{new(server(1)), new(server(2, func(in *monitor.Instance) { in.Sum++ }))}},
		"of one entry":         {[]*monitor.Instance{new(server(1, entry("notes"))), new(server(2, entry("notes")))}, "Codex has notes ×2, 200 MB; which of them it uses is not known", ""},
		"in two directories":   {list: []*monitor.Instance{new(server(1)), new(server(2, func(in *monitor.Instance) { in.Directory = "/w" }))}},
		"of two entries":       {list: []*monitor.Instance{new(server(1, entry("notes"))), new(server(2, entry("more")))}},
		"for one project":      {[]*monitor.Instance{new(server(1, serena("/w/alpha"))), new(server(2, serena("/w/alpha")))}, "Codex has alpha ×2, 200 MB; which of them it uses is not known", ""},
		"for two projects":     {list: []*monitor.Instance{new(server(1, serena("/w/alpha"))), new(server(2, serena("/w/beta")))}},
		"for none yet":         {list: []*monitor.Instance{new(server(1, serena(""))), new(server(2, serena("")))}},
		"its client has gone":  {list: []*monitor.Instance{new(server(1)), new(server(2, func(in *monitor.Instance) { in.Evidence.ClientGone = true }))}},
		"sessions":             {list: []*monitor.Instance{new(server(1)), new(server(2, func(in *monitor.Instance) { in.Managed = true }))}},
		"not recognised":       {list: []*monitor.Instance{new(server(1)), new(server(2, func(in *monitor.Instance) { in.Recognised = false }))}},
	} {
		got := RepeatedIn(&monitor.Snapshot{Instances: test.list})
		switch {
		case test.words == "" && len(got) != 0:
			t.Errorf("%s: %+v", name, got)
		case test.words != "" && (len(got) != 1 || got[0].Words != test.words || Value(got[0].Keep) != test.keep || len(got[0].IDs) != len(test.list)):
			t.Errorf("%s: %+v", name, got)
		}
	}
}

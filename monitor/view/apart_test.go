package view

import (
	"slices"
	"testing"

	"lamplighter/monitor"
)

func TestTellApart(t *testing.T) {
	codex := &monitor.Client{Identity: monitor.Identity{PID: 9}, Name: "Codex"}
	of := func(in monitor.Instance, client *monitor.Client) *monitor.Instance {
		in.Kind, in.Client, in.State, in.Recognised = "memory", client, monitor.StateLive, true
		return &in
	}
	for name, test := range map[string]struct {
		list []*monitor.Instance
		want []string
	}{
		"alone":          {[]*monitor.Instance{of(monitor.Instance{Directory: "/w/a"}, codex)}, []string{""}},
		"equal":          {[]*monitor.Instance{of(monitor.Instance{}, codex), of(monitor.Instance{}, codex)}, []string{"", ""}},
		"another client": {[]*monitor.Instance{of(monitor.Instance{Directory: "/w/a"}, codex), of(monitor.Instance{Directory: "/w/b"}, &monitor.Client{Name: "Cursor"})}, []string{"", ""}},
		"directories":    {[]*monitor.Instance{of(monitor.Instance{Directory: "/w/a"}, codex), of(monitor.Instance{Directory: `C:\w\b`}, codex)}, []string{"in a", "in b"}},
		"equal ends":     {[]*monitor.Instance{of(monitor.Instance{Directory: "/w/a"}, codex), of(monitor.Instance{Directory: "/v/a"}, codex)}, []string{"in /w/a", "in /v/a"}},
		"arguments": {[]*monitor.Instance{of(monitor.Instance{Directory: "/w", Command: "npx server --db one.json"}, codex), of(monitor.Instance{Directory: "/w", Command: "npx server --db two.json"}, codex), of(monitor.Instance{Directory: "/w", Command: "npx server --db"}, codex)},
			[]string{"one.json", "two.json", ""}},
		"what tells most": {[]*monitor.Instance{of(monitor.Instance{Directory: "/w", Command: "x a"}, codex), of(monitor.Instance{Directory: "/w", Command: "x b"}, codex), of(monitor.Instance{Directory: "/v", Command: "x c"}, codex)}, []string{"a", "b", "c"}},
		"client alone":    {[]*monitor.Instance{of(monitor.Instance{}, codex), of(monitor.Instance{}, &monitor.Client{Identity: monitor.Identity{PID: 12}, Name: "Codex"})}, []string{"client 9", "client 12"}},
		"foreign text":    {[]*monitor.Instance{of(monitor.Instance{Directory: "/w/a\x1b[31m\u202e"}, codex), of(monitor.Instance{Directory: "/w/b"}, codex)}, []string{"in a" + monitor.Clean("\x1b[31m\u202e"), "in b"}},
	} {
		var got []string
		for _, s := range All(&monitor.Snapshot{Instances: test.list}) {
			got = append(got, s.Words.Apart)
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

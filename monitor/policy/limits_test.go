package policy

import (
	"testing"
	"time"

	"lamplighter/monitor"
)

func TestOverrideMatches(t *testing.T) {
	windows := server(func(in *monitor.Instance) { in.ProjectRoot = `C:\Work\Alpha` })
	unknown := server(func(in *monitor.Instance) { in.Client, in.ProjectName, in.ProjectRoot = nil, "", "" })
	for _, c := range []struct {
		name string
		o    Override
		in   monitor.Instance
		want bool
	}{
		{"its name", Override{Project: "alpha"}, server(), true},
		{"its name in another case", Override{Project: "Alpha"}, server(), true},
		{"its directory", Override{Project: "/home/u/alpha"}, server(), true},
		{"its directory with a slash", Override{Project: "/home/u/alpha/"}, server(), true},
		{"its directory in another case", Override{Project: "/home/U/alpha"}, server(), false},
		{"a directory above", Override{Project: "/home/u"}, server(), false},
		{"its directory on Windows", Override{Project: `c:/work/alpha`}, windows, true},
		{"its client", Override{Client: "codex"}, server(), true},
		{"another client", Override{Client: "Cursor"}, server(), false},
		{"both", Override{Project: "alpha", Client: "Codex"}, server(), true},
		{"its project, another client", Override{Project: "alpha", Client: "Cursor"}, server(), false},
		{"its client, another project", Override{Project: "beta", Client: "Codex"}, server(), false},
		{"neither", Override{Never: true}, server(), false},
		{"a project, none is known", Override{Project: "alpha"}, unknown, false},
		{"a client, none is known", Override{Client: "Codex"}, unknown, false},
	} {
		if got := c.o.matches(&c.in, false); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

func TestTheFirstOverrideCountsButNeverAlways(t *testing.T) {
	in := server()
	r := settings(override(
		Override{Project: "beta", IdleAfter: pointer(time.Minute)},
		Override{Project: "alpha", IdleAfter: pointer(2 * time.Minute)},
		Override{Client: "Codex", IdleAfter: pointer(3 * time.Minute), OrphanGrace: pointer(time.Minute), Never: true},
	))
	if got := r.rulesFor(&in); got.IdleAfter != 2*time.Minute || got.OrphanGrace != r.OrphanGrace || r.spares(&in) != never {
		t.Errorf("%+v", got)
	}
}

func TestSpares(t *testing.T) {
	noProject := func(in *monitor.Instance) { in.ProjectName, in.ProjectRoot = "", "" }
	noRoot := func(in *monitor.Instance) { in.ProjectRoot = "" }
	noClient := func(in *monitor.Instance) { in.Client = nil }
	noName := func(in *monitor.Instance) { in.Client = &monitor.Client{Identity: monitor.Identity{PID: 7, Start: 70}} }
	other := func(in *monitor.Instance) { in.Kind = "time" }
	spared := func(o Override) Override { o.Never = true; return o }
	project, dir, client := Override{Project: "alpha"}, Override{Project: "/home/u/alpha"}, Override{Client: "Codex"}
	both, another := Override{Project: "alpha", Client: "Codex"}, Override{Project: "beta"}
	for _, c := range []struct {
		name string
		in   monitor.Instance
		list []Override
		want string
	}{
		{"nobody", server(), nil, ""},
		{"its project", server(), []Override{spared(project)}, never},
		{"another project", server(), []Override{spared(another)}, ""},
		{"its project, and it is not said", server(), []Override{project}, ""},
		{"behind one about its client", server(), []Override{client, spared(project)}, never},
		{"before one about its client", server(), []Override{spared(project), client}, never},
		{"no project", server(noProject), []Override{spared(project)}, perhapsNever},
		{"no project, and a directory", server(noProject), []Override{spared(dir)}, perhapsNever},
		{"no project, and it is not said", server(noProject), []Override{project}, ""},
		{"no project, known by its client", server(noProject), []Override{spared(another), spared(client)}, never},
		{"no project, of a kind that has none", server(noProject, other), []Override{spared(project)}, ""},
		{"no directory", server(noRoot), []Override{spared(Override{Project: "/home/u/beta"})}, perhapsNever},
		{"no directory, and another name", server(noRoot), []Override{spared(another)}, ""},
		{"no client", server(noClient), []Override{spared(client)}, perhapsNever},
		{"no client, of any kind", server(noClient, other), []Override{spared(client)}, perhapsNever},
		{"a client without a name", server(noName), []Override{spared(client)}, perhapsNever},
		{"both, no client", server(noClient), []Override{spared(both)}, perhapsNever},
		{"both, no project", server(noProject), []Override{spared(both)}, perhapsNever},
		{"both, no client and another project", server(noClient), []Override{spared(Override{Project: "beta", Client: "Codex"})}, ""},
		{"about nobody", server(noProject, noClient), []Override{spared(Override{})}, ""},
	} {
		r := settings(override(c.list...))
		if got := r.spares(&c.in); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

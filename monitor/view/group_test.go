package view

import (
	"testing"

	"lamplighter/monitor"
)

// A server that is not Serena belongs to the project of its entry, else to that in whose
// directory it works, which is called as its Serena calls it.
func TestByProject(t *testing.T) {
	server := func(dir string, entry *monitor.Entry) monitor.Instance {
		return monitor.Instance{Kind: "postgres", State: monitor.StateLive, Recognised: true, Directory: dir, Entry: entry}
	}
	serena := func(name, root string) monitor.Instance {
		return monitor.Instance{Kind: monitor.KindSerena, State: monitor.StateProject, Recognised: true, Directory: "/w/alpha-repo", ProjectName: name, ProjectRoot: root}
	}
	user := &monitor.Entry{Scope: "user", File: "/home/u/.claude.json"}
	list, want := []*monitor.Instance{}, []string{}
	for _, c := range []struct {
		in   monitor.Instance
		want string
	}{
		{serena("alpha", "/w/alpha-repo"), "alpha"},
		{serena("delta", "/w/delta-repo/"), "delta"},
		{server("/w/delta-repo", nil), "delta"},
		{server("/home/u", &monitor.Entry{Scope: "project", Project: `C:\w\epsilon\`}), "epsilon"},
		{serena("named", ""), "named"}, // it has not said yet where that is
		{serena("", ""), "No project"},
		{server("/w/alpha-repo", nil), "alpha"},
		{server("/w/alpha-repo/pkg/a", user), "alpha"},
		{server("/home/u", &monitor.Entry{Scope: "project", File: "/w/alpha-repo/.mcp.json", Project: "/w/alpha-repo"}), "alpha"},
		{server("/home/u", &monitor.Entry{Scope: "project", File: "/w/beta/.vscode/mcp.json", Project: "/w/beta"}), "beta"},
		{server("/w/beta", &monitor.Entry{Scope: "project", File: "/home/u/.claude.json"}), "beta"},
		{server("/home/u", user), "No project"},
		{server("/", user), "No project"},
		{server("/", nil), "No project"},
		{server("", nil), "No project"},
		{server("/w/alpha-repository", nil), "alpha-repository"},
		{server(`C:\w\gam`+"\x1b"+`ma`, nil), monitor.Clean("gam\x1bma")},
	} {
		list, want = append(list, new(c.in)), append(want, c.want)
	}
	for i, s := range All(&monitor.Snapshot{Instances: list}) {
		if got := ByProject(s); got != want[i] {
			t.Errorf("%+v: %q, want %q", list[i], got, want[i])
		}
	}
	if got := ByProject(&Server{ProjectName: new("old")}); got != "old" { // of a version that does not tell
		t.Errorf("%q", got)
	}
}

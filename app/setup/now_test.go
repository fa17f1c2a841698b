package setup

import (
	"testing"

	"lamplighter/monitor"
	"lamplighter/monitor/view"
)

func TestNoteRunning(t *testing.T) {
	codex := &monitor.Client{Identity: monitor.Identity{PID: 9}, Name: "Codex"}
	server := func(pid int, kind, project string, entry string, sharing *monitor.Sharing) monitor.Instance {
		in := monitor.Instance{Identity: monitor.Identity{PID: pid, Start: 1}, Kind: kind, ProjectName: project, State: monitor.StateLive, Client: codex, Sharing: sharing}
		if entry != "" {
			in.Entry = &monitor.Entry{Client: "Codex", File: "/c.toml", Name: entry, Scope: "user"}
		}
		return in
	}
	by := func(names ...string) *monitor.Sharing {
		s := &monitor.Sharing{}
		for _, name := range names {
			s.Clients = append(s.Clients, monitor.Client{Name: name})
		}
		return s
	}
	parked := server(7, "serena", "gamma", "", by("Codex"))
	parked.State = monitor.StateParked
	servers := view.All(&monitor.Snapshot{Instances: []*monitor.Instance{
		new(server(1, "memory", "", "notes", nil)),
		new(server(2, "memory", "", "notes", nil)),
		new(server(3, "serena", "alpha", "", by("Codex", "Cursor"))),
		new(server(4, "serena", "beta", "", by("Cursor"))),
		new(server(5, "memory", "", "", by("Codex"))),
		new(parked),
	}})
	list := []Client{
		{Name: "Codex", Files: []File{{Path: "/c.toml", Scope: User, Entries: []Entry{
			{Name: "notes", State: Direct}, {Name: "serena", State: Shared, Serena: true, Runs: "serena start-mcp-server"}, {Name: "kept", State: Shared, Runs: "npx server-memory"},
			{Name: "other", State: Shared, Runs: "npx server-time"}, {Name: "direct", State: Direct, Serena: true},
			{Name: "off", Off: true, State: Shared, Serena: true, Runs: "serena start-mcp-server"},
		}}, {Path: "/other.toml", Scope: User, Entries: []Entry{{Name: "notes", State: Direct}}}}},
		{Name: "Cursor", Files: []File{{Path: "/c.toml", Scope: User, Entries: []Entry{{Name: "notes", State: Direct}}}}},
	}
	NoteRunning(list, servers)
	for at, want := range []string{"1 - notes, 2 - notes", "3 - alpha (shared, 2 clients)", "5 - memory (shared, 1 client)", "", "", ""} {
		if got := list[0].Files[0].Entries[at]; got.Now != want {
			t.Errorf("%s: %q, want %q", got.Name, got.Now, want)
		}
	}
	for _, other := range []Entry{list[0].Files[1].Entries[0], list[1].Files[0].Entries[0]} {
		if other.Now != "" {
			t.Errorf("of another file or client: %q", other.Now)
		}
	}
}

package policy

import (
	"slices"
	"testing"
	"time"

	"lamplighter/monitor"
)

func TestSelect(t *testing.T) {
	const connected = "its client Codex (7) is connected"
	for _, c := range []struct {
		name string
		what Rule
		in   monitor.Instance
		r    Rules
		want string // "" = not meant
	}{
		{"idle", Idle, server(), settings(), "end idle"},
		{"idle for the time of the settings", Idle, server(idleFor(2 * time.Minute)), settings(func(r *Rules) { r.IdleAfter = 2 * time.Minute }), "end idle"},
		{"idle, less than the settings say", Idle, server(idleFor(20 * time.Minute)), settings(), ""},
		{"idle, the settings say nothing", Idle, server(idleFor(idleForOrder)), settings(func(r *Rules) { r.IdleAfter = 0 }), "end idle"},
		{"idle for too short, the settings say nothing", Idle, server(idleFor(idleForOrder - 1)), settings(func(r *Rules) { r.IdleAfter = 0 }), ""},
		{"idle, the rule is off", Idle, server(), settings(off(Idle)), "end idle"},
		{"idle, paused", Idle, server(), settings(pause), "end idle"},
		{"idle since tomorrow", Idle, server(idleFor(-24 * time.Hour)), settings(), ""},
		{"idle, attached", Idle, server(stdio), settings(), "refuse idle: " + connected},
		{"idle, attached, allowed", Idle, server(stdio), settings(func(r *Rules) { r.IdleAttached = true }), "end idle"},
		{"idle REPL", Idle, server(repl), settings(), "refuse idle: it keeps variables of its clients, which would be lost"},
		{"idle session", Idle, server(session), settings(), "refuse idle: it ends when its session is released"},
		{"idle and shared", Idle, server(shared, withClients), settings(), "end idle"},
		{"idle, shared and REPL", Idle, server(shared, withClients, repl), settings(), "refuse idle: it keeps variables of its clients, which would be lost"},
		{"idle and pinned", Idle, server(pin), settings(), "refuse idle: it is pinned"},
		{"idle and kept", Idle, server(), settings(keep), "refuse idle: it is kept"},
		{"idle, never", Idle, server(), settings(override(Override{Project: "ALPHA", Never: true})), "refuse idle: the settings say that no policy ends it"},
		{"idle orphan", Idle, server(orphan(time.Minute)), settings(), "end idle"},
		{"busy, of the idle", Idle, server(working), settings(), ""},
		{"mute, of the idle", Idle, server(mute), settings(), "refuse idle: whether it is at work cannot be told"},
		{"parked, of the idle", Idle, server(func(in *monitor.Instance) { in.State = monitor.StateParked }), settings(), ""},

		{"orphan without any grace", Orphans, server(orphan(0)), settings(), "end orphans"},
		{"orphan that hangs", Orphans, server(orphan(0), mute), settings(), "end orphans"},
		{"orphan, the rule is off", Orphans, server(orphan(0)), settings(off(Orphans)), "end orphans"},
		{"orphan, the rule has no time", Orphans, server(orphan(0)), settings(func(r *Rules) { r.OrphanGrace = 0 }), "end orphans"},
		{"orphan, paused", Orphans, server(orphan(0)), settings(pause), "end orphans"},
		{"orphan at work", Orphans, server(orphan(0), working), settings(), "refuse orphans: it is at work"},
		{"orphan and pinned", Orphans, server(orphan(0), pin), settings(), "refuse orphans: it is pinned"},
		{"orphan and kept", Orphans, server(orphan(0)), settings(keep), "refuse orphans: it is kept"},
		{"orphan of a session", Orphans, server(orphan(0), session), settings(), "refuse orphans: it ends when its session is released"},
		{"suspected", Orphans, server(suspect), settings(), "refuse orphans: its client was never seen, so that it may be in use"},
		{"no orphan", Orphans, server(stdio), settings(), ""},

		{"of all", Everything, server(stdio), settings(), "end "},
		{"mute, of all", Everything, server(mute), settings(), "end "},
		{"session, of all", Everything, server(session), settings(), "end "},
		{"shared, of all", Everything, server(shared, withClients), settings(), "end "},
		{"REPL, of all", Everything, server(repl), settings(), "end "},
		{"kept, of all", Everything, server(), settings(keep), "end "},
		{"busy, of all", Everything, server(working), settings(), "refuse : it is at work"},
		{"pinned, of all", Everything, server(pin), settings(), "refuse : it is pinned"},
		{"unidentified, of all", Everything, server(func(in *monitor.Instance) { in.Identity.Start = 0 }), settings(), "refuse : it cannot be told for certain from other processes"},
		{"not recognised, of all", Everything, server(func(in *monitor.Instance) { in.Recognised = false }), settings(), ""},
		{"parked, of all", Everything, server(func(in *monitor.Instance) { in.State = monitor.StateParked }), settings(), ""},
		{"exited, of all", Everything, server(red(monitor.CauseDefunct, time.Hour)), settings(), ""},

		{"an order for nothing known", Rule("everything"), server(), settings(), ""},
	} {
		var want []string
		if c.want != "" {
			want = []string{c.want}
		}
		actions := Select(&monitor.Snapshot{At: noon, Instances: []*monitor.Instance{new(c.in)}}, c.what, c.r)
		if got := short(actions); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", c.name, got, want)
		}
		for _, a := range actions {
			if a.ID != c.in.Identity || a.Reason == "" || len(a.Evidence()) == 0 {
				t.Errorf("%s: an action lacks something: %+v", c.name, a)
			}
		}
	}
}

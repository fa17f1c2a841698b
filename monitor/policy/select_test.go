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
		what What
		in   monitor.Instance
		r    Rules
		want string // "" = not meant
	}{
		{"idle", WhatIdle, server(), settings(), "end idle"},
		{"idle for the time of the settings", WhatIdle, server(idleFor(2 * time.Minute)), settings(func(r *Rules) { r.IdleAfter = 2 * time.Minute }), "end idle"},
		{"idle, less than the settings say", WhatIdle, server(idleFor(20 * time.Minute)), settings(), ""},
		{"idle, the settings say nothing", WhatIdle, server(idleFor(idleForOrder)), settings(func(r *Rules) { r.IdleAfter = 0 }), "end idle"},
		{"idle for too short, the settings say nothing", WhatIdle, server(idleFor(idleForOrder - 1)), settings(func(r *Rules) { r.IdleAfter = 0 }), ""},
		{"idle, the rule is off", WhatIdle, server(), settings(off(Idle)), "end idle"},
		{"idle, paused", WhatIdle, server(), settings(pause), "end idle"},
		{"idle since tomorrow", WhatIdle, server(idleFor(-24 * time.Hour)), settings(), ""},
		{"idle, attached", WhatIdle, server(stdio), settings(), "refuse idle: " + connected},
		{"idle, attached, allowed", WhatIdle, server(stdio), settings(func(r *Rules) { r.IdleAttached = true }), "end idle"},
		{"idle REPL", WhatIdle, server(repl), settings(), "refuse idle: it keeps variables of its clients, which would be lost"},
		{"idle session", WhatIdle, server(session), settings(), "refuse idle: it ends when its session is released"},
		{"idle and shared", WhatIdle, server(shared, withClients), settings(), "end idle"},
		{"idle, shared and REPL", WhatIdle, server(shared, withClients, repl), settings(), "refuse idle: it keeps variables of its clients, which would be lost"},
		{"idle and pinned", WhatIdle, server(pin), settings(), "refuse idle: it is pinned"},
		{"idle and kept", WhatIdle, server(), settings(keep), "refuse idle: it is kept"},
		{"idle, never", WhatIdle, server(), settings(override(Override{Project: "ALPHA", Never: true})), "refuse idle: the settings say that no policy ends it"},
		{"idle orphan", WhatIdle, server(orphan(time.Minute)), settings(), "end idle"},
		{"busy, of the idle", WhatIdle, server(working), settings(), ""},
		{"mute, of the idle", WhatIdle, server(mute), settings(), "refuse idle: whether it is at work cannot be told"},
		{"parked, of the idle", WhatIdle, server(func(in *monitor.Instance) { in.State = monitor.StateParked }), settings(), ""},

		{"orphan without any grace", WhatOrphans, server(orphan(0)), settings(), "end orphans"},
		{"orphan that hangs", WhatOrphans, server(orphan(0), mute), settings(), "end orphans"},
		{"orphan, the rule is off", WhatOrphans, server(orphan(0)), settings(off(Orphans)), "end orphans"},
		{"orphan, the rule has no time", WhatOrphans, server(orphan(0)), settings(func(r *Rules) { r.OrphanGrace = 0 }), "end orphans"},
		{"orphan, paused", WhatOrphans, server(orphan(0)), settings(pause), "end orphans"},
		{"orphan at work", WhatOrphans, server(orphan(0), working), settings(), "refuse orphans: it is at work"},
		{"orphan and pinned", WhatOrphans, server(orphan(0), pin), settings(), "refuse orphans: it is pinned"},
		{"orphan and kept", WhatOrphans, server(orphan(0)), settings(keep), "refuse orphans: it is kept"},
		{"orphan of a session", WhatOrphans, server(orphan(0), session), settings(), "refuse orphans: it ends when its session is released"},
		{"suspected", WhatOrphans, server(suspect), settings(), "refuse orphans: its client was never seen, so that it may be in use"},
		{"no orphan", WhatOrphans, server(stdio), settings(), ""},

		{"of all", WhatAll, server(stdio), settings(), "end "},
		{"mute, of all", WhatAll, server(mute), settings(), "end "},
		{"session, of all", WhatAll, server(session), settings(), "end "},
		{"shared, of all", WhatAll, server(shared, withClients), settings(), "end "},
		{"REPL, of all", WhatAll, server(repl), settings(), "end "},
		{"kept, of all", WhatAll, server(), settings(keep), "end "},
		{"busy, of all", WhatAll, server(working), settings(), "refuse : it is at work"},
		{"pinned, of all", WhatAll, server(pin), settings(), "refuse : it is pinned"},
		{"unidentified, of all", WhatAll, server(func(in *monitor.Instance) { in.Identity.Start = 0 }), settings(), "refuse : it cannot be told for certain from other processes"},
		{"not recognised, of all", WhatAll, server(func(in *monitor.Instance) { in.Recognised = false }), settings(), ""},
		{"parked, of all", WhatAll, server(func(in *monitor.Instance) { in.State = monitor.StateParked }), settings(), ""},
		{"exited, of all", WhatAll, server(red(monitor.CauseDefunct, time.Hour)), settings(), ""},

		{"an order for nothing known", What("everything"), server(), settings(), ""},
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

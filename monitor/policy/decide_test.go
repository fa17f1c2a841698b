package policy

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"lamplighter/monitor"
)

// noon is the time of all tables.
var noon = time.Date(2026, time.November, 21, 12, 0, 0, 0, time.UTC)

func ago(d time.Duration) time.Time { return noon.Add(-d) }

func pointer[T any](v T) *T { return &v }

// settings are those of a fresh install, with idle shutdown after 30 min.
func settings(change ...func(*Rules)) Rules {
	r := Rules{OrphanGrace: 10 * time.Minute, IdleAfter: 30 * time.Minute, ZombieAfter: 10 * time.Minute, MemoryOver: 2_000_000_000, Duplicates: true}
	for _, c := range change {
		c(&r)
	}
	return r
}

// server is one over HTTP that has been idle for an hour.
func server(change ...func(*monitor.Instance)) monitor.Instance {
	in := monitor.Instance{
		Identity: monitor.Identity{PID: 100, Start: 1000}, Kind: monitor.KindSerena, Port: 24282,
		ProjectName: "alpha", ProjectRoot: "/home/u/alpha", State: monitor.StateProject,
		Busy: pointer(false), RSSBytes: 640_000_000, Processes: 3, Recognised: true,
		Client: &monitor.Client{Identity: monitor.Identity{PID: 7, Start: 70}, Name: "Codex"},
		Evidence: monitor.Evidence{
			Transport: "http", IdleSince: ago(time.Hour), KeepsState: pointer(false),
		},
	}
	for _, c := range change {
		c(&in)
	}
	return in
}

func stdio(in *monitor.Instance)   { in.Evidence.Transport = "stdio" }
func repl(in *monitor.Instance)    { in.Evidence.KeepsState = pointer(true) }
func pin(in *monitor.Instance)     { in.Pinned = true }
func working(in *monitor.Instance) { in.Busy, in.Evidence.IdleSince = pointer(true), time.Time{} }
func mute(in *monitor.Instance)    { in.Busy, in.Evidence.IdleSince = nil, time.Time{} }
func session(in *monitor.Instance) {
	in.Managed, in.Lifetime = true, monitor.LifetimeSession
}
func shared(in *monitor.Instance) { in.Managed, in.Lifetime = true, monitor.LifetimeShared }
func withClients(in *monitor.Instance) {
	in.Sharing = &monitor.Sharing{Clients: []monitor.Client{{Name: "Codex"}, {Name: "Claude Code"}}}
}
func large(in *monitor.Instance) { in.RSSBytes = 3_000_000_000 }

func sizeOf(bytes uint64) func(*monitor.Instance) {
	return func(in *monitor.Instance) { in.RSSBytes = bytes }
}

// before is one whose tree was larger a moment ago.
func before(bytes uint64) func(*monitor.Instance) {
	return func(in *monitor.Instance) { in.Evidence.SteadyBytes = bytes }
}

func idleFor(d time.Duration) func(*monitor.Instance) {
	return func(in *monitor.Instance) { in.Evidence.IdleSince = ago(d) }
}

// orphan is one that was found to be so that long ago.
func orphan(d time.Duration) func(*monitor.Instance) {
	return func(in *monitor.Instance) {
		stdio(in)
		in.State, in.Cause = monitor.StateZombie, monitor.CauseOrphaned
		in.Evidence.Orphaned, in.Evidence.ClientGone = true, true
		in.Evidence.AloneSince, in.Evidence.RedSince = ago(d), ago(d-10*time.Second)
	}
}

// suspect is one whose link was never recorded.
func suspect(in *monitor.Instance) {
	orphan(time.Hour)(in)
	in.Cause = monitor.CauseSuspected
	in.Evidence.Orphaned, in.Evidence.Suspected, in.Evidence.ClientGone = false, true, false
}

func red(cause monitor.Cause, d time.Duration) func(*monitor.Instance) {
	return func(in *monitor.Instance) {
		mute(in)
		in.State, in.Cause, in.Evidence.RedSince = monitor.StateZombie, cause, ago(d)
	}
}

func unused(in *monitor.Instance) { in.Evidence.NoUsers = true }

func keep(r *Rules) {
	r.Kept = map[monitor.Identity]time.Time{{PID: 100, Start: 1000}: noon.Add(time.Hour)}
}

// refused is one whose end a rule may try again in an hour.
func refused(rule Rule) func(*monitor.Instance) {
	return func(in *monitor.Instance) {
		in.Evidence.Refused = monitor.Refused{Rule: string(rule), Why: "it is in use", Until: noon.Add(time.Hour)}
	}
}

func off(rule Rule) func(*Rules) {
	return func(r *Rules) { r.Off = map[Rule]bool{rule: true} }
}

// short tells the actions in a form for tables.
func short(actions []Action) []string {
	list := []string{}
	for _, a := range actions {
		text := fmt.Sprintf("%s %s", a.Do, a.Rule)
		if a.GivesUp {
			text = fmt.Sprintf("gives up %s", a.Rule)
		}
		if a.Do == Wait {
			text += fmt.Sprintf(" in %v", a.At.Sub(noon))
		}
		if a.Because != "" {
			text += ": " + a.Because
		}
		list = append(list, text)
	}
	return list
}

// actionsOf are those that are decided.
func actionsOf(s *monitor.Snapshot, r Rules) []Action {
	actions, _ := Decide(s, r)
	return actions
}

func TestDecide(t *testing.T) {
	const (
		connected = "its client Codex (7) is connected"
		never     = "the settings say that no policy ends it"
	)
	for _, c := range []struct {
		name string
		in   monitor.Instance
		r    Rules
		want []string
	}{
		// Idle.
		{"idle", server(), settings(), []string{"end idle"}},
		{"idle just long enough", server(idleFor(30 * time.Minute)), settings(), []string{"end idle"}},
		{"idle, not yet", server(idleFor(26 * time.Minute)), settings(), []string{"wait idle in 4m0s"}},
		{"idle, the rule has no time", server(), settings(func(r *Rules) { r.IdleAfter = 0 }), nil},
		{"idle, the rule is off", server(), settings(off(Idle)), nil},
		{"busy", server(working), settings(), nil},
		{"busy, and idle since an hour", server(func(in *monitor.Instance) { in.Busy = pointer(true) }), settings(), nil},
		{"does not say", server(mute), settings(), nil},
		{"did not say last time", server(func(in *monitor.Instance) { in.Busy = nil }), settings(), nil},
		{"idle since nobody knows when", server(func(in *monitor.Instance) { in.Evidence.IdleSince = time.Time{} }), settings(), nil},
		{"idle, attached", server(stdio), settings(), []string{"notify idle: " + connected}},
		{"idle, attached, not yet", server(stdio, idleFor(time.Minute)), settings(), nil},
		{"idle, attached, allowed", server(stdio), settings(func(r *Rules) { r.IdleAttached = true }), []string{"end idle"}},
		{"idle, nobody knows how it is reached", server(func(in *monitor.Instance) { in.Evidence.Transport = "" }), settings(), []string{"notify idle: " + connected}},
		{"idle, attached to nobody knows whom", server(stdio, func(in *monitor.Instance) { in.Client = nil }), settings(), []string{"notify idle: whether somebody is connected cannot be told"}},
		{"idle REPL", server(repl), settings(), []string{"notify idle: it keeps variables of its clients, which would be lost"}},
		{"idle REPL, allowed", server(repl), settings(func(r *Rules) { r.IdleREPL = true }), []string{"end idle"}},
		{"idle, attached REPL, half allowed", server(stdio, repl), settings(func(r *Rules) { r.IdleAttached = true }), []string{"notify idle: it keeps variables of its clients, which would be lost"}},
		{"idle, perhaps a REPL", server(func(in *monitor.Instance) { in.Evidence.KeepsState = nil }), settings(), []string{"notify idle: whether it keeps variables of its clients is not known"}},
		{"idle session", server(session), settings(), []string{"notify idle: it ends when its session is released"}},
		{"idle, ours, nobody knows for how long", server(session, func(in *monitor.Instance) { in.Lifetime = "" }), settings(), []string{"notify idle: it ends when its session is released"}},
		{"idle and shared", server(shared), settings(), []string{"end idle"}},
		{"idle and pinned", server(pin), settings(), []string{"refuse idle: it is pinned"}},
		{"idle and pinned, not yet", server(pin, idleFor(time.Minute)), settings(), nil},
		{"idle and kept", server(), settings(keep), []string{"refuse idle: it is kept"}},
		{"idle and kept until now", server(), settings(keep, func(r *Rules) { r.Kept[monitor.Identity{PID: 100, Start: 1000}] = noon }), []string{"end idle"}},
		{"idle, another with its pid was kept", server(func(in *monitor.Instance) { in.Identity.Start++ }), settings(keep), []string{"end idle"}},
		{"idle since tomorrow", server(idleFor(-24 * time.Hour)), settings(), []string{"wait idle in 24h30m0s"}},

		// Orphans.
		{"orphan", server(orphan(time.Hour)), settings(), []string{"end orphans"}},
		{"orphan just long enough", server(orphan(10*time.Minute), mute), settings(), []string{"end orphans"}},
		{"orphan, not yet", server(orphan(9*time.Minute), mute), settings(), []string{"wait orphans in 1m0s"}},
		{"orphan that hangs", server(orphan(time.Hour), mute), settings(), []string{"end orphans"}},
		{"orphan that is suspended", server(orphan(time.Hour), mute, func(in *monitor.Instance) { in.Reason = "suspended" }), settings(), []string{"end orphans"}},
		{"orphan with variables that nobody can reach", server(orphan(time.Hour), repl), settings(), []string{"end orphans"}},
		{"orphan at work", server(orphan(time.Hour), working), settings(off(Zombies)), []string{"refuse orphans: it is at work"}},
		{"orphan at work, for long", server(orphan(time.Hour), working), settings(), []string{"refuse orphans: it is at work", "notify zombies: it is at work"}},
		{"orphan and pinned", server(orphan(time.Hour), pin), settings(), []string{"refuse orphans: it is pinned"}},
		{"orphan and kept", server(orphan(time.Hour)), settings(keep), []string{"refuse orphans: it is kept"}},
		{"orphan of a session", server(orphan(time.Hour), session, mute), settings(off(Zombies)), []string{"refuse orphans: it ends when its session is released"}},
		{"orphan, the rule is off", server(orphan(time.Hour), mute), settings(off(Orphans)), []string{"notify zombies: the rule for orphans does not end it"}},
		{"orphan, the rule has no time", server(orphan(time.Hour), mute), settings(func(r *Rules) { r.OrphanGrace = 0 }), []string{"notify zombies: the rule for orphans does not end it"}},
		{"orphan that is idle too, the grace is long", server(orphan(time.Hour)), settings(func(r *Rules) { r.OrphanGrace = 2 * time.Hour }), []string{"end idle"}},
		{"orphan since nobody knows when", server(orphan(time.Hour), mute, func(in *monitor.Instance) { in.Evidence.AloneSince = time.Time{} }), settings(off(Zombies)), nil},
		{"orphan, its client lives", server(orphan(time.Hour), func(in *monitor.Instance) { in.Evidence.ClientGone = false }), settings(), []string{"notify orphans: its client was not seen to end"}},
		{"orphan, it listens", server(orphan(time.Hour), func(in *monitor.Instance) { in.Evidence.Transport = "http" }), settings(off(Idle)), []string{"notify orphans: others may be connected over HTTP"}},
		{"suspected", server(suspect), settings(), []string{"notify orphans: its client was never seen, so that it may be in use"}},
		{"suspected, not yet", server(suspect, func(in *monitor.Instance) { in.Evidence.AloneSince = noon }), settings(), nil},
		{"suspected, its client has ended", server(suspect, func(in *monitor.Instance) { in.Evidence.ClientGone = true }), settings(), []string{"notify orphans: whether somebody is connected cannot be told"}},
		{"suspected and pinned", server(suspect, pin), settings(off(Idle)), nil},
		{"only its client has gone", server(stdio, func(in *monitor.Instance) { in.Evidence.ClientGone = true }), settings(), []string{"notify idle: whether somebody is connected cannot be told"}},

		// Zombies.
		{"hung", server(red(monitor.CauseUnreachable, 10*time.Minute)), settings(), []string{"notify zombies: whether it is at work cannot be told"}},
		{"hung, not yet", server(red(monitor.CauseUnreachable, time.Minute)), settings(), nil},
		{"hung at work", server(red(monitor.CauseUnreachable, time.Hour), working), settings(), []string{"notify zombies: it is at work"}},
		{"suspended", server(red(monitor.CauseSuspended, time.Hour)), settings(), []string{"notify zombies: it may be continued"}},
		{"suspended, and nobody is connected", server(red(monitor.CauseSuspended, 10*time.Minute), unused), settings(), []string{"gives up zombies: " + givenUp}},
		{"suspended, and nobody is connected, not yet", server(red(monitor.CauseSuspended, 9*time.Minute), unused), settings(), nil},
		{"suspended without a client", server(suspect, red(monitor.CauseSuspended, 10*time.Minute)), settings(), []string{"gives up orphans: its client was never seen, so that it may be in use"}},
		{"suspended, and ours", server(red(monitor.CauseSuspended, 10*time.Minute), unused, session), settings(), []string{"notify zombies: it may be continued"}},
		{"hung, and nobody is connected", server(red(monitor.CauseUnreachable, time.Hour), unused), settings(), []string{"gives up zombies: " + givenUp}},
		{"hung, nobody is connected, paused", server(red(monitor.CauseUnreachable, time.Hour), unused), settings(func(r *Rules) { r.Paused = true }), nil},
		{"hung, nobody is connected, kept", server(red(monitor.CauseUnreachable, time.Hour), unused), settings(keep), nil},
		{"a suspect that answers", server(suspect, red(monitor.CauseSuspected, time.Hour)), settings(), []string{"notify orphans: its client was never seen, so that it may be in use"}},
		{"its language server is dead", server(red(monitor.CauseLanguageServer, time.Hour)), settings(), []string{"notify zombies: its process is well"}},
		{"its language server is dead, at work", server(red(monitor.CauseLanguageServer, time.Hour), working), settings(), []string{"notify zombies: it is at work"}},
		{"exited", server(red(monitor.CauseDefunct, time.Hour)), settings(), nil},
		{"hung, the rule is off", server(red(monitor.CauseUnreachable, time.Hour)), settings(off(Zombies)), nil},
		{"hung and pinned", server(red(monitor.CauseUnreachable, time.Hour), pin), settings(), nil},

		// Memory.
		{"large", server(large, working), settings(), []string{"notify memory"}},
		{"large and pinned", server(large, pin, working), settings(), []string{"notify memory"}},
		{"large and kept", server(large, working), settings(keep), nil},
		{"large, kept and pinned", server(large, pin, working), settings(keep), nil},
		{"large, the rule is off", server(large, working), settings(off(Memory)), nil},
		{"just not large", server(working, func(in *monitor.Instance) { in.RSSBytes = 2_000_000_000 }), settings(), nil},
		{"large, to be ended, idle", server(large), settings(memoryEnds), []string{"end memory"}},
		{"large, to be ended, idle, not yet", server(large, idleFor(8*time.Minute)), settings(memoryEnds), []string{"wait memory in 2m0s"}},
		{"large, to be ended, busy", server(large, working), settings(memoryEnds), []string{"notify memory: it is at work"}},
		{"large, to be ended, does not say", server(large, mute), settings(memoryEnds), []string{"notify memory: whether it is at work cannot be told"}},
		{"large, to be ended, attached", server(large, stdio), settings(memoryEnds), []string{"notify memory: " + connected}},
		{"large, to be ended, REPL", server(large, repl), settings(memoryEnds), []string{"notify memory: it keeps variables of its clients, which would be lost"}},
		{"large, to be ended, pinned", server(large, pin), settings(memoryEnds), []string{"notify memory: it is pinned"}},
		{"large, sooner to be ended than idle", server(large, idleFor(9*time.Minute)), settings(func(r *Rules) { r.MemoryEnd = true }), []string{"wait memory in 1m0s"}},
		{"large, sooner idle", server(large, idleFor(4*time.Minute)), settings(func(r *Rules) { r.MemoryEnd, r.IdleAfter = true, 5*time.Minute }), []string{"wait idle in 1m0s"}},
		{"large and idle", server(large), settings(), []string{"end idle"}},
		{"large, soon idle for long enough", server(large, idleFor(26*time.Minute)), settings(), []string{"wait idle in 4m0s", "notify memory"}},

		{"large before", server(sizeOf(1_900_000_000), before(2_100_000_000), working), settings(), []string{"notify memory"}},
		{"large before, to be ended", server(sizeOf(1_900_000_000), before(2_100_000_000)), settings(memoryEnds), []string{"end memory"}},
		{"large before, to be ended, idle, not yet", server(sizeOf(1_900_000_000), before(2_100_000_000), idleFor(8*time.Minute)), settings(memoryEnds), []string{"wait memory in 2m0s"}},
		{"large before, to be ended, pinned", server(sizeOf(1_900_000_000), before(2_100_000_000), pin), settings(memoryEnds), []string{"notify memory: it is pinned"}},
		{"large before, now clearly not", server(sizeOf(1_800_000_000), before(1_800_000_000)), settings(memoryEnds), nil},
		{"large before, by another limit", server(sizeOf(1_900_000_000), before(2_000_000_000)), settings(memoryEnds), nil},
		{"large before, the rule is off", server(sizeOf(1_900_000_000), before(2_100_000_000)), settings(memoryEnds, off(Memory)), nil},

		// Refused.
		{"idle, refused", server(refused(Idle)), settings(), []string{"wait idle in 1h0m0s"}},
		{"idle, refused until now", server(refused(Idle), func(in *monitor.Instance) { in.Evidence.Refused.Until = noon }), settings(), []string{"end idle"}},
		{"idle, refused, not yet", server(refused(Idle), idleFor(-time.Hour)), settings(), []string{"wait idle in 1h30m0s"}},
		{"idle, refused and pinned", server(refused(Idle), pin), settings(), []string{"refuse idle: it is pinned"}},
		{"idle, refused as an orphan", server(refused(Orphans), orphan(time.Hour)), settings(), []string{"wait orphans in 1h0m0s"}},
		{"orphan, refused when it was idle", server(refused(Idle), orphan(time.Hour)), settings(), []string{"end orphans"}},
		{"idle, refused for its memory", server(refused(Memory), large), settings(func(r *Rules) { r.MemoryEnd = true }), []string{"end idle"}},
		{"large, refused for its memory", server(refused(Memory), large), settings(memoryEnds), []string{"wait memory in 1h0m0s"}},

		// What clients share is parked, which is no business of the rules.
		{"shared, idle", server(shared, withClients), settings(), []string{"refuse idle: " + isShared}},
		{"shared, idle, without clients", server(shared, func(in *monitor.Instance) { in.Sharing = &monitor.Sharing{} }), settings(), []string{"refuse idle: " + isLingering}},
		{"shared, idle, not yet", server(shared, withClients, idleFor(time.Minute)), settings(), nil},
		{"shared, idle, REPL", server(shared, withClients, repl), settings(), []string{"refuse idle: " + isShared}},
		{"shared, busy", server(shared, withClients, working), settings(), nil},
		{"shared and pinned", server(shared, withClients, pin), settings(), []string{"refuse idle: it is pinned"}},
		{"shared, large", server(shared, withClients, large), settings(func(r *Rules) { r.MemoryEnd, r.IdleAfter = true, 0 }), []string{"notify memory: " + isShared}},
		{"shared, red", server(shared, withClients, red(monitor.CauseUnreachable, time.Hour), mute), settings(), []string{"notify zombies: " + silent}},
		{"one client's alone", server(func(in *monitor.Instance) { in.Sharing = &monitor.Sharing{Alone: "its context codex"} }), settings(), []string{"end idle"}},

		// Whom no rule is about.
		{"not recognised", server(func(in *monitor.Instance) { in.Recognised = false }, large), settings(), nil},
		{"parked", server(func(in *monitor.Instance) { in.State = monitor.StateParked }), settings(), nil},
		{"without a pid", server(func(in *monitor.Instance) { in.Identity.PID = 0 }), settings(), []string{"refuse idle: it cannot be told for certain from other processes"}},
		{"without a start", server(func(in *monitor.Instance) { in.Identity.Start = 0 }), settings(), []string{"refuse idle: it cannot be told for certain from other processes"}},
		{"our keeper", server(shared, func(in *monitor.Instance) { in.Keeper = in.Identity }), settings(), []string{"refuse idle: it cannot be told for certain from other processes"}},

		// Paused.
		{"idle, paused", server(), settings(pause), []string{"refuse idle: the policies are paused"}},
		{"idle, not yet, paused", server(idleFor(time.Minute)), settings(pause), nil},
		{"idle and pinned, paused", server(pin), settings(pause), []string{"refuse idle: it is pinned"}},
		{"orphan, paused", server(orphan(time.Hour)), settings(pause), []string{"refuse orphans: the policies are paused"}},
		{"idle, paused until now", server(), settings(pause, func(r *Rules) { r.PausedUntil = noon }), []string{"end idle"}},
		{"large, paused", server(large, working), settings(pause), nil},

		// Overrides.
		{"never", server(), settings(override(Override{Project: "alpha", Never: true})), []string{"refuse idle: " + never}},
		{"never, orphan", server(orphan(time.Hour)), settings(override(Override{Client: "codex", Never: true})), []string{"refuse orphans: " + never}},
		{"never, behind another", server(), settings(override(Override{Project: "alpha", MemoryOver: pointer(uint64(9_000_000_000))}, Override{Client: "Codex", Never: true})), []string{"refuse idle: " + never}},
		{"never, perhaps", server(func(in *monitor.Instance) { in.ProjectName, in.ProjectRoot = "", "" }), settings(override(Override{Project: "alpha", Never: true})), []string{"refuse idle: " + perhapsNever}},
		{"never, large", server(large, working), settings(override(Override{Project: "alpha", Never: true})), []string{"notify memory"}},
		{"a longer time", server(), settings(override(Override{Project: "/home/u/alpha/", IdleAfter: pointer(2 * time.Hour)})), []string{"wait idle in 1h0m0s"}},
		{"off for one", server(), settings(override(Override{Project: "alpha", IdleAfter: pointer(time.Duration(0))})), nil},
		{"on for one", server(), settings(func(r *Rules) { r.IdleAfter = 0 }, override(Override{Client: "Codex", IdleAfter: pointer(time.Minute)})), []string{"end idle"}},
		{"on for one, the rule is off", server(), settings(off(Idle), override(Override{Client: "Codex", IdleAfter: pointer(time.Minute)})), nil},
		{"a longer grace", server(orphan(time.Hour), mute), settings(override(Override{Client: "Codex", OrphanGrace: pointer(2 * time.Hour)})), []string{"wait orphans in 1h0m0s"}},
		{"a larger size", server(large, working), settings(override(Override{Client: "Codex", MemoryOver: pointer(uint64(4_000_000_000))})), nil},
		{"for another project", server(), settings(override(Override{Project: "beta", Never: true})), []string{"end idle"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &monitor.Snapshot{At: noon, Instances: []*monitor.Instance{new(c.in)}}
			actions := actionsOf(s, c.r)
			if got := short(actions); !slices.Equal(got, c.want) {
				t.Errorf("decided %q, want %q", got, c.want)
			}
			for _, a := range actions {
				if a.ID != c.in.Identity || a.Label != c.in.Label() || a.Reason == "" || len(a.Evidence()) == 0 {
					t.Errorf("an action lacks something: %+v", a)
				}
			}
		})
	}
}

// TestDecideAwake: a time in which the machine slept begins anew.
func TestDecideAwake(t *testing.T) {
	for _, c := range []struct {
		name  string
		in    monitor.Instance
		awake time.Time
		want  []string
	}{
		{"idle, for longer than awake", server(), ago(10 * time.Minute), []string{"wait idle in 20m0s"}},
		{"idle, and just awake", server(), noon, []string{"wait idle in 30m0s"}},
		{"orphan, and just awake", server(orphan(time.Hour), mute), noon, []string{"wait orphans in 10m0s"}},
		{"hung, and just awake", server(red(monitor.CauseUnreachable, time.Hour)), noon, nil},
	} {
		s := &monitor.Snapshot{At: noon, AwakeSince: c.awake, Instances: []*monitor.Instance{new(c.in)}}
		if got := short(actionsOf(s, settings())); !slices.Equal(got, c.want) {
			t.Errorf("%s: decided %q, want %q", c.name, got, c.want)
		}
	}
	// The user is there.
	s := &monitor.Snapshot{At: noon, AwakeSince: noon, Instances: []*monitor.Instance{new(server())}}
	if got := short(Select(s, Idle, settings())); !slices.Equal(got, []string{"end idle"}) {
		t.Errorf("an order for the idle ones: %q", got)
	}
	if err := Confirm(s.Instances[0], Idle, s, settings()); err == nil {
		t.Error("it is ended by the rule for idle ones")
	}
}

func memoryEnds(r *Rules) { r.MemoryEnd, r.IdleAfter = true, 0 }
func pause(r *Rules)      { r.Paused = true }

func override(list ...Override) func(*Rules) {
	return func(r *Rules) { r.Overrides = list }
}

func TestReasons(t *testing.T) {
	for _, c := range []struct {
		in   monitor.Instance
		want string
	}{
		{server(), "no call for 30 min"},
		{server(orphan(time.Hour)), "its client Codex (7) has ended"},
		{server(orphan(time.Hour), func(in *monitor.Instance) { in.Client = nil }), "its client has ended"},
		{server(orphan(time.Hour), func(in *monitor.Instance) { in.Evidence.ClientGone = false }), "its client Codex (7) has closed the connection"},
		{server(suspect), "its client seems to be gone"},
		{server(red(monitor.CauseUnreachable, time.Hour)), "it has needed attention for 10 min"},
		{server(large, working), "it uses more than 2.0 GB"},
	} {
		actions := actionsOf(&monitor.Snapshot{At: noon, Instances: []*monitor.Instance{new(c.in)}}, settings())
		if len(actions) == 0 || actions[0].Reason != c.want {
			t.Errorf("decided %+v, want the reason %q", actions, c.want)
		}
	}
}

func TestNext(t *testing.T) {
	for _, c := range []struct {
		name string
		in   monitor.Instance
		r    Rules
		want time.Time
	}{
		{"idle", server(), settings(), time.Time{}},
		{"idle, not yet", server(idleFor(26 * time.Minute)), settings(), noon.Add(4 * time.Minute)},
		{"idle, attached, not yet", server(stdio, idleFor(26*time.Minute)), settings(), noon.Add(4 * time.Minute)},
		{"idle, not yet, the rule has no time", server(idleFor(time.Minute)), settings(func(r *Rules) { r.IdleAfter = 0 }), noon.Add(idleForOrder - time.Minute)},
		{"idle for long, the rule has no time", server(), settings(func(r *Rules) { r.IdleAfter = 0 }), time.Time{}},
		{"idle, attached, not yet, the rule has no time", server(stdio, idleFor(time.Minute)), settings(func(r *Rules) { r.IdleAfter = 0 }), time.Time{}},
		{"idle, pinned, not yet, the rule has no time", server(pin, idleFor(time.Minute)), settings(func(r *Rules) { r.IdleAfter = 0 }), time.Time{}},
		{"idle, not yet, the rule is off", server(idleFor(26 * time.Minute)), settings(off(Idle)), noon.Add(4 * time.Minute)},
		{"kept", server(), settings(keep), noon.Add(time.Hour)},
		{"busy and kept", server(working), settings(keep), noon.Add(time.Hour)},
		{"hung, not yet", server(red(monitor.CauseUnreachable, 9*time.Minute)), settings(), noon.Add(time.Minute)},
		{"busy", server(working), settings(), time.Time{}},
		{"paused", server(), settings(pause), time.Time{}},
		{"paused for a time", server(), settings(pause, func(r *Rules) { r.PausedUntil = noon.Add(time.Minute) }), noon.Add(time.Minute)},
	} {
		if _, got := Decide(&monitor.Snapshot{At: noon, Instances: []*monitor.Instance{new(c.in)}}, c.r); !got.Equal(c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestForeseen(t *testing.T) {
	told := []string{"wait idle in 4m0s: its client Codex (7) is connected"}
	for _, c := range []struct {
		name string
		in   monitor.Instance
		r    Rules
		want []string
	}{
		{"attached, not yet", server(stdio, idleFor(26*time.Minute)), settings(), told},
		{"attached, told of already", server(stdio), settings(), nil},
		{"attached, but ended all the same", server(stdio, idleFor(26*time.Minute)), settings(func(r *Rules) { r.IdleAttached = true }), nil},
		{"ended then", server(idleFor(26 * time.Minute)), settings(), nil},
		{"busy", server(stdio, working), settings(), nil},
		{"orphaned", server(orphan(time.Minute), idleFor(26*time.Minute)), settings(), nil},
		{"the rule is off", server(stdio, idleFor(26*time.Minute)), settings(off(Idle)), nil},
		{"paused", server(stdio, idleFor(26*time.Minute)), settings(pause), nil},
	} {
		got := short(Foreseen(&monitor.Snapshot{At: noon, Instances: []*monitor.Instance{new(c.in)}}, c.r))
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

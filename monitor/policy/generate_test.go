package policy

import (
	"time"

	"pgregory.net/rapid"

	"lamplighter/monitor"
)

// seldom is true for one draw in about so many. Most that is drawn may be ended,
// with one thing or none that stands against it: what is unlike a server in every
// respect is spared for many reasons at once, and shows none of them.
func seldom(t *rapid.T, label string) bool { return rapid.Uint16().Draw(t, label)%8 == 7 }

// moment is one around noon, a day on both sides: what a clock that was set leaves
// behind lies in the future. Few values make spans meet limits.
func moment(t *rapid.T, label string) time.Time {
	if seldom(t, label+" unknown") {
		return time.Time{}
	}
	if seldom(t, label+" in the future") {
		return noon.Add(time.Duration(rapid.IntRange(0, 48).Draw(t, label+" in half hours")) * 30 * time.Minute)
	}
	return noon.Add(-time.Duration(rapid.Uint16().Draw(t, label+" half hours ago")%10) * 30 * time.Minute)
}

// mostly is no, or seldom yes or not known.
func mostly(t *rapid.T, label string) *bool {
	switch {
	case seldom(t, label+" unknown"):
		return nil
	case seldom(t, label):
		return pointer(true)
	}
	return pointer(false)
}

// anyInstance draws an instance, also one that no watch would make.
func anyInstance(n int) *rapid.Generator[monitor.Instance] {
	return rapid.Custom(func(t *rapid.T) monitor.Instance {
		in := monitor.Instance{
			Identity:    monitor.Identity{PID: n, Start: 1 + rapid.Uint64Range(0, 2).Draw(t, "start")},
			Kind:        rapid.SampledFrom([]string{monitor.KindSerena, "notes"}).Draw(t, "kind"),
			ProjectName: rapid.SampledFrom([]string{"", "alpha", "beta"}).Draw(t, "project"),
			State:       rapid.SampledFrom([]monitor.State{monitor.StateProject, monitor.StateZombie, monitor.StateStarting}).Draw(t, "state"),
			Busy:        mostly(t, "busy"),
			RSSBytes:    rapid.Uint64Range(0, 3).Draw(t, "GB") * 1_000_000_000,
			StartedAt:   moment(t, "started"),
			Recognised:  !seldom(t, "not recognised"),
			Pinned:      seldom(t, "pinned"),
			Evidence: monitor.Evidence{
				Transport:  rapid.SampledFrom([]string{"http", "stdio", "sse", ""}).Draw(t, "transport"),
				Orphaned:   rapid.Bool().Draw(t, "orphaned"),
				Suspected:  seldom(t, "suspected"),
				AloneSince: moment(t, "alone"),
				IdleSince:  moment(t, "idle"),
				KeepsState: mostly(t, "keeps state"),
				RedSince:   moment(t, "red"),
			},
		}
		in.Evidence.ClientGone = in.Evidence.Orphaned != seldom(t, "client is not what the pipes say")
		if in.Evidence.SteadyBytes = in.RSSBytes; rapid.Bool().Draw(t, "larger before") {
			in.RSSBytes -= in.RSSBytes / 20
		}
		if seldom(t, "refused") {
			in.Evidence.Refused = monitor.Refused{
				Rule: string(rapid.SampledFrom(All).Draw(t, "tried")), Why: "it is in use",
				Until: noon.Add(time.Duration(rapid.IntRange(-1, 4).Draw(t, "until in half hours")) * 30 * time.Minute),
			}
		}
		if seldom(t, "parked") {
			in.State = monitor.StateParked
		}
		if seldom(t, "without a start") {
			in.Identity.Start = 0
		}
		if rapid.Bool().Draw(t, "managed") {
			in.Managed, in.Lifetime = true, monitor.LifetimeShared
			in.Keeper = monitor.Identity{PID: 1000 + n, Start: 1}
			if seldom(t, "session") {
				in.Lifetime = monitor.LifetimeSession
			}
			if seldom(t, "of no known lifetime") {
				in.Lifetime = ""
			}
			if rapid.Bool().Draw(t, "shared") {
				in.Sharing = &monitor.Sharing{Clients: make([]monitor.Client, rapid.IntRange(0, 3).Draw(t, "clients"))}
			}
			if seldom(t, "the keeper itself") {
				in.Keeper = in.Identity
			}
		}
		if in.ProjectName != "" {
			in.ProjectRoot = "/home/u/" + in.ProjectName
		}
		if in.State == monitor.StateZombie {
			in.Cause = rapid.SampledFrom([]monitor.Cause{
				monitor.CauseUnreachable, monitor.CauseSuspended, monitor.CauseOrphaned, monitor.CauseSuspected, monitor.CauseDefunct,
			}).Draw(t, "cause")
		}
		if pid := rapid.IntRange(0, 2).Draw(t, "client"); pid > 0 {
			in.Client = &monitor.Client{Identity: monitor.Identity{PID: pid, Start: 1}, Name: rapid.SampledFrom([]string{"Codex", "Cursor"}).Draw(t, "client name")}
		}
		return in
	})
}

// anySnapshot draws up to ten instances with pids of their own, 0 among them.
func anySnapshot(t *rapid.T) *monitor.Snapshot {
	s := &monitor.Snapshot{At: noon}
	for n := range rapid.IntRange(1, 10).Draw(t, "instances") {
		s.Instances = append(s.Instances, new(anyInstance(n).Draw(t, "instance")))
	}
	return s
}

func anySpan(t *rapid.T, label string) time.Duration {
	if seldom(t, label+" off") {
		return 0
	}
	return time.Duration(rapid.IntRange(1, 4).Draw(t, label)) * 30 * time.Minute
}

// anyRules draws rules about what anySnapshot draws.
func anyRules(t *rapid.T, s *monitor.Snapshot) Rules {
	r := Rules{
		OrphanGrace: anySpan(t, "grace"), IdleAfter: anySpan(t, "idle after"), ZombieAfter: anySpan(t, "zombie after"),
		IdleAttached: rapid.Bool().Draw(t, "attached too"), IdleREPL: rapid.Bool().Draw(t, "REPL too"),
		MemoryOver: rapid.Uint64Range(0, 2).Draw(t, "limit in GB") * 1_000_000_000, MemoryEnd: rapid.Bool().Draw(t, "memory ends"),
		Duplicates: rapid.Bool().Draw(t, "duplicates"),
		Wishes:     Wishes{Off: map[Rule]bool{}, Kept: map[monitor.Identity]time.Time{}, Paused: seldom(t, "paused")},
	}
	if seldom(t, "paused for a time") {
		r.PausedUntil = noon.Add(time.Duration(rapid.IntRange(-2, 8).Draw(t, "for half hours")) * 30 * time.Minute)
	}
	if seldom(t, "slept") {
		s.AwakeSince = moment(t, "awake")
	}
	for _, rule := range All {
		r.Off[rule] = seldom(t, string(rule)+" is off")
	}
	for _, in := range s.Instances {
		if seldom(t, "kept") {
			until := noon.Add(time.Duration(rapid.IntRange(-2, 8).Draw(t, "kept for half hours")) * 30 * time.Minute)
			r.Kept[in.Identity] = until
		}
	}
	for range rapid.IntRange(0, 2).Draw(t, "overrides") {
		o := Override{
			Project: rapid.SampledFrom([]string{"", "alpha", "/home/u/beta"}).Draw(t, "of project"),
			Client:  rapid.SampledFrom([]string{"", "codex"}).Draw(t, "of client"),
			Never:   rapid.Bool().Draw(t, "never"),
		}
		if rapid.Bool().Draw(t, "own grace") {
			o.OrphanGrace = pointer(anySpan(t, "the grace"))
		}
		if rapid.Bool().Draw(t, "own idle") {
			o.IdleAfter = pointer(anySpan(t, "the idle"))
		}
		r.Overrides = append(r.Overrides, o)
	}
	return r
}

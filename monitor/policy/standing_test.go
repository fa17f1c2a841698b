package policy

import (
	"slices"
	"testing"
	"time"

	"lamplighter/monitor"
)

func TestStanding(t *testing.T) {
	rules := func(p monitor.Policy) (list []string) {
		for _, r := range p.Rules {
			text := r.Name + ": " + r.Words
			switch {
			case r.On && !r.Set:
				text += " (on without anything to do)"
			case !r.Set:
				text += " (not set)"
			case !r.On:
				text += " (off)"
			}
			list = append(list, text)
		}
		return list
	}
	for _, c := range []struct {
		name string
		r    Rules
		want []string
	}{
		{"a fresh install with idle shutdown", settings(), []string{
			"orphans: End orphaned servers after 10 min",
			"idle: End idle servers after 30 min",
			"zombies: Tell of servers that need attention for 10 min",
			"memory: Tell of servers that use more than 2.0 GB",
			"duplicates: Tell when one client runs the same server more than once",
		}},
		{"nothing", Rules{}, []string{
			"orphans: End orphaned servers (not set)",
			"idle: End idle servers (not set)",
			"zombies: Tell of servers that need attention (not set)",
			"memory: Tell of servers that use much memory (not set)",
			"duplicates: Tell when one client runs the same server more than once (not set)",
		}},
		{"for some, one off", Rules{
			MemoryEnd: true, Wishes: Wishes{Off: map[Rule]bool{Idle: true, Zombies: true}},
			Overrides: []Override{{Project: "alpha", IdleAfter: pointer(time.Minute), MemoryOver: pointer(uint64(1)), OrphanGrace: pointer(time.Duration(0))}},
		}, []string{
			"orphans: End orphaned servers (not set)",
			"idle: End idle servers of some projects or clients (off)",
			"zombies: Tell of servers that need attention (not set)",
			"memory: End idle servers that use much memory, of some projects or clients",
			"duplicates: Tell when one client runs the same server more than once (not set)",
		}},
		{"for memory", Rules{MemoryEnd: true, MemoryOver: 500_000_000}, []string{
			"orphans: End orphaned servers (not set)",
			"idle: End idle servers (not set)",
			"zombies: Tell of servers that need attention (not set)",
			"memory: End idle servers that use more than 500 MB",
			"duplicates: Tell when one client runs the same server more than once (not set)",
		}},
	} {
		if got := rules(c.r.Standing(&monitor.Snapshot{At: noon})); !slices.Equal(got, c.want) {
			t.Errorf("%s:\n%q, want\n%q", c.name, got, c.want)
		}
	}

	p := settings().Standing(&monitor.Snapshot{At: noon, Instances: []*monitor.Instance{
		new(server()), new(server(pin)), new(server(stdio)), new(server(working)), new(server(orphan(0), mute)), new(server(orphan(0), pin)), new(server(suspect, mute)), new(server(orphan(time.Hour))),
	}})
	if p.Idle != 2 || p.Orphans != 2 {
		t.Errorf("%d idle and %d orphans, want 2 and 2", p.Idle, p.Orphans)
	}
	if p.Active || p.Paused {
		t.Errorf("it says what only its caller knows, or what is not so: %+v", p)
	}
	until := noon.Add(time.Hour)
	r := settings(pause, func(r *Rules) { r.PausedUntil = until })
	if p := r.Standing(&monitor.Snapshot{At: noon}); !p.Paused || p.PausedUntil == nil || !p.PausedUntil.Equal(until) {
		t.Errorf("paused: %+v", p)
	}
	if p := r.Standing(&monitor.Snapshot{At: until}); p.Paused || p.PausedUntil != nil {
		t.Errorf("the pause is over: %+v", p)
	}
}

package situationtest

import (
	"math"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/policy"
	"lamplighter/monitor/situation"
)

// The defaults of the settings file.
const (
	orphanDefault = 10 * time.Minute
	zombieDefault = 10 * time.Minute
	memoryDefault = 2_000_000_000 // bytes
)

// rulesOf are the rules that settings make.
func rulesOf(s situation.Settings) policy.Rules {
	r := policy.Rules{
		OrphanGrace: orphanDefault, ZombieAfter: zombieDefault, MemoryOver: memoryDefault, Duplicates: !s.DuplicatesOff,
		IdleAttached: s.IdleAttached, IdleREPL: s.IdleREPL, MemoryEnd: s.MemoryEnd,
		Wishes: policy.Wishes{Off: map[policy.Rule]bool{}, Kept: map[monitor.Identity]time.Time{}, Paused: s.Paused},
	}
	take(&r.IdleAfter, s.IdleMinutes)
	take(&r.OrphanGrace, s.OrphanMinutes)
	take(&r.ZombieAfter, s.ZombieMinutes)
	if s.MemoryBytes != nil {
		r.MemoryOver = *s.MemoryBytes
	}
	for _, o := range s.Overrides {
		r.Overrides = append(r.Overrides, policy.Override{
			Project: o.Project, Client: o.Client, Never: o.Never,
			OrphanGrace: span(o.OrphanMinutes), IdleAfter: span(o.IdleMinutes), MemoryOver: o.MemoryBytes,
		})
	}
	for _, rule := range s.Off {
		r.Off[policy.Rule(rule)] = true
	}
	for _, k := range s.Kept {
		r.Kept[monitor.Identity{PID: k.PID, Start: k.Start}] = k.Until
	}
	return r
}

func take(to *time.Duration, minutes *float64) {
	if d := span(minutes); d != nil {
		*to = *d
	}
}

func span(minutes *float64) *time.Duration {
	if minutes == nil {
		return nil
	}
	d := time.Duration(math.Round(*minutes * float64(time.Minute)))
	return &d
}

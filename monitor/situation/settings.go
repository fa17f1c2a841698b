package situation

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/policy"
)

// Settings are those of the policies that differ from the defaults, by the names
// that they have in the settings file, with what the user has decided since. A
// nil number is the default; zero switches the rule off.
type Settings struct {
	IdleMinutes   *float64 `json:"idle_shutdown_minutes,omitempty"`
	IdleAttached  bool     `json:"idle_shutdown_attached,omitempty"` // stop
	IdleREPL      bool     `json:"idle_shutdown_repl,omitempty"`
	OrphanMinutes *float64 `json:"orphan_grace_minutes,omitempty"`
	ZombieMinutes *float64 `json:"zombie_prune_minutes,omitempty"` // tells, and ends nothing
	MemoryBytes   *uint64  `json:"memory_notify_bytes,omitempty"`
	MemoryEnd     bool     `json:"memory_action_stop,omitempty"`
	DuplicatesOff bool     `json:"duplicates_off,omitempty"`

	Overrides  []Override    `json:"policies,omitempty"`
	Off        []policy.Rule `json:"off,omitempty"`
	Kept       []Kept        `json:"kept,omitempty"`
	Paused     bool          `json:"paused,omitempty"`
	AwakeSince time.Time     `json:"awake_since,omitzero"`
}

// Override is policy.Override.
type Override struct {
	Project       string   `json:"project,omitempty"`
	Client        string   `json:"client,omitempty"`
	Never         bool     `json:"never,omitempty"`
	OrphanMinutes *float64 `json:"orphan_grace_minutes,omitempty"`
	IdleMinutes   *float64 `json:"idle_shutdown_minutes,omitempty"`
	MemoryBytes   *uint64  `json:"memory_notify_bytes,omitempty"`
}

// Kept is an instance that the user keeps.
type Kept struct {
	PID   int       `json:"pid"`
	Start uint64    `json:"start"`
	Until time.Time `json:"until"`
}

// The defaults of the settings file.
const (
	orphanDefault = 10 * time.Minute
	zombieDefault = 10 * time.Minute
	memoryDefault = 2_000_000_000 // bytes
)

// maxMinutes is about a year.
const maxMinutes = 600_000

func (s Settings) check() error {
	minutes := []*float64{s.IdleMinutes, s.OrphanMinutes, s.ZombieMinutes}
	for _, o := range s.Overrides {
		minutes = append(minutes, o.IdleMinutes, o.OrphanMinutes)
		if o.Project == "" && o.Client == "" {
			return fmt.Errorf("one of its policies is for no project and no client")
		}
	}
	for _, m := range minutes {
		if m != nil && !(*m >= 0 && *m <= maxMinutes) {
			return fmt.Errorf("one of its settings is %v minutes, which cannot be", *m)
		}
	}
	return nil
}

// Of are the settings that make these rules.
func Of(r policy.Rules) Settings {
	s := Settings{
		IdleMinutes: inMinutes(&r.IdleAfter), OrphanMinutes: inMinutes(&r.OrphanGrace), ZombieMinutes: inMinutes(&r.ZombieAfter),
		IdleAttached: r.IdleAttached, IdleREPL: r.IdleREPL, MemoryBytes: &r.MemoryOver, MemoryEnd: r.MemoryEnd, DuplicatesOff: !r.Duplicates,
		Paused: r.Paused, AwakeSince: r.AwakeSince.Round(0),
	}
	for _, o := range r.Overrides {
		s.Overrides = append(s.Overrides, Override{
			Project: o.Project, Client: o.Client, Never: o.Never,
			OrphanMinutes: inMinutes(o.OrphanGrace), IdleMinutes: inMinutes(o.IdleAfter), MemoryBytes: o.MemoryOver,
		})
	}
	for _, rule := range policy.All {
		if r.Off[rule] {
			s.Off = append(s.Off, rule)
		}
	}
	for id, until := range r.Kept {
		s.Kept = append(s.Kept, Kept{PID: id.PID, Start: id.Start, Until: until.Round(0)})
	}
	slices.SortFunc(s.Kept, func(a, b Kept) int { return cmp.Or(cmp.Compare(a.PID, b.PID), cmp.Compare(a.Start, b.Start)) })
	return s
}

// rules are the rules that these settings make.
func (s Settings) rules() policy.Rules {
	r := policy.Rules{
		OrphanGrace: orphanDefault, ZombieAfter: zombieDefault, MemoryOver: memoryDefault, Duplicates: !s.DuplicatesOff,
		IdleAttached: s.IdleAttached, IdleREPL: s.IdleREPL, MemoryEnd: s.MemoryEnd, Paused: s.Paused, AwakeSince: s.AwakeSince,
		Off: map[policy.Rule]bool{}, Kept: map[monitor.Identity]time.Time{},
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
		r.Off[rule] = true
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

func inMinutes(d *time.Duration) *float64 {
	if d == nil {
		return nil
	}
	m := d.Minutes()
	return &m
}

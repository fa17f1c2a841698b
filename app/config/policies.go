package config

import (
	"fmt"
	"strings"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/policy"
	"lamplighter/monitor/rules"
)

// What holds for the policies where the file says nothing. There is no idle
// shutdown then.
const (
	DefaultOrphanGrace = 10 * time.Minute
	defaultZombiePrune = 10 * time.Minute
	defaultMemory      = 2_000_000_000 // bytes
)

// PolicyKeys is what the file says of the policies besides
// Layer.IdleShutdownMinutes. A field is nil or empty where it says nothing;
// Settings.Policies tells what holds.
type PolicyKeys struct {
	IdleShutdownAttached PolicyAction  `yaml:"idle_shutdown_attached"`
	IdleShutdownREPL     *bool         `yaml:"idle_shutdown_repl"`
	OrphanGraceMinutes   *Minutes      `yaml:"orphan_grace_minutes"`
	ZombiePruneMinutes   *Minutes      `yaml:"zombie_prune_minutes"` // tells, and ends nothing
	MemoryNotify         *MemoryLimit  `yaml:"memory_notify"`
	MemoryAction         PolicyAction  `yaml:"memory_action"`
	DuplicatesAction     DuplicateWord `yaml:"duplicates"`
	NotificationsOn      *bool         `yaml:"notifications"`
	PolicyOverrides      Overrides     `yaml:"policies"`
}

// Policies are the rules that hold, each setting being its default where nothing
// is said. The layers are those of the function Layers.
func (s Settings) Policies(layers ...Layer) policy.Rules {
	r := policy.Rules{
		OrphanGrace:  DefaultOrphanGrace,
		ZombieAfter:  defaultZombiePrune,
		MemoryOver:   defaultMemory,
		IdleAttached: s.IdleShutdownAttached == ActionStop,
		MemoryEnd:    s.MemoryAction == ActionStop,
		Duplicates:   s.DuplicatesAction != DuplicatesOff,
	}
	for _, l := range layers {
		if l.IdleShutdownMinutes != nil {
			r.IdleAfter = time.Duration(*l.IdleShutdownMinutes)
			break
		}
	}
	if s.IdleShutdownREPL != nil {
		r.IdleREPL = *s.IdleShutdownREPL
	}
	if s.OrphanGraceMinutes != nil {
		r.OrphanGrace = time.Duration(*s.OrphanGraceMinutes)
	}
	if s.ZombiePruneMinutes != nil {
		r.ZombieAfter = time.Duration(*s.ZombiePruneMinutes)
	}
	if s.MemoryNotify != nil {
		r.MemoryOver = uint64(*s.MemoryNotify)
	}
	for _, o := range s.PolicyOverrides {
		r.Overrides = append(r.Overrides, o.rule())
	}
	return r
}

// Notifications reports whether the desktop may show what the policies do.
func (s Settings) Notifications() bool { return s.NotificationsOn == nil || *s.NotificationsOn }

// checkPolicies tells what in our file has nothing to do because of something
// else in it. The error is a *rules.FieldError.
func (s Settings) checkPolicies() error {
	off := func(m *Minutes) bool { return m != nil && *m == 0 }
	idle, memory := !off(s.IdleShutdownMinutes), s.MemoryNotify == nil || *s.MemoryNotify > 0
	for _, o := range s.PolicyOverrides {
		idle = idle || o.IdleShutdownMinutes != nil && *o.IdleShutdownMinutes > 0
		memory = memory || o.MemoryNotify != nil && *o.MemoryNotify > 0
	}
	switch {
	case !idle && s.IdleShutdownAttached == ActionStop:
		return rules.Wrong("idle_shutdown_attached", "stop does nothing while idle_shutdown_minutes is none; give that a number, or remove this line")
	case !idle && s.IdleShutdownREPL != nil && *s.IdleShutdownREPL:
		return rules.Wrong("idle_shutdown_repl", "true does nothing while idle_shutdown_minutes is none; give that a number, or remove this line")
	case !memory && s.MemoryAction == ActionStop:
		return rules.Wrong("memory_action", "stop does nothing while memory_notify is none; give that an amount, or remove this line")
	}
	return nil
}

// PolicyOverride replaces settings for the instances of a project, of a client,
// or of both together.
type PolicyOverride struct {
	Project             string       `yaml:"project"` // its name or its directory
	Client              string       `yaml:"client"`
	Never               bool         `yaml:"never"` // no policy ends it
	IdleShutdownMinutes *Minutes     `yaml:"idle_shutdown_minutes"`
	OrphanGraceMinutes  *Minutes     `yaml:"orphan_grace_minutes"`
	MemoryNotify        *MemoryLimit `yaml:"memory_notify"`
}

// Key is equal for two overrides that cannot stand beside each other.
func (o PolicyOverride) Key() string {
	return strings.ToLower(strings.Trim(o.Project+", "+o.Client, ", "))
}

// Check tells what is wrong with an override. The error is a *rules.FieldError.
func (o PolicyOverride) Check() error {
	for _, said := range [...]struct{ name, text string }{{"project", o.Project}, {"client", o.Client}} {
		if monitor.Clean(said.text) != said.text {
			return rules.Wrong(said.name, "holds characters that cannot be shown, or spaces at its ends; remove them")
		}
	}
	if at := strings.IndexAny(o.Project, "*?[]"); at >= 0 {
		return rules.Wrong("project", "%q is a wildcard, which is not possible here; write the name or the directory", o.Project[at])
	}
	if strings.HasPrefix(o.Project, "~") || strings.ContainsAny(o.Project, `/\\`) && !fromRoot(o.Project) {
		return rules.Wrong("project", "%s is not a whole path; write it from the root, or the name of the project", excerpt(o.Project))
	}
	spans := o.IdleShutdownMinutes != nil || o.OrphanGraceMinutes != nil
	switch {
	case o.Project == "" && o.Client == "":
		return &rules.FieldError{Text: "is about nobody; add project: or client:"}
	case o.Never && spans:
		return rules.Wrong("never", "true contradicts the minutes beside it; remove one of them")
	case !o.Never && !spans && o.MemoryNotify == nil:
		return &rules.FieldError{Text: "says nothing; add never: true, idle_shutdown_minutes, orphan_grace_minutes or memory_notify"}
	}
	return nil
}

// fromRoot tells a path from the root, of whatever system: one file may serve
// several machines.
func fromRoot(path string) bool {
	return path[0] == '/' || path[0] == '\\' || len(path) > 2 && path[1] == ':' && (path[2] == '/' || path[2] == '\\')
}

func (o PolicyOverride) rule() policy.Override {
	r := policy.Override{Project: o.Project, Client: o.Client, Never: o.Never}
	if o.IdleShutdownMinutes != nil {
		d := time.Duration(*o.IdleShutdownMinutes)
		r.IdleAfter = &d
	}
	if o.OrphanGraceMinutes != nil {
		d := time.Duration(*o.OrphanGraceMinutes)
		r.OrphanGrace = &d
	}
	if o.MemoryNotify != nil {
		m := uint64(*o.MemoryNotify)
		r.MemoryOver = &m
	}
	return r
}

// Overrides are the exceptions; of those that are about an instance the first
// counts, but for never, which counts wherever it stands.
type Overrides []PolicyOverride

// Check refuses an override that never counts, because one above it is about all
// that it is about.
func (list Overrides) Check() error {
	covers := func(above, below string) bool { return above == "" || strings.EqualFold(above, below) }
	for i, below := range list {
		for k, above := range list[:i] {
			if !covers(above.Project, below.Project) || !covers(above.Client, below.Client) {
				continue
			}
			switch {
			case above.Never:
				return fmt.Errorf("entry %d is never used, because entry %d is about the same servers and more, and says that none of them is ended; remove one of them", i+1, k+1)
			case !below.Never:
				return fmt.Errorf("entry %d is never used, because entry %d is about the same servers and more; put it above that one", i+1, k+1)
			}
		}
	}
	return nil
}

// PolicyAction is what a rule does.
type PolicyAction string

// The actions.
const (
	ActionNotify PolicyAction = "notify"
	ActionStop   PolicyAction = "stop"
)

// UnmarshalText accepts the two words and nothing else.
func (a *PolicyAction) UnmarshalText(text []byte) error {
	return setWord(a, text, ActionNotify, ActionStop)
}

// DuplicateWord says whether duplicates are told of. They are never ended.
type DuplicateWord string

// The words.
const (
	DuplicatesNotify DuplicateWord = "notify"
	DuplicatesOff    DuplicateWord = "off"
)

// UnmarshalText accepts the two words and nothing else.
func (d *DuplicateWord) UnmarshalText(text []byte) error {
	return setWord(d, text, DuplicatesNotify, DuplicatesOff)
}

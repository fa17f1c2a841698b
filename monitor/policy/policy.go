// Package policy decides which instances nobody uses any more and what is to be
// done about them. Everything here is pure: a snapshot and the rules go in, actions
// with their reasons come out. Whoever carries an action out
// (app/policies) lets the stop ladder look at everything once more.
package policy

import (
	"time"

	"lamplighter/monitor"
)

// Rule names one of the rules.
type Rule string

// The rules.
const (
	Orphans    Rule = "orphans"    // its client closed the connection and is gone
	Idle       Rule = "idle"       // no call for a time
	Zombies    Rule = "zombies"    // it needs attention for a time: it is told of, or given up
	Memory     Rule = "memory"     // its tree uses more than a limit
	Duplicates Rule = "duplicates" // the same client has started it several times
)

// Everything is what an order of the user names that means all instances, in place of
// Idle or Orphans.
const Everything Rule = "all"

// All are the rules in the order in which views list them.
var All = []Rule{Orphans, Idle, Zombies, Memory, Duplicates}

// Do is what is to be done.
type Do string

// What can be done, in the order of how much it is.
const (
	Refuse Do = "refuse" // a rule applies, and something stands against it
	Notify Do = "notify" // the user is to decide
	Wait   Do = "wait"   // it will be ended at a time
	End    Do = "end"    // it is to be ended now
)

// Action is one decision about one instance.
type Action struct {
	ID     monitor.Identity
	Label  string
	Rule   Rule // "" for an order that names no rule
	Do     Do
	At     time.Time // when it is due; with Wait in the future
	Reason string    // a part of a sentence, safe to show: "no call for 30 min"
	// Because says with Refuse and Notify what stands against ending it: "its
	// client Claude Code is connected".
	Because string
	// GivesUp says with Notify that the instance leaves every list, because it is
	// dead to everybody.
	GivesUp bool
	// Evidence tells what the decision rests on, one fact each, for people; nil: nothing.
	Evidence func() []string
}

// Rules are the settings of the policies, with what the user has decided since.
// A zero span means that the rule is off.
type Rules struct {
	OrphanGrace  time.Duration
	IdleAfter    time.Duration
	IdleAttached bool          // end also a server over stdio whose client is connected
	IdleREPL     bool          // end also a server that keeps variables of its clients
	ZombieAfter  time.Duration // nothing is ended by it: what is proven to be of no use is an orphan
	MemoryOver   uint64        // bytes
	MemoryEnd    bool          // end it, if it is idle, instead of only saying so
	Duplicates   bool

	// Overrides: of those that match an instance the first counts, but for Never.
	Overrides []Override

	Wishes
}

// Override replaces settings for some instances. An empty Project or Client
// means any; at least one is given. A nil field means: as otherwise; zero: off.
type Override struct {
	Project string // the name of a project, or its directory
	Client  string // the name of a client

	// Never says that no policy ends them, whatever another override says. It counts
	// also for an instance of which nobody knows whether it has that project or
	// client.
	Never       bool
	OrphanGrace *time.Duration
	IdleAfter   *time.Duration
	MemoryOver  *uint64
}

// idleForOrder is how long an instance has to have been idle for an order to stop
// the idle ones, when the settings say nothing.
const idleForOrder = 30 * time.Minute

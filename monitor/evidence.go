package monitor

import "time"

// Evidence is what the watch has found out about the use of an instance, for
// whoever decides whether anybody still needs it (monitor/policy). A zero field
// means not known, and what is not known speaks against ending.
//
// Its times have a monotonic reading while the background process runs, so that
// a step of the clock does not count.
type Evidence struct {
	// Transport is how its clients reach it: "stdio", "http" or "sse".
	Transport string
	// Orphaned says that the link to its client was recorded, and that nobody
	// holds the other end any more.
	Orphaned bool
	// Suspected says that nobody seems to hold the other end of its pipes, but the
	// link was never recorded.
	Suspected bool
	// ClientGone says that its client was seen to end.
	ClientGone bool
	// Pipe are its ends of the conversation with its client, recorded while both lived.
	Pipe Pipe
	// AloneSince is when Orphaned or Suspected were found.
	AloneSince time.Time
	// IdleSince is when it was first found to have neither a call nor a queue,
	// with no look since that found one or got no answer. It is zero while that
	// is not known, which counts as busy: it has been idle since then at least.
	IdleSince time.Time
	// QuietSince is since when nothing below a server that we have started has worked:
	// no process came or went, none was left behind by who started it, and all together
	// hardly used the CPU. Of the server itself IdleSince tells.
	QuietSince time.Time
	// KeepsState says that its clients' variables live in its memory (a Serena
	// with the interface REPL); nil when that is not known.
	KeepsState *bool
	// NoUsers says of one that is suspended or unreachable, and that clients reach
	// over ports, that nobody is connected to them.
	NoUsers bool
	// RedSince is when its state became zombie.
	RedSince time.Time
	// SteadyBytes is the memory of its tree, but for a fall of less than a tenth:
	// memory goes up and down without anybody doing anything.
	SteadyBytes uint64
	// Refused is what came of the last try to end it by a rule, as whoever tried tells.
	Refused Refused
}

// Refused is that an instance was not ended although a rule wanted it. The zero value is
// that nobody has tried.
type Refused struct {
	Rule  string
	Why   string    // a part of a sentence
	Until time.Time // the rule does not try again before
}

// Plan is what the policies mean to do about an instance.
type Plan struct {
	ShutdownAt time.Time // zero: nothing
	Reason     string    // in words, safe to show: "no call for 30 min"
	KeptUntil  time.Time // no policy ends it before; zero: not kept
	// GivenUpSince is since when no list shows it, because it is dead to everybody;
	// zero: they show it. Its process goes on.
	GivenUpSince time.Time
}

// Policy is how the policies stand, for every view, and as programs read it.
type Policy struct {
	Active      bool         `json:"active"`       // this process is the one that acts on them
	Paused      bool         `json:"paused"`       // nothing is ended or notified about
	PausedUntil *time.Time   `json:"paused_until"` // in UTC; nil: until somebody resumes them, or not paused
	Idle        int          `json:"idle"`         // how many instances an order to stop the idle ones means
	Orphans     int          `json:"orphans"`      // and the orphaned ones
	Rules       []PolicyRule `json:"rules"`        // in the order in which views list them
}

// PolicyRule is one rule and its switch.
type PolicyRule struct {
	Name  string `json:"name"`  // "idle", "orphans", "zombies", "memory", "duplicates"
	Words string `json:"words"` // what it does: "End orphaned servers after 10 min"
	On    bool   `json:"on"`
	// Set says that the settings give the rule something to do; one that is not
	// cannot be switched on.
	Set bool `json:"set"`
	// Minutes is when an idle server ends, 0 for never, and Attached whether one does
	// whose client is connected; both of the idle rule alone.
	Minutes  float64 `json:"minutes,omitempty"`
	Attached *bool   `json:"attached,omitempty"`
}

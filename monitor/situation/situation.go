// Package situation is a moment on somebody's machine as data: the processes
// around the MCP servers, with arguments, parents and ports, what the system and the
// dashboards answer about them, what the watch knew and what the policies are to decide.
//
// A file of this kind is what a report of a wrong decision becomes. Nothing here decides
// anything, and only Record, which writes one with what is private removed, looks at a
// machine. The collection is monitor/testdata/situations: machinetest makes each a
// machine again, and situationtest lets the real watch, policies and stop ladder run on it.
package situation

import (
	"encoding/json"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/rules"
)

// Origin says how a situation came to be.
type Origin string

// The origins.
const (
	Recorded    Origin = "recorded"    // by "lamplighter doctor --record"
	Constructed Origin = "constructed" // by hand, after a report
)

// Situation is one moment. Times are those of its clock, and only their distance
// from Now counts.
type Situation struct {
	Name     string `json:"name"`
	Source   string `json:"source"` // the address of a report, or what was done to record it
	Origin   Origin `json:"origin"`
	Story    string `json:"story"`    // what happened, and what is to be learnt from it
	Platform string `json:"platform"` // as GOOS names it

	Now        time.Time `json:"now"`
	AwakeSince time.Time `json:"awake_since,omitzero"`
	Self       int       `json:"self,omitempty"` // pid of the background process; 0: it is none of these
	UID        int       `json:"uid"`            // whose background process that is

	Processes []Process `json:"processes"`
	// Rules are those of the user, by which other servers are recognised.
	Rules []rules.Rule `json:"rules,omitempty"`
	// Policies are the policy.Rules that count, as encoding/json writes them: a span is
	// in nanoseconds, and one of zero, or none, switches its rule off.
	Policies json.RawMessage `json:"policies"`

	// Order is what a user orders, a policy.Rule; "" leaves it to the policies.
	Order string `json:"order,omitempty"`
	// Then are the processes that change between the decision and the first signal, each
	// in place of the one that has its pid.
	Then   []Process     `json:"then,omitempty"`
	Expect []Expectation `json:"expect"`
}

// Process is one process of the table.
type Process struct {
	PID    int      `json:"pid"`
	Parent int      `json:"ppid"`
	Start  uint64   `json:"start"` // as monitor.Identity has it
	UID    int      `json:"uid"`
	Name   string   `json:"name"` // short, as process.Info has it
	Exe    string   `json:"exe"`
	Args   []string `json:"args"`
	State  State    `json:"state,omitempty"`
	RSS    uint64   `json:"rss,omitempty"` // bytes
	// Service is what process.System.Service says of it alone: the unit whose main
	// process it is; "" when nothing manages it.
	Service *string `json:"service,omitempty"`
	// Contained says that it runs in a container or a sandbox.
	Contained bool `json:"contained,omitempty"`
	// SameInput are the pids of those above it that have its standard input.
	SameInput []int   `json:"same_input,omitempty"`
	Ports     []Port  `json:"ports,omitempty"`
	Server    *Server `json:"server,omitempty"` // nil when nothing more is known of it
}

// Identity is who the process is.
func (p *Process) Identity() monitor.Identity { return monitor.Identity{PID: p.PID, Start: p.Start} }

// State is what the scheduler says about a process.
type State string

// The states beside "", which is any other.
const (
	Stopped  State = "stopped"  // by a signal
	Unreaped State = "unreaped" // ended, and its parent has not taken note
)

// Port is a TCP port on which a process listens at the loopback address.
type Port struct {
	Port int `json:"port"`
	// Users are who is connected: pids, 0 for one that could not be found out.
	Users []int `json:"users,omitempty"`
}

// Server is what the watch knew about an instance beside the table. A process
// that a rule recognises needs none.
type Server struct {
	StartedAt time.Time `json:"started_at,omitzero"`
	// Proof is what was known of it before. What a recording says of IdleSince holds a
	// call that was cut off already.
	Proof monitor.Proof `json:"proof,omitzero"`
	// Closed says whether both directions of the conversation of the proof are closed at
	// the other end: process.Ends.Closed.
	Closed *bool `json:"closed,omitempty"`
	// Abandoned says that nobody seems to hold the other end of what may be its
	// conversation: process.Ends.Abandoned.
	Abandoned *bool `json:"abandoned,omitempty"`

	Dashboard *Dashboard `json:"dashboard,omitempty"` // nil: none was found

	Launch    *monitor.Launch `json:"launch,omitempty"` // nil: we have not started it
	Pinned    bool            `json:"pinned,omitempty"`
	KeptUntil time.Time       `json:"kept_until,omitzero"` // by the user
}

// Dashboard is what the dashboard of a Serena said, and has not said before: the last
// task and the calls are those of the proof, and since when it has failed.
type Dashboard struct {
	Port    int    `json:"port"`
	Version string `json:"version,omitempty"`
	Project string `json:"project,omitempty"` // name of the active one
	Root    string `json:"root,omitempty"`
	// Queue are the names of the executions that run or wait: "Task-3:FindSymbolTool".
	Queue []string `json:"queue,omitempty"`
	// LastActivity is when a tool was called last.
	LastActivity time.Time `json:"last_activity,omitzero"`
	// KeepsState is nil when that is not known.
	KeepsState *bool `json:"keeps_state,omitempty"`
}

// Expectation is what is to be decided about one process.
type Expectation struct {
	PID int `json:"pid"`
	// Do is what a policy.Action says, or Leave.
	Do      string `json:"do"`
	Rule    string `json:"rule,omitempty"`
	Because string `json:"because,omitempty"` // a part of what is said
}

// Leave is what is expected of a process that no decision may touch: neither is
// one made about it, nor is it in a tree that is ended.
const Leave = "leave"

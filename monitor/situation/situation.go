// Package situation is a moment on somebody's machine as data: the processes
// around the MCP servers, with arguments, parents, pipes, ports and control
// groups, what the watch knew about them and what the policies are to decide.
//
// A file of this kind is what a report of a wrong decision becomes. Machine makes it
// a machine again, on which the real watch, policies and stop ladder run without a
// process or a signal (situationtest); nothing here decides anything. The collection
// is monitor/testdata/situations. Record writes one from the machine that it runs on,
// with what is private removed; nothing else here looks at that machine.
package situation

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/process"
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
	Units     []Unit    `json:"units,omitempty"`
	Servers   []Server  `json:"servers,omitempty"`
	// Rules are those of the user, by which other servers are recognised.
	Rules []rules.Rule `json:"rules,omitempty"`
	// Policies are the policy.Rules that count, as encoding/json writes them: a span is
	// in nanoseconds, and one of zero, or none, switches its rule off.
	Policies json.RawMessage `json:"policies"`

	// Order is what a user orders, a policy.What; "" leaves it to the policies.
	Order string `json:"order,omitempty"`
	// Then is what changes between the decision and the first signal.
	Then   *Change       `json:"then,omitempty"`
	Expect []Expectation `json:"expect"`
}

// Process is one process of the table.
type Process struct {
	PID     int      `json:"pid"`
	Parent  int      `json:"ppid"`
	Start   uint64   `json:"start"` // as monitor.Identity has it
	UID     int      `json:"uid"`
	Name    string   `json:"name"` // short, as process.Info has it
	Exe     string   `json:"exe"`
	Args    []string `json:"args"`
	State   State    `json:"state,omitempty"`
	Seconds float64  `json:"cpu,omitempty"` // seconds of CPU time so far
	RSS     uint64   `json:"rss,omitempty"` // bytes
	// Cgroup is the text of /proc/PID/cgroup.
	Cgroup string `json:"cgroup,omitempty"`
	// Contained says that it counts processes in its own way, in a container or a
	// sandbox.
	Contained   bool         `json:"contained,omitempty"`
	Descriptors []Descriptor `json:"fds,omitempty"`
	Ports       []Port       `json:"ports,omitempty"`
}

// Descriptor is standard input, whatever it is, or a pipe without a name, or one
// of a pair of unix sockets that a process has open.
type Descriptor struct {
	FD     int
	Kind   process.LinkKind `json:",omitzero"` // "" for what is neither, which only descriptor 0 may be
	Inode  uint64           `json:",omitzero"`
	Peer   uint64           `json:",omitzero"` // of the socket at the other end; 0 for a pipe, or when it has been closed
	Reads  bool             `json:",omitzero"`
	Writes bool             `json:",omitzero"`
	// Deserted says that nobody holds the other end any more.
	Deserted bool `json:",omitzero"`
	// File is what a descriptor of neither kind is: "null" for the null device,
	// else a name that is equal for the same file.
	File string `json:",omitzero"`
}

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

// Unit is a service of systemd.
type Unit struct {
	Name string `json:"name"`
	Main int    `json:"main"` // pid of its main process
}

// Server is what the watch knew about an instance beside the table. A process
// that a rule recognises needs none.
type Server struct {
	PID       int       `json:"pid"`
	StartedAt time.Time `json:"started_at,omitzero"`
	// Proof is what was known of it before, but for what stands in Dashboard. What a
	// recording says of IdleSince holds a call that was cut off already.
	Proof monitor.Proof `json:"proof,omitzero"`
	// Abandoned says that nobody seems to hold the other end of what may be its
	// conversation: process.Ends.Abandoned.
	Abandoned bool `json:"abandoned,omitempty"`

	Dashboard *Dashboard `json:"dashboard,omitempty"` // nil: none was found

	Launch    *monitor.Launch `json:"launch,omitempty"` // nil: we have not started it
	Pinned    bool            `json:"pinned,omitempty"`
	KeptUntil time.Time       `json:"kept_until,omitzero"` // by the user
}

// Dashboard is what the dashboard of a Serena said.
type Dashboard struct {
	Port    int    `json:"port"`
	Version string `json:"version,omitempty"`
	Project string `json:"project,omitempty"` // name of the active one
	Root    string `json:"root,omitempty"`
	// Queue are the names of the executions that run or wait: "Task-3:FindSymbolTool".
	Queue []string `json:"queue,omitempty"`
	Calls *int64   `json:"calls,omitempty"` // so far
	// LastTask is the name of the execution that ended last.
	LastTask string `json:"last_task,omitempty"`
	// LastActivity is when a tool was called last.
	LastActivity time.Time `json:"last_activity,omitzero"`
	// FailingSince is when it began not to answer; zero: it answers.
	FailingSince time.Time `json:"failing_since,omitzero"`
	// KeepsState is nil when that is not known.
	KeepsState *bool `json:"keeps_state,omitempty"`
}

// Change is what happens between a decision and the first signal.
type Change struct {
	Processes []Process `json:"processes,omitempty"`
	Servers   []Server  `json:"servers,omitempty"` // each in place of the one of that pid
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

// Parse reads a situation. Fields that it does not know, and what contradicts
// itself, are errors.
func Parse(b []byte) (*Situation, error) {
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	s := &Situation{}
	if err := d.Decode(s); err != nil {
		return nil, fmt.Errorf("reading a situation: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("reading a situation: more follows behind it; one file holds one situation")
	}
	if err := s.check(); err != nil {
		return nil, fmt.Errorf("reading a situation: %w", err)
	}
	return s, nil
}

// Marshal writes it as Parse reads it, for people too.
func (s *Situation) Marshal() ([]byte, error) {
	if err := s.check(); err != nil {
		return nil, fmt.Errorf("writing a situation: %w", err)
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(s); err != nil {
		return nil, fmt.Errorf("writing a situation: %w", err)
	}
	return b.Bytes(), nil
}

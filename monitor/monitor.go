// Package monitor is the model: what an instance is, which state it is in and
// why, and what a view sees of all of them at one moment.
//
// Plain data and pure functions live here. Nothing in this package reads a
// file, a clock, a process or a socket: the loop that gathers the facts is
// monitor/watch, and the facts themselves come from monitor/process and
// monitor/serena.
package monitor

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Identity tells one process from every other that ever ran on this boot: the
// pid alone is reused. Start is the raw start time as the system keeps it
// (Linux: clock ticks since boot, /proc/PID/stat field 22; Windows: creation
// FILETIME; macOS: p_starttime in microseconds), never a computed wall-clock
// time, because that one jitters.
type Identity struct {
	PID   int
	Start uint64
}

// String is the form used as an instance's id in JSON and on the command line.
func (id Identity) String() string {
	return strconv.Itoa(id.PID) + "-" + strconv.FormatUint(id.Start, 10)
}

// ParseIdentity reads what String wrote.
func ParseIdentity(s string) (Identity, error) {
	first, second, _ := strings.Cut(s, "-")
	pid, badPID := strconv.Atoi(first)
	start, badStart := strconv.ParseUint(second, 10, 64)
	if badPID != nil || badStart != nil || pid <= 0 {
		return Identity{}, fmt.Errorf("%q is not an instance id (want PID-START)", s)
	}
	return Identity{PID: pid, Start: start}, nil
}

// KindSerena is the kind of a Serena server.
const KindSerena = "serena"

// Client is the program that started an instance and talks to it.
type Client struct {
	Identity
	Name string // "Claude Code", "VS Code", …, else the program's own name
}

// OrName is between the names of entries that only their environments tell apart.
const OrName = " or "

// Entry is the entry of a client's settings from which a server was started. Its texts
// are foreign.
type Entry struct {
	Name   string // of several that say the same the names, with OrName between them
	Client string // "Claude Code"
	File   string
	Scope  string // "user" or "project"
	// Project is the directory of the project that it is for, "" for all.
	Project string
	Plugin  string // that has brought it, "" for none
	// Proves says that no rule knows the server: the entry alone tells that it is one,
	// for as long as it runs Program, its executable.
	Proves  bool
	Program string
}

// Instance is one running MCP server: the server process, the wrappers above
// it and the processes below it. A zero value means unknown, except where a
// pointer says so because zero is a value of its own.
type Instance struct {
	Identity Identity // of the server process
	Kind     string   // KindSerena or the name of the rule that recognised it

	Port         int    // of the dashboard
	DashboardURL string // ends in /dashboard/index.html for Serena
	MCPURL       string // only for a server that listens for MCP over HTTP

	ProjectName string // as the server gives it: foreign text, see Clean
	ProjectRoot string // likewise
	Context     string
	Modes       []string
	Version     string

	State  State
	Cause  Cause  // only with StateZombie
	Reason string // one sentence for people
	// Problem is what Cause rests on when that is one of OfHealth; also what is only to
	// be mentioned, which Reason does. It is never changed.
	Problem *Problem

	// Command is what runs, as a line for people: without what looks like a secret, and
	// safe to show.
	Command   string
	Directory string // in which it works: foreign text
	Sum       uint64 // of its whole command line, to tell that from another; 0: not known

	StartedAt     time.Time
	LastHeartbeat time.Time
	LastActivity  time.Time // the last tool call, as far as known; StartedAt when there was none
	Busy          *bool
	ToolCalls     *int64 // successful calls, as the server counts them

	RSSBytes   uint64   // resident memory of the whole tree
	CPUPercent *float64 // of one core, of the whole tree, since the sample before
	Processes  int      // in the tree, the server included

	// Recognised says that a rule knows the server by its executable and its
	// arguments, or Entry does. What merely registered itself, what a client has for
	// itself through us, or what is on a client's pipes is shown, and never ended.
	Recognised bool
	// OnPipes says that all that is known of it is that its client talks to it over
	// pipes.
	OnPipes bool
	// Entry is where its client was told to start it, nil when that is not known.
	Entry *Entry

	// Client started the server and talks to it; whom it was started for when
	// it is Managed, also after that one has ended.
	Client  *Client
	Managed bool // started by us
	// Lifetime is that of a managed one: Launch.Lifetime, "" when not known.
	Lifetime string
	Keeper   Identity // of a managed one: our process above its tree, zero when there is none
	// Sharing is what is known of its clients when they have it through us, nil
	// when they have not.
	Sharing *Sharing
	Pinned  bool

	Evidence Evidence
	Plan     Plan
}

// ID is the instance's stable name within this boot.
func (in *Instance) ID() string { return in.Identity.String() }

// Certainty is how sure it is that an instance is a server.
type Certainty string

// The certainties.
const (
	ByRule  Certainty = "by_rule"  // or it was started by us
	ByEntry Certainty = "by_entry" // in the settings of its client
	Unsure  Certainty = "unsure"
)

// Certainty says how sure it is.
func (in *Instance) Certainty() Certainty {
	switch {
	case !in.Recognised:
		return Unsure
	case in.Entry != nil && in.Entry.Proves:
		return ByEntry
	}
	return ByRule
}

// ProvenByEntry reports whether its entry alone tells that a process with this
// executable is the server.
func (in *Instance) ProvenByEntry(exe string) bool {
	return in.Certainty() == ByEntry && in.Entry.Program == exe
}

// Name is what to call the instance beside its pid: the project, or NO PROJECT; of a
// server that is not Serena its entry in the client's settings, else its rule. It is
// safe to show.
func (in *Instance) Name() string {
	if in.Kind != KindSerena && in.Kind != "" {
		entry := cmp.Or(in.Entry, new(Entry))
		return cmp.Or(Shorten(Clean(entry.Name), maxEntryName), Clean(in.Kind))
	}
	return cmp.Or(Clean(in.ProjectName), "NO PROJECT")
}

// ProjectDirectory is the directory of the project that the instance belongs to, with
// slashes: its own, that of its entry, or where it works; "" for none. Where the user's
// settings lie is no project.
func (in *Instance) ProjectDirectory() string {
	slashed := func(path string) string { return strings.TrimRight(strings.ReplaceAll(path, `\`, "/"), "/") }
	switch e := in.Entry; {
	case in.Kind == KindSerena || in.ProjectRoot != "":
		return slashed(in.ProjectRoot)
	case e != nil && e.Project != "":
		return slashed(e.Project)
	case e != nil && e.Scope == "user" && strings.HasPrefix(slashed(e.File), slashed(in.Directory)+"/"):
		return ""
	}
	return slashed(in.Directory)
}

// maxEntryName is how much is shown of a name in somebody's settings, in columns.
const maxEntryName = 40

// Label is "4711 - PROJECT", with the pid of the server, the form users asked
// for. A parked one has no process.
func (in *Instance) Label() string {
	if in.State == StateParked {
		return "parked - " + in.Name()
	}
	return fmt.Sprintf("%d - %s", in.Identity.PID, in.Name())
}

// Listed reports whether lists, totals and the registry show the instance.
func (in *Instance) Listed() bool { return !in.OnPipes && in.Plan.GivenUpSince.IsZero() }

// Origin tells in words where the instance comes from: "by VS Code", "asked for
// by curl"; "" when that is not known. It is safe to show.
func (in *Instance) Origin() string {
	name := Clean(cmp.Or(in.Client, new(Client)).Name)
	switch {
	case name == "":
		return ""
	case in.Managed:
		return "asked for by " + name
	}
	return "by " + name
}

// Uncalled reports whether the instance is known to have had no call.
func (in *Instance) Uncalled() bool {
	return !in.StartedAt.IsZero() && in.LastActivity.Equal(in.StartedAt)
}

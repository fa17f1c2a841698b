// Package workspace gives each job a directory of its own, and takes it away in
// time, without ever losing what nobody has kept elsewhere.
//
// A workspace is made by create.go, from nothing, from a directory, or as a
// worktree of a git repository; versions.go keeps numbered versions of it,
// archive.go packs it away and restore.go brings it back, remove.go takes it
// away, run.go runs a job in it. decide.go says in pure functions what is due and what stands
// against it; sweep.go does what is due.
//
// All of it works from files (store.go), so that the command line and the
// background process do the same with or without each other: a lock per workspace
// says who is at work, and a step that is written down before it is taken tells
// whoever comes after a crash what to finish or to undo (recover.go).
//
// Trees are copied, compared and removed by app/workspace/tree, git is spoken to
// by app/workspace/gitwork, who works inside is found by app/workspace/inuse, and
// app/workspace/confine keeps a job inside.
//
// Servers are handed in (Options.Servers), and what views show of workspaces is
// theirs: nothing here knows an instance.
package workspace

import (
	"errors"
	"fmt"
	"time"

	"lamplighter/monitor"
)

// Kind is the lifecycle of a workspace.
type Kind string

// The kinds.
const (
	Temp       Kind = "temp"       // gone when its job ends
	Persistent Kind = "persistent" // stays, and has versions
	Hybrid     Kind = "hybrid"     // its tree ends with the job, its versions stay
)

// State is where a workspace is in its life, as listings show it.
type State string

// The states. What is half made, and what is removed, is in none that is listed.
const (
	Creating State = "creating" // only its progress is shown
	Ready    State = "ready"    // its tree is there
	Ended    State = "ended"    // its tree has gone, and its versions are kept
	Archived State = "archived" // all of it is in Archive
	Removed  State = "removed"  // remembered for a while, for the events
)

// Cleanup is when a workspace is taken away without being asked.
type Cleanup string

// The ways.
const (
	AtCompletion Cleanup = "completion" // when its job ends; the tree of one whose job never says so goes after the retention
	AtRetention  Cleanup = "retention"  // when nobody has used it for the retention
	ByHand       Cleanup = "manual"     // never
	ToArchive    Cleanup = "archive"    // as AtRetention, into an archive
)

// SourceKind is what a workspace was made from.
type SourceKind string

// The sources.
const (
	FromNothing   SourceKind = "empty"
	FromDirectory SourceKind = "directory"
	FromGit       SourceKind = "git"
)

// Source is where the content of a workspace came from.
type Source struct {
	Kind       SourceKind `json:"kind"`
	From       string     `json:"from,omitempty"`       // the directory that was named, absolute
	Repository string     `json:"repository,omitempty"` // of git: its common directory
	Ref        string     `json:"ref,omitempty"`        // as it was asked for
	Commit     string     `json:"commit,omitempty"`     // where the work began
	Branch     string     `json:"branch,omitempty"`     // that was made for it
	Admin      string     `json:"admin,omitempty"`      // the worktree's own directory in Repository
}

// Share is a directory that a workspace sees and must not write.
type Share struct {
	From string `json:"from"` // absolute
	To   string `json:"to"`   // in the workspace, with slashes
}

// Server is what was started for a workspace and ends with it.
type Server struct {
	SessionID     int    `json:"session_id"`
	MCPURL        string `json:"mcp_url"`
	DashboardPort int    `json:"dashboard_port,omitempty"`
}

// Archive is where all of a workspace is packed.
type Archive struct {
	Path  string    `json:"path"`
	Bytes int64     `json:"bytes"`
	At    time.Time `json:"at"`
}

// Version is one numbered state of a workspace. It never changes.
type Version struct {
	Number  int       `json:"version"` // from 1
	Message string    `json:"message"`
	At      time.Time `json:"at"`
	Files   int       `json:"files"`
	Bytes   int64     `json:"size_bytes"`         // of its files, shared with other versions or not
	Left    int       `json:"left_out,omitempty"` // pipes, sockets and devices, which it has not, and files that changed all the while; 20 at most
	Path    string    `json:"path"`               // of its tree, for reading
}

// Workspace is a workspace as it was at one moment. Texts that came from others
// are safe to show; paths are as they are.
type Workspace struct {
	ID        string        `json:"id"`   // UUID, version 7
	Name      string        `json:"name"` // <project>-<job>-<short id>, of its directory
	Path      string        `json:"path"` // of its tree, absolute
	Kind      Kind          `json:"kind"`
	Job       string        `json:"job"`
	Project   string        `json:"project"` // of its name
	State     State         `json:"state"`
	Source    Source        `json:"source"`
	Shares    []Share       `json:"shares"`
	Cleanup   Cleanup       `json:"cleanup"`
	Retention time.Duration `json:"-"`
	CreatedAt time.Time     `json:"created_at"`
	UsedAt    time.Time     `json:"used_at"`      // by a verb or a job of ours
	DoneAt    *time.Time    `json:"completed_at"` // null: its job has not ended
	// EndsAt is when it is taken away if nothing is done with it, null when never;
	// Ends says in words what happens then, and Problem what stands against it.
	EndsAt     *time.Time `json:"ends_at"`
	Ends       string     `json:"ends"`
	Problem    string     `json:"problem,omitempty"`
	SizeBytes  int64      `json:"size_bytes"` // of tree and versions when it was measured, -1 before that
	Files      int        `json:"files"`
	MeasuredAt *time.Time `json:"measured_at"`
	Versions   int        `json:"version_count"`
	TempDir    string     `json:"tmpdir"`   // TMPDIR of its jobs
	EnvFile    string     `json:"env_file"` // what its jobs have in their environment
	Archive    *Archive   `json:"archive,omitempty"`
	Server     *Server    `json:"server,omitempty"`
}

// Request asks for a workspace.
type Request struct {
	Kind      Kind
	From      string // directory or git repository, absolute; "" makes an empty one
	Ref       string // of git; "" is what is checked out in From. Only with git
	In        string // directory to make it in, absolute; "" is the usual one
	Job       string // name of the job
	Project   string // "" is told from From
	Share     []string
	Cleanup   Cleanup       // "" is the usual one of its kind
	Retention time.Duration // 0 is the usual one
	Serve     bool          // start a server on it
	Wait      bool          // for a place, where there are too many
	Copy      bool          // copy From also where it is a git repository: with what is not committed

	// Begun is told the id and the name once nothing stands against it any more:
	// before it waits for a place, and before anything is copied. nil is not told.
	Begun func(Making)
}

// Phase is what is being done.
type Phase string

// The phases.
const (
	Waiting   Phase = "waiting" // for a place
	Counting  Phase = "counting"
	Copying   Phase = "copying"
	CheckedBy Phase = "checking out" // by git
	Packing   Phase = "packing"
	Removing  Phase = "removing"
)

// Progress is how far something has come. Unknown totals are -1.
type Progress struct {
	Phase      Phase         `json:"phase"`
	Files      int64         `json:"files"`
	FilesTotal int64         `json:"files_total"`
	Bytes      int64         `json:"bytes"`
	BytesTotal int64         `json:"bytes_total"`
	Percent    int           `json:"percent"` // 0 to 100, -1: nobody knows
	Left       time.Duration `json:"-"`       // -1: nobody knows
}

// Making is a workspace that is being made, or worked on, by whichever process.
type Making struct {
	ID       string   `json:"id"`
	Name     string   `json:"name"`
	Job      string   `json:"job"`
	Progress Progress `json:"progress"`
}

// Loss is what would be lost with a tree.
type Loss struct {
	Uncommitted []string `json:"uncommitted"`       // paths, the first 20
	More        int      `json:"more"`              // how many beyond those
	Commits     []string `json:"commits"`           // "1a2b3c4 subject" that are on no other branch and no remote, the first 20
	MoreCommits int      `json:"more_commits"`      // how many beyond those
	Changed     bool     `json:"changed"`           // differs from its last version, where it has versions
	Submodules  []string `json:"submodules"`        // with work of their own
	Nested      []string `json:"nested,omitempty"`  // paths of other worktrees and repositories in it, with work of their own
	Archive     bool     `json:"archive"`           // it is what was kept
	Versions    int      `json:"versions"`          // likewise, how many
	Words       string   `json:"words"`             // all of it in a sentence, "" when nothing would be lost
	Unknown     string   `json:"unknown,omitempty"` // why it could not be found out
}

// Removal asks to take a workspace away.
type Removal struct {
	Force  bool // also with work that would be lost. Never while somebody works inside
	DryRun bool
	By     string // who asks, in words
}

// Outcome is what was done to a workspace, or would be.
type Outcome struct {
	Workspace Workspace `json:"workspace"`
	Done      bool      `json:"done"`
	DryRun    bool      `json:"dry_run"`
	What      string    `json:"what"`          // in words: "removed", "would be removed"
	Loss      *Loss     `json:"loss"`          // null: nobody looked
	InUse     []User    `json:"in_use"`        // who works inside
	Freed     int64     `json:"freed_bytes"`   // that were, or would be, given back
	Kept      string    `json:"kept"`          // what stays, in words: a branch with commits, versions
	Why       string    `json:"why,omitempty"` // it was not done
}

// User is a process that works inside a workspace.
type User struct {
	PID  int    `json:"pid"`
	Name string `json:"name"`
	How  string `json:"how"` // "works in it", "has FILE open", "runs FILE"
}

// What may be wrong. Errors are sentences for people that wrap one of these.
var (
	ErrBadRequest = errors.New("the request cannot be carried out")
	ErrUnknown    = errors.New("no such workspace")
	ErrBusy       = errors.New("somebody is at work on this workspace")
	ErrInUse      = errors.New("a process works in this workspace")
	ErrLoss       = errors.New("work would be lost")
	ErrState      = errors.New("this is not possible in its state")
	ErrNoServer   = errors.New("no server could be started for it")
)

// TooMany says that there are as many workspaces as may be.
type TooMany struct {
	Limit   int
	Holders []Workspace
	FreeAt  *time.Time // when the next one is due to go; nil: nobody knows
}

// Error says who holds them, and what to do.
func (e *TooMany) Error() string {
	return "the limit of " + monitor.Plural(e.Limit, "workspace", "workspaces") + " is reached"
}

// Ambiguous says that a name means more than one workspace.
type Ambiguous struct {
	Name string
	IDs  []string
}

// Error names them.
func (e *Ambiguous) Error() string {
	return fmt.Sprintf("%q is the name of %d workspaces; name one by its id: %q", e.Name, len(e.IDs), e.IDs)
}

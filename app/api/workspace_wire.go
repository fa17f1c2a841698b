package api

import (
	"math"
	"time"

	"lamplighter/app/workspace"
	"lamplighter/monitor/view"
)

// Workspace is one workspace on the wire: its own members, and those that its
// own form leaves out or has as a number where nothing is known.
type Workspace struct {
	workspace.Workspace
	Shares           []workspace.Share  `json:"shares"`
	SizeBytes        *int64             `json:"size_bytes"` // null before it was measured
	Files            *int               `json:"files"`      // likewise
	Problem          *string            `json:"problem"`
	Archive          *workspace.Archive `json:"archive"`
	Server           *workspace.Server  `json:"server"`
	RetentionSeconds int64              `json:"retention_seconds"`
}

// WorkspaceShown is the body of GET /workspaces/{id}.
type WorkspaceShown struct {
	Workspace
	Versions []workspace.Version `json:"versions"` // oldest first
}

// WorkspaceList is the body of GET /workspaces, and each event of its stream.
type WorkspaceList struct {
	Workspaces []Workspace       `json:"workspaces"`        // in the order in which they were made
	Making     []WorkspaceMaking `json:"making"`            // those that are being made or worked on
	Problem    string            `json:"problem,omitempty"` // what could not be read; not in the stream
}

// WorkspaceMaking is one that is being made or worked on.
type WorkspaceMaking struct {
	ID       string            `json:"id"`
	Name     string            `json:"name"`
	Job      string            `json:"job"`
	Progress WorkspaceProgress `json:"progress"`
}

// WorkspaceProgress is how far something has come. What is not known is null.
type WorkspaceProgress struct {
	Phase       *workspace.Phase `json:"phase"`
	Files       int64            `json:"files"`
	FilesTotal  *int64           `json:"files_total"`
	Bytes       int64            `json:"bytes"`
	BytesTotal  *int64           `json:"bytes_total"`
	Percent     *int             `json:"percent"`
	LeftSeconds *int64           `json:"left_seconds"`
}

// WorkspaceHolder is one that has a place.
type WorkspaceHolder struct {
	ID     string     `json:"id"`
	Name   string     `json:"name"`
	Job    string     `json:"job"`
	EndsAt *time.Time `json:"ends_at"`
}

// TooManyWorkspaces is the answer with status 429.
type TooManyWorkspaces struct {
	Error   string            `json:"error"`
	Holders []WorkspaceHolder `json:"holders"`
	FreeAt  *time.Time        `json:"free_at"`
}

// WorkspaceOutcome is what was done to a workspace, or would be, or why not.
type WorkspaceOutcome struct {
	workspace.Outcome
	Workspace *Workspace       `json:"workspace"` // null: of a worktree that is none of ours
	InUse     []workspace.User `json:"in_use"`
	Loss      *workspace.Loss  `json:"loss"`
	Error     string           `json:"error,omitempty"` // with another status than 200
}

// WorkspaceDiff is the body of GET /workspaces/{id}/diff.
type WorkspaceDiff struct {
	From    int                `json:"from"`
	To      int                `json:"to"` // 0: the tree as it is
	Changes []workspace.Change `json:"changes"`
	LeftOut int                `json:"left_out"` // changes without their text, because all of them would be too long
}

// EncodeWorkspace turns a workspace into its wire form.
func EncodeWorkspace(w workspace.Workspace) Workspace {
	wire := Workspace{
		Workspace: w, Shares: append([]workspace.Share{}, w.Shares...), Problem: view.Known(w.Problem), Archive: w.Archive, Server: w.Server,
		RetentionSeconds: int64(w.Retention / time.Second),
	}
	if w.SizeBytes >= 0 && w.MeasuredAt != nil {
		wire.SizeBytes, wire.Files = &w.SizeBytes, &w.Files
	}
	return wire
}

func encodeView(v workspace.View) WorkspaceList {
	list := WorkspaceList{Workspaces: make([]Workspace, len(v.Workspaces)), Making: make([]WorkspaceMaking, len(v.Making))}
	for i, w := range v.Workspaces {
		list.Workspaces[i] = EncodeWorkspace(w)
	}
	for i, m := range v.Making {
		list.Making[i] = encodeMaking(m)
	}
	return list
}

func encodeMaking(m workspace.Making) WorkspaceMaking {
	p := m.Progress
	wire := WorkspaceMaking{ID: m.ID, Name: m.Name, Job: m.Job, Progress: WorkspaceProgress{
		Phase: view.Known(p.Phase), Files: p.Files, FilesTotal: total(p.FilesTotal), Bytes: p.Bytes, BytesTotal: total(p.BytesTotal), Percent: total(p.Percent),
	}}
	if p.Left >= 0 && p.Percent >= 0 {
		left := int64(math.Ceil(p.Left.Seconds()))
		wire.Progress.LeftSeconds = &left
	}
	return wire
}

// total is nil for what nobody knows.
func total[T int | int64](n T) *T {
	if n < 0 {
		return nil
	}
	return &n
}

// EncodeShown turns a workspace and its versions into their wire form.
func EncodeShown(w workspace.Workspace, versions []workspace.Version) WorkspaceShown {
	return WorkspaceShown{Workspace: EncodeWorkspace(w), Versions: append([]workspace.Version{}, versions...)}
}

// EncodeOutcome turns an outcome into its wire form.
func EncodeOutcome(o workspace.Outcome) WorkspaceOutcome {
	wire := WorkspaceOutcome{Outcome: o, InUse: append([]workspace.User{}, o.InUse...)}
	if o.Workspace.ID != "" {
		shown := EncodeWorkspace(o.Workspace)
		wire.Workspace = &shown
	}
	if o.Loss != nil {
		loss := encodeLoss(*o.Loss)
		wire.Loss = &loss
	}
	return wire
}

func encodeLoss(l workspace.Loss) workspace.Loss {
	l.Uncommitted, l.Commits, l.Submodules = append([]string{}, l.Uncommitted...), append([]string{}, l.Commits...), append([]string{}, l.Submodules...)
	return l
}

// EncodeScanned turns what a scan has found into its wire form.
func EncodeScanned(s workspace.Scanned) workspace.Scanned {
	wire := workspace.Scanned{Worktrees: append([]workspace.Stale{}, s.Worktrees...), Problems: append([]string{}, s.Problems...)}
	for i := range wire.Worktrees {
		one := &wire.Worktrees[i]
		one.InUse, one.Loss = append([]workspace.User{}, one.InUse...), encodeLoss(one.Loss)
	}
	return wire
}

// mostDiff bounds the texts of one answer, in bytes.
const mostDiff = 8 << 20

func encodeDiff(from, to int, changes []workspace.Change) WorkspaceDiff {
	wire := WorkspaceDiff{From: from, To: to}
	wire.Changes, wire.LeftOut = workspace.FitDiffs(changes, mostDiff)
	return wire
}

// timeOf is moment of what may be unknown.
func timeOf(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	return view.Moment(*t)
}

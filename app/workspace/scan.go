package workspace

import (
	"context"
	"time"
)

// Stale is a git worktree that somebody made, ours or not.
type Stale struct {
	Path        string    `json:"path"`
	Repository  string    `json:"repository"`
	Project     string    `json:"project"`
	Branch      string    `json:"branch"` // "" when detached
	Head        string    `json:"head"`
	MadeBy      string    `json:"made_by"` // "Claude Code", "Codex", "Cursor", "lamplighter", "" by its place
	UsedAt      time.Time `json:"used_at"` // its newest file or commit
	SizeBytes   int64     `json:"size_bytes"`
	Files       int64     `json:"files"`
	Merged      bool      `json:"merged"`
	Pushed      bool      `json:"pushed"`
	Dirty       bool      `json:"dirty"`
	Locked      bool      `json:"locked"`
	LockedWhy   string    `json:"locked_reason,omitempty"`
	Missing     bool      `json:"missing"` // its directory has gone, git remembers it
	Main        bool      `json:"-"`
	InUse       []User    `json:"in_use"`
	Loss        Loss      `json:"loss"`
	WorkspaceID string    `json:"workspace_id,omitempty"` // it is one of ours
	Removable   bool      `json:"removable"`              // nothing stands against it
	Why         string    `json:"why"`                    // what stands against it, or why it is safe, in words
}

// Scanned is what was found.
type Scanned struct {
	Worktrees []Stale  `json:"worktrees"` // largest first
	Problems  []string `json:"problems"`  // what could not be looked at
}

// Scan finds the worktrees of the repositories in and below dirs (and of those
// that these belong to), also below .claude/worktrees, .codex, .cursor and where temporary files
// are. It changes nothing.
func (m *Manager) Scan(ctx context.Context, dirs []string, progress func(found int, at string)) (Scanned, error) {
	return Scanned{}, errUnbuilt
}

// RemoveStale removes a worktree that Scan would find, through git; one of ours
// as Remove does.
func (m *Manager) RemoveStale(ctx context.Context, path string, q Removal) (Outcome, error) {
	return Outcome{}, errUnbuilt
}

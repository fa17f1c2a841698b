package config

import (
	"fmt"
	"path/filepath"
	"time"
)

// What holds for workspaces where the file says nothing.
const (
	defaultWorkspaceLimit     = 32
	defaultWorkspaceRetention = 24 * time.Hour
)

// WorkspaceKeys is what the file says of workspaces. A field is nil or empty where
// it says nothing; Settings.Workspaces tells what holds.
type WorkspaceKeys struct {
	WorkspaceDir       WorkspaceDir     `yaml:"workspace_dir"`
	WorkspaceLimit     *WorkspaceLimit  `yaml:"workspace_limit"`
	WorkspaceRetention *RetentionHours  `yaml:"workspace_retention_hours"`
	WorkspaceCleanup   WorkspaceCleanup `yaml:"workspace_cleanup"`
	WorkspaceBudget    *DiskBudget      `yaml:"workspace_budget"`
}

// Workspaces is what holds for the workspaces of jobs.
type Workspaces struct {
	Dir       string        // where they are made that name no place; "" is with our state
	Limit     int           // how many trees there may be at once
	Retention time.Duration // how long what nobody uses stays
	Cleanup   string        // of those that name none; "" is by their kind
	Budget    int64         // bytes of all of them; 0 = no limit
}

// Workspaces is what holds, each setting being its default where nothing is said.
func (s Settings) Workspaces() Workspaces {
	all := Workspaces{
		Dir: string(s.WorkspaceDir), Limit: defaultWorkspaceLimit, Retention: defaultWorkspaceRetention, Cleanup: string(s.WorkspaceCleanup),
	}
	if s.WorkspaceLimit != nil {
		all.Limit = int(*s.WorkspaceLimit)
	}
	if s.WorkspaceRetention != nil {
		all.Retention = time.Duration(*s.WorkspaceRetention)
	}
	if s.WorkspaceBudget != nil {
		all.Budget = int64(*s.WorkspaceBudget)
	}
	return all
}

// WorkspaceDir is a directory for workspaces.
type WorkspaceDir string

// UnmarshalText accepts an absolute path.
func (d *WorkspaceDir) UnmarshalText(text []byte) error {
	path := string(text)
	if !filepath.IsAbs(path) {
		return fmt.Errorf("%s is not the absolute path of a directory", excerpt(path))
	}
	*d = WorkspaceDir(filepath.Clean(path))
	return nil
}

// WorkspaceLimit is how many trees of workspaces there may be at once.
type WorkspaceLimit int

// UnmarshalText accepts the numbers from 1 to 10,000.
func (l *WorkspaceLimit) UnmarshalText(text []byte) error {
	n, err := between(text, 1, 10_000)
	*l = WorkspaceLimit(n)
	return err
}

// RetentionHours is how long a workspace stays that nobody uses.
type RetentionHours time.Duration

// The bounds of RetentionHours, in hours.
const (
	leastRetention = 0.001
	mostRetention  = 87_600 // ten years
)

// UnmarshalText accepts a number of hours, which may have a fraction.
func (r *RetentionHours) UnmarshalText(text []byte) error {
	n, ok := number(string(text))
	if !ok || n < leastRetention || n > mostRetention {
		return fmt.Errorf("%s is not a number of hours from %v to %v; workspace_cleanup: manual keeps workspaces for ever", excerpt(string(text)), leastRetention, mostRetention)
	}
	*r = RetentionHours(n * float64(time.Hour))
	return nil
}

// WorkspaceCleanup is when a workspace is taken away without being asked.
type WorkspaceCleanup string

// UnmarshalText accepts the four words and nothing else.
func (c *WorkspaceCleanup) UnmarshalText(text []byte) error {
	return setWord(c, text, "completion", "retention", "manual", "archive")
}

// DiskBudget is how many bytes all workspaces may take; 0 = any number.
type DiskBudget MemoryLimit

// UnmarshalText accepts what a MemoryLimit does.
func (b *DiskBudget) UnmarshalText(text []byte) error {
	if (*MemoryLimit)(b).UnmarshalText(text) != nil {
		return fmt.Errorf("%s is not an amount of at least 1 MB, such as 500 MB or 20 GB; write %s for no limit", excerpt(string(text)), none)
	}
	return nil
}

// Null switches it off.
func (b *DiskBudget) Null() { *b = 0 }

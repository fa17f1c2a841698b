package workspace

import (
	"context"
	"log/slog"
	"time"

	"lamplighter/app/workspace/inuse"
)

// Servers start a server for a workspace and end it with it.
type Servers interface {
	// Start starts a server on a directory and waits until it is ready.
	Start(ctx context.Context, dir string) (Server, error)
	// End ends what Lamplighter has started on a directory or below it and what no
	// client uses. It says which processes are left, which is none when all has
	// ended.
	End(ctx context.Context, dir string) error
}

// Options are what a Manager works with. Dir is needed.
type Options struct {
	Dir       string        // of records and of what belongs to workspaces, absolute; it is made
	Trees     string        // where workspaces are made that name no place; "" is in Dir
	Limit     int           // how many trees there may be; 0: any number
	Retention time.Duration // how long what nobody uses stays; 0 is a day
	Cleanup   Cleanup       // of what does not name one; "" is by its kind
	Budget    int64         // bytes of all trees and versions; 0: no limit
	Servers   Servers       // nil: none can be had
	By        string        // who asks, in words, for histories

	// The following are the system's where they are nil.
	InUse func(ctx context.Context, dir string) ([]inuse.Process, error)
	Clock func() Stamp
	Log   *slog.Logger
}

// UsualRetention is how long a workspace that nobody uses stays.
const UsualRetention = 24 * time.Hour

// Manager makes workspaces, finds them, and takes them away. Its methods are safe
// for concurrent use, also beside Managers of other processes on the same
// directory.
type Manager struct {
	o     Options
	store store
	hub   *hub // of Subscribe

	// patience is how long change waits for whoever is at work on a workspace.
	patience time.Duration
	// crash is called between each two effects of an operation, with where that
	// is. Tests end it there; else it is nil.
	crash func(point string)
}

// usualPatience is longer than a version of a middle-sized tree takes, and not
// longer than somebody at a terminal waits.
const usualPatience = 10 * time.Second

// at says that an operation has come to a point between two effects, where a
// crash may end it.
func (m *Manager) at(point string) {
	if m.crash != nil {
		m.crash(point)
	}
}

// New returns a Manager. Nothing is read or made before a method is called.
func New(o Options) *Manager {
	if o.Retention == 0 {
		o.Retention = UsualRetention
	}
	if o.Clock == nil {
		o.Clock = now
	}
	if o.InUse == nil {
		o.InUse = inuse.In
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Manager{o: o, store: store{o.Dir}, hub: newHub(), patience: usualPatience}
}

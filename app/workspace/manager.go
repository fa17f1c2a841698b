package workspace

import (
	"cmp"
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"lamplighter/app/workspace/inuse"
	"lamplighter/monitor"
)

// Servers start a server for a workspace and end it with it.
type Servers interface {
	// Start starts a server on a directory and waits until it is ready.
	Start(ctx context.Context, dir string) (Server, error)
	// On tells what Lamplighter has started on a directory or below it. own is the
	// session of its workspace, 0 when that has none, or AnySession.
	On(ctx context.Context, dir string, own int) (Started, error)
	// End ends what is idle by On. The error says what was not ended.
	End(ctx context.Context, dir string, own int) error
}

// AnySession has all sessions on a directory taken for those of its workspace: on
// one that nobody was told of yet.
const AnySession = -1

// Started is what Lamplighter has started on a directory.
type Started struct {
	// Idle are the processes of servers that nobody needs any more: of the session
	// of the workspace, of those whose asker has gone, and of shared servers without a
	// client.
	Idle []int
	Used []User // the others
}

// Options are what a Manager works with. Dir is needed.
type Options struct {
	Dir     string  // of records and of what belongs to workspaces, absolute; it is made
	Limits          // to begin with, see Configure
	Servers Servers // nil: none can be had
	By      string  // who asks, in words, for histories

	// The following are the system's where they are nil.
	InUse func(ctx context.Context, dir string) ([]inuse.Process, error)
	Clock func() Stamp
	Log   *slog.Logger

	Chronicle Chronicle // where Serve tells what happens
}

// Limits are what settings say of workspaces.
type Limits struct {
	Trees     string        // where workspaces are made that name no place; "" is in Dir
	Limit     int           // how many trees there may be; 0: any number
	Retention time.Duration // how long what nobody uses stays, of workspaces that are made from now on; 0 is a day
	Cleanup   Cleanup       // of what does not name one; "" is by its kind
	Budget    int64         // bytes of all trees and versions; 0: no limit

	Patience   time.Duration // how long who changes a workspace waits for another at work on it; 0: usualPatience
	PlacePause time.Duration // how often one who waits for a place tries to make one; 0: a minute
}

// holding are Limits for as long as they hold.
type holding struct {
	Limits
	over chan struct{} // is closed when others hold
}

// usualRetention is how long a workspace that nobody uses stays.
const usualRetention = 24 * time.Hour

// Manager makes workspaces, finds them, and takes them away. Its methods are safe
// for concurrent use, also beside Managers of other processes on the same
// directory.
type Manager struct {
	o       Options // its Limits are in holding
	store   store
	views   monitor.Feed[View]
	holding atomic.Pointer[holding]

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
	if o.Clock == nil {
		o.Clock = now
	}
	if o.InUse == nil {
		o.InUse = inuse.In
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	m := &Manager{store: store{o.Dir}}
	m.Configure(o.Limits)
	o.Limits = Limits{}
	m.o = o
	return m
}

// Configure has other Limits hold from now on, and Serve and those who wait for a
// place look anew what that means. What a workspace has been made with stays.
func (m *Manager) Configure(l Limits) {
	l.Retention = cmp.Or(l.Retention, usualRetention)
	l.Patience = cmp.Or(l.Patience, usualPatience)
	l.PlacePause = cmp.Or(l.PlacePause, time.Minute)
	before := m.holding.Swap(&holding{l, make(chan struct{})})
	if before != nil {
		close(before.over)
	}
}

// limits are the Limits that hold now.
func (m *Manager) limits() Limits { return m.holding.Load().Limits }

// reconfigured calls changed whenever other Limits hold than the known ones, until ctx ends.
func (m *Manager) reconfigured(ctx context.Context, known *holding, changed func()) error {
	for {
		select {
		case <-known.over:
			known = m.holding.Load()
			changed()
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

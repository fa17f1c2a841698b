// Package tray shows a snapshot as an icon with a menu on the desktop.
//
// A snapshot becomes a menu, which is a tree of lines as plain data (menu.go,
// lines.go, pure), and only the lines that differ from those shown reach the
// desktop (systray*.go, which alone know fyne.io/systray; where a menu is
// an object on the session bus it is ours, dbusmenu_unix.go). When nothing
// changed nothing is sent.
//
// What a click does, where snapshots come from and how a program starts and
// ends is not decided here: see Source and Orders. This package knows the
// model and the icons and nothing else of ours.
package tray

import (
	"context"
	"errors"
	"runtime"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/view"
)

// Orders carries out what the menu orders. Every call comes on a goroutine of its
// own and may take its time: the menu never waits, and reads what came of it, or
// why it was not done, from the snapshots that follow.
type Orders interface {
	Do(o view.Order)
}

// Options are what a tray needs. All but Rows are required.
type Options struct {
	Source monitor.Source
	Rows   *view.Rows // that others use as well; nil: each menu is put in words anew
	Orders Orders
	// Extras is asked each time the menu is drawn or opened, on one goroutine, and must
	// not wait. Who learns that something is otherwise calls Tray.Redraw.
	Extras func() Extras
	// Tell is called, at most once and on any goroutine, with a sentence that the
	// user should read when the desktop has no place for the icon at the start.
	Tell func(text string)
}

// Extras are what a menu says and offers besides its snapshot.
type Extras struct {
	Version    string
	Style      string // of the icon: "auto" (also when empty), "light" or "dark"
	AtLogin    bool   // the program is started at login
	CanSwitch  bool   // that can be changed
	GivenBack  uint64 // memory, in bytes, that ended instances gave back since GivenSince; 0 is not shown
	GivenSince time.Time
	Workspaces []Workspace // of jobs, oldest first
}

// Errors of Serve, for errors.Is.
var (
	// ErrNoBus says that there is no desktop session to show a tray icon in.
	ErrNoBus = errors.New("no session bus")
	// ErrBusLost says that the session bus went away while the tray was
	// shown, as it does at the end of a session.
	ErrBusLost = errors.New("the session bus is gone")
	// ErrClosed says that the desktop has closed the tray, as it does at the end
	// of a session; on Windows also because somebody ends the program politely.
	ErrClosed = errors.New("the desktop has closed the tray")
)

// Tray is the icon and its menu. Make it with New.
type Tray struct {
	opts    Options
	redraws monitor.Bell // the menu is to be drawn again
}

// New makes a tray that is not shown yet.
func New(opts Options) *Tray { return &Tray{opts: opts, redraws: monitor.NewBell()} }

// Redraw draws the menu again, as its Extras may have changed. It may be called on any goroutine and never waits.
func (t *Tray) Redraw() {
	t.redraws.Ring()
}

// Serve shows the tray until ctx ends and then returns nil. It returns an
// error that Is ErrNoBus at once when there is no desktop session, one that Is
// ErrBusLost when the session bus dies, and one that Is ErrClosed when the desktop
// closes the tray. The end of ctx hides the icon; only a new process can show it
// again: the desktop library keeps its state for the whole process, so Serve must
// not be called twice.
//
// On macOS it must be called on the goroutine of main, and
// everything else of the program runs beside it; elsewhere any goroutine will
// do. It takes over the process-wide session bus connection
// (dbus.SessionBus) and closes it at its end.
func (t *Tray) Serve(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	clicks, events := make(chan int, 8), make(chan menuEvent, 8)
	desk, err := openDesktop(ctx.Done(), clicks, events, t.opts.Tell)
	if err != nil {
		return err
	}
	runtime.LockOSThread() // the message loop of Windows belongs to its thread
	defer runtime.UnlockOSThread()
	snapshots, unsubscribe := t.opts.Source.Subscribe()
	defer unsubscribe()
	o := &owner{
		opts: t.opts, paint: desk, now: time.Now,
		snapshots: snapshots, redraws: t.redraws, clicks: clicks, menuEvents: events, lost: desk.lost,
	}
	return desk.run(ctx, o.first, o.loop)
}

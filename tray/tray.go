// Package tray shows a snapshot as an icon with a menu on the desktop.
//
// A snapshot becomes a menu (menu.go, pure), the menu is placed on a fixed set
// of slots (place.go, slots.go, pure), the difference to what the slots show
// becomes operations, and only those reach the desktop (systray.go, the one
// file that knows fyne.io/systray; where a menu is an object on the session bus
// it is ours, dbusmenu_unix.go). When nothing changed nothing is sent.
//
// What a click does, where snapshots come from and how a program starts and
// ends is not decided here: see Source and Actions. This package knows the
// model and the icons and nothing else of ours.
package tray

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"lamplighter/monitor"
)

// Source is where snapshots come from.
type Source interface {
	// Subscribe returns a channel of capacity 1 that always holds the newest
	// snapshot not yet read; the current one is in it at once. cancel ends
	// the subscription.
	Subscribe() (snapshots <-chan *monitor.Snapshot, cancel func())
}

// Actions is what the menu can order. Every call comes on a goroutine of its
// own and may take its time: the menu never waits.
type Actions interface {
	OpenInstance(id string) // its dashboard, or where the global one shows it
	OpenGlobal()            // the global dashboard
	Quit()
}

// Stopper ends instances. Its calls come as those of Actions do. Whatever it
// does, and why it does not, is read from the events of the snapshots that
// follow.
type Stopper interface {
	StopInstance(id string)
}

// Options are what a tray needs. Source and Actions are required.
type Options struct {
	Source  Source
	Actions Actions
	Stopper Stopper // nil: the menu does not offer to stop anything
	// Policies nil: the menu does not offer to tell them anything.
	Policies Policies
	Login    Login // nil: the menu does not say whether the program is started at login
	// GivenBack is how much memory, in bytes, ended instances gave back, and
	// since when. It is asked each time the menu is drawn, on one goroutine, and
	// must not wait. The menu shows nothing for nil or 0.
	GivenBack func() (bytes uint64, since time.Time)
	Style     string // of the icon: "auto" (also when empty), "light" or "dark"
	Version   string
	Log       *slog.Logger // nil for none
	// Tell is called, at most once and on any goroutine, with a sentence that
	// the user should read when the icon cannot be seen; nil writes it to Log.
	Tell func(text string)
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
	// ErrServed says that this process has had its tray: the desktop library
	// can be started once.
	ErrServed = errors.New("a tray can be served once per process")
)

// Tray is the icon and its menu. Make it with New.
type Tray struct {
	opts   Options
	served atomic.Bool

	styling sync.Mutex  // held to send
	styles  chan string // holds the newest one not yet shown

	redraws chan struct{} // holds one when the menu is to be drawn again
}

// New makes a tray that is not shown yet.
func New(opts Options) *Tray {
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	if opts.Tell == nil {
		opts.Tell = func(text string) { opts.Log.Warn(text) }
	}
	return &Tray{opts: opts, styles: make(chan string, 1), redraws: make(chan struct{}, 1)}
}

// SetStyle changes the style of the icon, as Options.Style has it, also while
// the tray is shown. It may be called on any goroutine and never waits.
func (t *Tray) SetStyle(style string) {
	t.styling.Lock()
	defer t.styling.Unlock()
	select {
	case <-t.styles:
	default:
	}
	t.styles <- style
}

// Serve shows the tray until ctx ends and then returns nil. It returns an
// error that Is ErrNoBus at once when there is no desktop session, one that Is
// ErrBusLost when the session bus dies, one that Is ErrClosed when the desktop
// closes the tray, and one that Is ErrServed when it is called again: the
// desktop library keeps its state for the whole process, so a supervisor must
// not restart it. The end of ctx hides the icon; only a new process can show it
// again.
//
// On macOS it must be called on the goroutine of main, and
// everything else of the program runs beside it; elsewhere any goroutine will
// do. It takes over the process-wide session bus connection
// (dbus.SessionBus) and closes it at its end.
func (t *Tray) Serve(ctx context.Context) error {
	if t.served.Swap(true) {
		return ErrServed
	}
	bus, err := openBus(ctx)
	if err != nil {
		return err
	}
	runtime.LockOSThread() // the message loop of Windows belongs to its thread
	defer runtime.UnlockOSThread()
	snapshots, unsubscribe := t.opts.Source.Subscribe()
	defer unsubscribe()

	told := ctx // to end
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	desk := newDesktop(ctx.Done(), bus)
	settled := bus.settled(ctx)
	o := &owner{
		paint: desk, actions: t.opts.Actions, stopper: t.opts.Stopper, policies: t.opts.Policies, login: t.opts.Login, given: t.opts.GivenBack, now: time.Now,
		version: t.opts.Version, style: t.opts.Style, snapshots: snapshots, styles: t.styles, redraws: t.redraws,
		clicks: desk.clicks, menuEvents: desk.menuEvents, settled: settled,
		lost: bus.lost(),
	}
	go bus.watchHost(ctx, t.opts.Log, t.opts.Tell)

	var first error
	started, done := make(chan struct{}), make(chan error, 1)
	err = desk.run(settled, func() { first = o.first() }, func() {
		close(started)
		go func() {
			if first == nil {
				first = o.loop(ctx)
			}
			done <- first
			desk.quit()
		}()
	})
	stop()
	why := errors.New("the desktop has not taken the icon")
	select {
	case <-started:
		err = errors.Join(err, <-done)
		why = ErrClosed
	default:
	}
	if err == nil && told.Err() == nil {
		return why
	}
	return err
}

// painter is what the owner draws on.
type painter interface {
	// slots makes the lines of the menu, all hidden, and returns them as they
	// are then.
	slots() []menuSlot
	// do makes changes of the menu, in that order.
	do(ops []slotOp) error
	// icon and tooltip change those in the panel.
	icon(style string, worst monitor.State) error
	tooltip(text string) error
}

// owner is the one goroutine that touches the desktop.
type owner struct {
	paint    painter
	actions  Actions
	stopper  Stopper                    // nil for none
	policies Policies                   // nil for none
	login    Login                      // nil for none
	given    func() (uint64, time.Time) // nil for none
	now      func() time.Time
	version  string
	style    string // of the icon

	snapshots  <-chan *monitor.Snapshot
	styles     <-chan string
	redraws    <-chan struct{}
	clicks     <-chan int // slots
	menuEvents <-chan menuEvent
	settled    <-chan struct{} // closed when loop begins if the desktop has taken the item in only now
	lost       <-chan struct{} // closed when the bus is gone

	snap  *monitor.Snapshot
	open  opening
	said  said
	shown struct {
		menu   menu
		placed places
		slots  []menuSlot
		style  string
		drawn  bool // the icon and its tooltip at least once
	}
	waiting bool // for the menu to close
	moved   moved
}

// first makes the menu and shows what is known so far.
func (o *owner) first() error {
	o.shown.slots = o.paint.slots()
	o.shown.placed = newPlaces()
	select {
	case o.snap = <-o.snapshots:
	default:
	}
	return o.draw()
}

// loop draws every snapshot, and hands out clicks, until ctx ends.
func (o *owner) loop(ctx context.Context) error {
	wake := time.NewTimer(0)
	defer wake.Stop()
	select {
	case <-o.settled: // once more what was drawn before, and then what is new
		o.shown.drawn = false
		if err := o.draw(); err != nil && ctx.Err() == nil {
			return err
		}
	default:
	}
	for {
		wake.Reset(o.sleep())
		var err error
		select {
		case <-ctx.Done():
			return nil
		case <-o.lost:
			if ctx.Err() != nil {
				return nil
			}
			return fmt.Errorf("show the tray: %w", ErrBusLost)
		case snap, ok := <-o.snapshots:
			if !ok {
				o.snapshots = nil
				continue
			}
			o.snap = snap
			err = o.draw()
		case o.style = <-o.styles:
			err = o.draw()
		case <-o.redraws:
			err = o.draw()
		case slot := <-o.clicks:
			o.click(slot)
			err = o.menuEvent(menuClicked)
		case e := <-o.menuEvents:
			err = o.menuEvent(e)
		case <-wake.C:
			err = o.draw()
		}
		if err != nil && ctx.Err() == nil {
			return err
		}
	}
}

// sleepStep bounds how often time alone may change the menu. It does so at full
// minutes, when all countdowns change.
const sleepStep = time.Minute

// sleep is how long nothing will change by time alone.
func (o *owner) sleep() time.Duration {
	const long = 24 * time.Hour
	now := o.now()
	if o.waiting {
		return max(o.open.until.Sub(now), 0)
	}
	if d, ok := nextChange(o.snap, now); ok {
		at := now.Add(d).Truncate(sleepStep)
		if at.Sub(now) < d {
			at = at.Add(sleepStep)
		}
		return at.Sub(now)
	}
	return long
}

func (o *owner) menuEvent(e menuEvent) error {
	now := o.now()
	if e == menuOpened && o.login != nil {
		o.login.AtLogin() // so that who answers from memory looks whether it still holds
	}
	next, renew := o.open.after(e, now)
	o.open = next
	if !renew || !o.waiting {
		return nil
	}
	return o.drawAs(now, false)
}

func (o *owner) draw() error {
	now := o.now()
	return o.drawAs(now, o.open.open(now))
}

// drawAs shows the snapshot as it reads now; held keeps every line in place.
func (o *owner) drawAs(now time.Time, held bool) error {
	opts := menuOptions{Version: o.version, Before: o.said, Stop: o.stopper != nil, Policies: o.policies != nil, Login: loginLine(o.login)}
	if o.given != nil {
		opts.GivenBack, opts.GivenSince = o.given()
	}
	menu := buildMenu(o.snap, now, opts)
	o.said = menu.Said
	o.waiting = false
	if held {
		want := menu
		menu = hold(o.shown.menu, want)
		o.waiting = !sameLines(menu, want)
	}
	placed := o.shown.placed.of(menu)
	o.moved = o.moved.after(o.shown.menu, menu, o.shown.placed, placed, now)
	ops := diff(o.shown.slots, slotsOf(menu, placed))
	if len(ops) > 0 {
		if err := o.paint.do(ops); err != nil {
			return err
		}
	}
	if !o.shown.drawn || menu.Worst != o.shown.menu.Worst || o.style != o.shown.style {
		if err := o.paint.icon(o.style, menu.Worst); err != nil {
			return err
		}
	}
	if !o.shown.drawn || menu.Tooltip != o.shown.menu.Tooltip {
		if err := o.paint.tooltip(menu.Tooltip); err != nil {
			return err
		}
	}
	o.shown.slots, o.shown.placed, o.shown.menu = apply(o.shown.slots, ops), placed, menu
	o.shown.style, o.shown.drawn = o.style, true
	return nil
}

// sameLines tells whether two menus have the same lines in the same places.
func sameLines(a, b menu) bool {
	sameID := func(a, b menuEntry) bool { return a.ID == b.ID }
	return slices.EqualFunc(a.Instances, b.Instances, sameID) && slices.EqualFunc(a.Stop, b.Stop, sameID) &&
		slices.EqualFunc(a.Keep, b.Keep, sameID) && slices.EqualFunc(a.Pins, b.Pins, sameID) &&
		sameGroups(a.StopAll, b.StopAll) && a.Policies.sameLines(b.Policies) && a.Login.Shown == b.Login.Shown &&
		slices.Equal(a.Recent, b.Recent) && a.Workspaces.equal(b.Workspaces) && len(a.Warnings) == len(b.Warnings) &&
		(a.KeepMore == "") == (b.KeepMore == "") && (a.GivenBack == "") == (b.GivenBack == "") &&
		(a.Hint == "") == (b.Hint == "") && (a.More == "") == (b.More == "") && (a.StopMore == "") == (b.StopMore == "")
}

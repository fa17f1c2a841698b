package workspace

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"
	"golang.org/x/sync/errgroup"

	"lamplighter/monitor"
	"lamplighter/monitor/statefile"
)

// serveLock is the lock of the one process that does what is due.
const serveLock = "serve.lock"

const (
	// turnPause is between two looks whether it is our turn to do what is due.
	turnPause = 2 * time.Second
	// viewPause is between two views, two sweeps, and two looks for what is to be
	// told, at least: each of them reads all records.
	viewPause = 500 * time.Millisecond
	// makingLook is how soon is looked again while something is being made: whoever
	// makes it may have ended without a word.
	makingLook = 5 * time.Second
	// blindLook is how often is looked where the system does not tell of changes.
	blindLook = time.Minute
)

// Serve recovers, and then does what is due when it is due, notices what other
// processes do, and tells record of all that happens. One process does this for a
// directory: another one waits for its turn, and only watches. The error is that
// of ctx, or that the directory cannot be used.
func (m *Manager) Serve(ctx context.Context, record func(monitor.Event)) error {
	if err := m.store.prepare(); err != nil {
		return err
	}
	changes := m.watch()
	defer changes.close()
	happened, due := monitor.NewBell(), monitor.NewBell()
	look := monitor.NewBell()
	look.Ring()
	known := m.holding.Load() // before anything below acts on them
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		return changes.follow(ctx, func(records bool) {
			look.Ring()
			if records {
				happened.Ring()
				due.Ring()
			}
		})
	})
	g.Go(func() error { return m.publish(ctx, look) })
	g.Go(func() error {
		return m.reconfigured(ctx, known, func() {
			look.Ring()
			due.Ring()
		})
	})
	g.Go(func() error {
		lock, err := statefile.Lock(ctx, m.store.path(locksDir, serveLock), turnPause)
		if err != nil {
			return fmt.Errorf("waiting for the turn to look after workspaces: %w", err)
		}
		defer unlock(lock)
		for _, name := range []string{toldFile, scannedFile} {
			// Each write sweeps too, but may not come for long.
			if err := statefile.Sweep(m.store.path(name), statefile.Abandoned); err != nil {
				m.o.Log.Warn("a file that an interrupted write has left cannot be removed", "error", err)
			}
		}
		tell := m.newTeller(record)
		tell.all()
		inner, ctx := errgroup.WithContext(ctx)
		inner.Go(func() error { return tell.serve(ctx, happened) })
		inner.Go(func() error { return watchClock(ctx, due.Ring) })
		inner.Go(func() error { return m.keepTidy(ctx, due, look) })
		return inner.Wait()
	})
	return g.Wait()
}

// keepTidy sweeps now, when something is due, and when the bell rings.
func (m *Manager) keepTidy(ctx context.Context, due, look monitor.Bell) error {
	if err := m.Recover(ctx); err != nil {
		m.o.Log.Warn("recovering workspaces", "error", err)
	}
	t := tries{}
	said := ""
	for {
		wait, err := m.sweep(ctx, t)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if text := fmt.Sprint(err); err != nil && text != said {
			said = text
			m.o.Log.Warn("cleaning up workspaces", "error", err)
		} else if err == nil {
			said = ""
		}
		look.Ring() // what is due has changed with the time
		if err := rest(ctx, viewPause); err != nil {
			return err
		}
		if err := await(ctx, due, clockWait(wait)); err != nil {
			return err
		}
	}
}

// clockWait bounds a time to wait by how long the system's timers can be trusted;
// 0 is for ever.
func clockWait(wait time.Duration) time.Duration {
	if wait <= 0 {
		return 0
	}
	return max(min(wait, longestWait), time.Second)
}

// await waits until the bell rings, or for a time; 0 is for ever.
func await(ctx context.Context, bell monitor.Bell, d time.Duration) error {
	var over <-chan time.Time
	if d > 0 {
		timer := time.NewTimer(d)
		defer timer.Stop()
		over = timer.C
	}
	select {
	case <-bell:
	case <-over:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return nil
}

// changes tell what other processes do to a store.
type changes struct {
	m       *Manager
	watcher *fsnotify.Watcher // nil where the system gives none
}

func (m *Manager) watch() *changes {
	c := &changes{m: m}
	watcher, err := fsnotify.NewWatcher()
	if err == nil {
		c.watcher = watcher
		err = c.add()
	}
	if err != nil {
		m.o.Log.Warn("the system does not tell of changes to workspaces; they are looked at once a minute", "error", err)
	}
	return c
}

func (c *changes) dirs() []string {
	return []string{c.m.store.path(recordsDir), c.m.store.path(makingDir)}
}

// add watches what is not watched yet.
func (c *changes) add() error {
	var failed []error
	for _, dir := range c.dirs() {
		failed = append(failed, c.watcher.Add(dir))
	}
	return errors.Join(failed...)
}

func (c *changes) close() {
	if c.watcher != nil {
		_ = c.watcher.Close()
	}
}

// follow calls changed until ctx ends: with true when records may have changed,
// else it was how far something has come.
func (c *changes) follow(ctx context.Context, changed func(records bool)) error {
	var events chan fsnotify.Event
	var failures chan error
	blind := c.watcher == nil || len(c.watcher.WatchList()) < len(c.dirs())
	if c.watcher != nil {
		events, failures = c.watcher.Events, c.watcher.Errors
	}
	var tick <-chan time.Time
	if blind {
		ticker := time.NewTicker(blindLook)
		defer ticker.Stop()
		tick = ticker.C
	}
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case e := <-events:
			dir, name := filepath.Split(e.Name)
			switch {
			case e.Has(fsnotify.Remove|fsnotify.Rename) && slices.Contains(c.dirs(), e.Name):
				c.again()
				changed(true)
			case e.Op == fsnotify.Chmod, strings.HasPrefix(name, "."), !strings.HasSuffix(name, ".json"):
			default:
				changed(filepath.Base(dir) == recordsDir)
			}
		case err := <-failures: // some may have been missed
			c.m.o.Log.Debug("watching workspaces", "error", err)
			changed(true)
		case <-tick:
			changed(true)
		}
	}
}

// again makes and watches directories that somebody has removed.
func (c *changes) again() {
	if err := c.m.store.prepare(); err != nil {
		c.m.o.Log.Warn("the directory of workspaces has gone", "error", err)
		return
	}
	if err := c.add(); err != nil {
		c.m.o.Log.Warn("watching workspaces", "error", err)
	}
}

// publish hands out a view whenever the bell rings and it has changed.
func (m *Manager) publish(ctx context.Context, look monitor.Bell) error {
	var last *View
	for {
		again := time.Duration(0) // not before the bell rings
		if last != nil && len(last.Making) > 0 {
			again = makingLook
		}
		if err := await(ctx, look, again); err != nil {
			return err
		}
		view, err := m.View(ctx)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			m.o.Log.Debug("looking at workspaces", "error", err) // what can be read is in it
		}
		if last == nil || !same(*last, view) {
			last = &view
			m.views.Publish(view)
		}
		if err := rest(ctx, viewPause); err != nil {
			return err
		}
	}
}

// rest waits for a time, or until ctx ends.
func rest(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// View is what there is at one moment.
type View struct {
	Workspaces []Workspace
	Making     []Making
}

// View looks what there is. The error tells what cannot be read; the rest is in
// the view.
func (m *Manager) View(ctx context.Context) (View, error) {
	list, err := m.list(ctx)
	making, makingErr := m.Making()
	return View{Workspaces: list, Making: making}, errors.Join(err, makingErr)
}

// Subscribe hands out the view now and at each change, while Serve runs; the newest
// wins. The channel is not closed.
func (m *Manager) Subscribe() (views <-chan View, cancel func()) { return m.views.Subscribe() }

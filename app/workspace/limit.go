package workspace

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/fsnotify/fsnotify"
)

// takePlace writes down a new record when there are less trees than there may be;
// the error is a *TooMany else. What was left by processes that have ended, and
// what is due, is done away with before that is said, and before anybody waits, of
// which tell is told.
func (m *Manager) takePlace(ctx context.Context, r *record, wait bool, tell func(Progress)) error {
	full, err := m.tryPlace(ctx, r)
	if full == nil || err != nil {
		return err
	}
	m.makePlace(ctx)
	full, err = m.tryPlace(ctx, r)
	if full == nil || err != nil {
		return err
	}
	if !wait {
		return full
	}
	tell(Progress{Phase: Waiting, FilesTotal: -1, BytesTotal: -1, Percent: -1, Left: -1})
	return m.waitForPlace(ctx, r)
}

// tryPlace writes down a record if there is a place for it, and says who has
// them all if there is none.
func (m *Manager) tryPlace(ctx context.Context, r *record) (*TooMany, error) {
	release, err := m.store.reserve(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	if most := m.limits().Limit; most > 0 {
		records, err := m.store.all()
		if err != nil { // it may be a place that is held, or not
			m.o.Log.Warn("counting workspaces", "error", err)
		}
		full := &TooMany{Limit: most}
		for _, other := range records {
			if other.ID != r.ID && other.holdsPlace() {
				full.add(m.view(other))
			}
		}
		if len(full.Holders) >= most {
			return full, nil
		}
	}
	return nil, m.store.write(r)
}

// holdsPlace reports whether a workspace has a tree, or is about to.
func (r *record) holdsPlace() bool {
	return r.State == Creating || r.State == Ready || r.Step != nil && r.Step.Verb == stepRestore
}

// add adds one that has a place.
func (e *TooMany) add(w Workspace) {
	e.Holders = append(e.Holders, w)
	if w.EndsAt != nil && (e.FreeAt == nil || w.EndsAt.Before(*e.FreeAt)) {
		e.FreeAt = w.EndsAt
	}
}

// makePlace does away with what holds a place without a right to it. That it
// cannot is said by the places that are still held.
func (m *Manager) makePlace(ctx context.Context) {
	if err := m.Recover(ctx); err != nil {
		m.o.Log.Warn("recovering workspaces for a new one", "error", err)
	}
	records, _ := m.store.all() // what cannot be read was told
	clock := m.o.Clock()
	isDue := func(r *record) bool { return due(factsOf(r, m.limits()), clock).due() }
	if !slices.ContainsFunc(records, isDue) {
		return
	}
	if _, err := m.Sweep(ctx); err != nil {
		m.o.Log.Warn("cleaning up for a new workspace", "error", err)
	}
}

// waitForPlace waits until a record changes or one is due to go, and tries again.
// Every so often it makes a place itself: whoever holds one may have ended without
// a word, and what stood against clean-up may have gone.
func (m *Manager) waitForPlace(ctx context.Context, r *record) error {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return fmt.Errorf("waiting for a place: %w", err)
	}
	defer watcher.Close()
	if err := watcher.Add(m.store.path(recordsDir)); err != nil {
		return fmt.Errorf("waiting for a place: %w", err)
	}
	tried := time.Now() // to make one
	timer := time.NewTimer(m.limits().PlacePause)
	defer timer.Stop()
	for {
		known := m.holding.Load()
		full, err := m.tryPlace(ctx, r)
		if full == nil || err != nil {
			return err
		}
		rest := max(m.limits().PlacePause-time.Since(tried), 0)
		if full.FreeAt != nil {
			if due := full.FreeAt.Sub(m.o.Clock().Wall); due > 0 {
				rest = min(rest, due+time.Second) // it is told to the second
			}
		}
		timer.Reset(rest)
		select {
		case <-watcher.Events:
		case <-known.over:
		case err := <-watcher.Errors: // events were lost: it is looked at again
			m.o.Log.Warn("waiting for a place", "error", err)
		case <-timer.C:
			m.makePlace(ctx)
			tried = time.Now()
		case <-ctx.Done():
			return fmt.Errorf("waiting for a place: %w; %w", context.Cause(ctx), full)
		}
	}
}

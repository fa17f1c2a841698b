package workspace

import (
	"context"
	"fmt"
	"time"

	"github.com/fsnotify/fsnotify"
)

// sweepPause is between two tries to make a place by doing what is due, when the
// first has not made one.
const sweepPause = time.Minute

// takePlace writes down a new record when there are less trees than there may be;
// the error is a *TooMany else. What was left by processes that have ended, and
// what is due, is done away with before that is said, and before anybody waits, of
// which tell is told.
func (m *Manager) takePlace(ctx context.Context, r *record, wait bool, tell func(Progress)) error {
	full, err := m.tryPlace(ctx, r)
	if full == nil || err != nil {
		return err
	}
	m.makePlace(ctx, full)
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
			if other.State == Creating || other.State == Ready {
				full.add(m.view(other))
			}
		}
		if len(full.Holders) >= most {
			return full, nil
		}
	}
	return nil, m.store.write(r)
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
func (m *Manager) makePlace(ctx context.Context, full *TooMany) {
	if err := m.Recover(ctx); err != nil {
		m.o.Log.Warn("recovering workspaces for a new one", "error", err)
	}
	if full.FreeAt == nil || full.FreeAt.After(m.o.Clock().Wall) {
		return
	}
	if _, err := m.Sweep(ctx); err != nil {
		m.o.Log.Warn("cleaning up for a new workspace", "error", err)
	}
}

// waitForPlace waits until a record changes or one is due to go, and tries again.
func (m *Manager) waitForPlace(ctx context.Context, r *record) error {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return fmt.Errorf("waiting for a place: %w", err)
	}
	defer watcher.Close()
	if err := watcher.Add(m.store.path(recordsDir)); err != nil {
		return fmt.Errorf("waiting for a place: %w", err)
	}
	var least time.Duration // until the next sweep
	for {
		known := m.holding.Load()
		full, err := m.tryPlace(ctx, r)
		if full == nil || err != nil {
			return err
		}
		var due <-chan time.Time
		if full.FreeAt != nil {
			timer := time.NewTimer(max(full.FreeAt.Sub(m.o.Clock().Wall), least))
			defer timer.Stop()
			due = timer.C
		}
		select {
		case <-watcher.Events:
		case <-known.over:
		case err := <-watcher.Errors: // events were lost: it is looked at again
			m.o.Log.Warn("waiting for a place", "error", err)
		case <-due:
			m.makePlace(ctx, full)
			least = sweepPause
		case <-ctx.Done():
			return fmt.Errorf("waiting for a place: %w; %w", context.Cause(ctx), full)
		}
	}
}

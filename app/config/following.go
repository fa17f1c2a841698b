package config

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"
)

// quietTime lets an editor finish before the file is read: many empty it first
// and write it then.
const quietTime = 200 * time.Millisecond

// maxFailures is how often in a row the system may fail to tell what happened.
const maxFailures = 10

// following notices when what a path leads to may have changed.
type following struct {
	path  string // empty: never
	after func(time.Duration) <-chan time.Time
	seen  func() // tests: an event has been taken note of
}

func newFollowing(path string) following {
	return following{path: path, after: time.After, seen: func() {}}
}

// serve calls look at the start and after each change, until ctx ends, and then
// returns its error. Any other error means that the system cannot tell of
// changes. Nothing runs while nothing changes. Files that are replaced,
// directories that are made later and symbolic links on the way are followed;
// when a directory above the file's own is renamed and is not a link, that is
// noticed with the next change below it.
func (f following) serve(ctx context.Context, look func()) error {
	if f.path == "" {
		<-ctx.Done()
		return ctx.Err()
	}
	path, err := filepath.Abs(f.path)
	if err != nil {
		return fmt.Errorf("watching the settings %s: %w", f.path, err)
	}
	failed := func(err error) error { return fmt.Errorf("watching the settings %s: %w", f.path, err) }
	w, err := watch(path)
	if err != nil {
		return failed(err)
	}
	defer func() { w.close() }()
	look()
	var quiet <-chan time.Time // not restarted by more events, so that it comes
	failures := 0
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-w.news.arrived:
			heeded := false
			for _, t := range w.news.take() {
				switch {
				case t.err == nil:
					failures = 0
					if !w.heed(t.event) {
						continue
					}
					f.seen()
				case errors.Is(t.err, errEnded):
					return failed(t.err)
				default:
					if failures++; failures > maxFailures {
						return failed(errors.Join(errors.New("the system cannot tell of changes"), t.err))
					}
					w.stale = true // something may have been missed
				}
				heeded = true
			}
			if heeded && quiet == nil {
				quiet = f.after(quietTime)
			}
		case <-quiet:
			quiet = nil
			if w.stale || !w.leads(path) {
				fresh, err := watch(path)
				if err != nil {
					return failed(err)
				}
				w.close()
				w = fresh
			}
			look()
		}
	}
}

package workspace

import (
	"context"
	"testing"
	"time"

	"lamplighter/app/workspace/inuse"
)

// What is used after a sweep has read what is due is none of its business any more.
func TestSweepOfUsedMeanwhile(t *testing.T) {
	for name, test := range map[string]struct {
		cleanup Cleanup
		budget  int64
		passes  time.Duration
	}{
		"removed":        {AtCompletion, 0, 25 * time.Hour},
		"archived":       {ToArchive, 0, 25 * time.Hour},
		"for the budget": {AtCompletion, 1, time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			m := l.manager(func(o *Options) { o.Budget = test.budget })
			from := l.source("from", map[string]string{"a": "a"})
			q := Request{Kind: Temp, From: from, Cleanup: test.cleanup}
			a, b := l.create(m, q), l.create(m, q)
			l.passes(test.passes)
			m.o.InUse = func(ctx context.Context, dir string) ([]inuse.Process, error) {
				if dir == a.Path { // the sweep is at the first
					if err := m.Touch(ctx, b.ID); err != nil {
						t.Error(err)
					}
				}
				return nil, nil
			}
			if test.budget > 0 { // the other is chosen by what was known of it
				seen := l.record(m, b.ID)
				l.passes(time.Second)
				if err := m.Touch(t.Context(), b.ID); err != nil {
					t.Fatal(err)
				}
				if _, err := m.tidy(t.Context(), seen, chore{actRemove, true}, tries{}, l.clock()); err != nil {
					t.Error(err)
				}
			} else {
				if wait := l.sweeps(m, tries{}); wait != stepPause {
					t.Errorf("it comes again after %v", wait)
				}
				if l.is(m, a) == Ready {
					t.Error("the first has not gone")
				}
			}
			if l.is(m, b) != Ready {
				t.Errorf("it was used just now, and is %s", l.is(m, b))
			}
		})
	}
}

package workspace

import (
	"context"
	"errors"
	"fmt"
	"time"

	"lamplighter/monitor"
)

// economise takes away what has to go for the budget, one after the other: what
// each of them really gives back is known afterwards.
func (m *Manager) economise(ctx context.Context, t tries) (again time.Duration, err error) {
	if m.limits().Budget <= 0 {
		return 0, nil
	}
	var failed []error
	done := map[string]bool{}
	for ctx.Err() == nil {
		records, _ := m.store.all() // what cannot be read was told
		clock := m.o.Clock()
		list := make([]facts, 0, len(records))
		for _, r := range records {
			if r.Step != nil {
				continue
			}
			f := factsOf(r, m.limits())
			rest := t.rest(r, clock)
			f.Waits = done[r.ID] || rest > 0
			list = append(list, f)
		}
		leave, more, over := overBudget(list, m.limits().Budget, clock)
		again = sooner(again, more)
		if over > 0 {
			failed = append(failed, fmt.Errorf("what stays until it is removed by hand takes %s more than the budget of %s; remove some of it, or allow more", monitor.Memory(over), monitor.Memory(m.limits().Budget)))
		}
		if len(leave) == 0 {
			break
		}
		id := leave[0]
		done[id] = true
		for _, r := range records {
			if r.ID == id {
				rest, err := m.tidy(ctx, r, chore{due(factsOf(r, m.limits()), clock).Action, true}, t, clock)
				again = sooner(again, rest)
				failed = append(failed, err)
			}
		}
	}
	return again, errors.Join(failed...)
}

// measureDue measures a workspace when that is due, and says when it is again.
func (m *Manager) measureDue(ctx context.Context, r *record, clock Stamp) (time.Duration, error) {
	if r.MeasuredAt != nil && r.SizeBytes >= 0 {
		since := clock.Wall.Sub(*r.MeasuredAt)
		if since < 0 { // by a clock that was wrong
			since = measureAgain
		}
		limit := measureAgain
		if r.UsedAt.After(*r.MeasuredAt) {
			limit = measureSoon
		}
		if rest := limit - since; rest > 0 {
			return rest, nil
		}
	} else if r.MeasuredAt != nil && clock.Wall.Sub(*r.MeasuredAt) < measureSoon {
		return measureSoon, nil // it could not be measured
	}
	size := m.size(ctx, r)
	if ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}
	err := m.locked(r.ID, func(r *record) error {
		if r.State != Ready {
			return nil
		}
		at := clock.Wall.UTC()
		r.MeasuredAt, r.SizeBytes, r.Files = &at, size.Bytes, int(size.Files)
		return m.store.write(r)
	})
	return measureSoon, err
}

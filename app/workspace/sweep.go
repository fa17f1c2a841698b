package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/google/uuid"
)

// How long is waited before something is tried again.
const (
	inUsePause  = 10 * time.Minute // somebody works inside
	standsPause = time.Hour        // work would be lost, or it did not work
	busyPause   = time.Minute      // somebody else is at work on it, who says when he has done
	stepPause   = 5 * time.Second  // somebody else is at work on it, or has left it half done: the end of a process is not told
)

// clockRest is how long after the system has started its clock is taken for set.
const clockRest = time.Hour

// When sizes are measured.
const (
	measureSoon  = time.Hour      // after it was measured, when it was used since
	measureAgain = 24 * time.Hour // in any case: not all that is done in one is a verb of ours
)

// Sweep does what is due, and says when something is next; zero: nothing is. The
// error tells what could not be done.
func (m *Manager) Sweep(ctx context.Context) (next time.Time, err error) {
	wait, err := m.sweep(ctx, tries{})
	if wait > 0 {
		next = m.o.Clock().Wall.Add(wait)
	}
	return next, err
}

// tries are those that something stood against, by id.
type tries map[string]try

// try is one of them.
type try struct {
	at    Stamp
	pause time.Duration
	used  Stamp // of the record by then: who has used it since may have cleared the way
}

// rest is how long a workspace is to be left alone, 0 when it may be tried.
func (t tries) rest(r *record, clock Stamp) time.Duration {
	last, tried := t[r.ID]
	if !tried || last.used != r.Used {
		return 0
	}
	return max(last.pause-elapsed(last.at, clock), 0)
}

func (t tries) note(r *record, clock Stamp, pause time.Duration) {
	t[r.ID] = try{at: clock, pause: pause, used: r.Used}
}

// sooner is the shorter of two times to wait, of which 0 is for ever.
func sooner(a, b time.Duration) time.Duration {
	if a <= 0 || b > 0 && b < a {
		return b
	}
	return a
}

// sweep does what is due but what was tried lately, and says after what time to
// come again, 0: never.
func (m *Manager) sweep(ctx context.Context, t tries) (wait time.Duration, err error) {
	records, err := m.store.all()
	failed := []error{err}
	m.dropNotes()
	clock := m.o.Clock()
	for id := range t {
		if !known(records, id) {
			delete(t, id)
		}
	}
	for _, r := range records {
		if ctx.Err() != nil {
			break
		}
		again, err := m.attend(ctx, r, t, clock)
		if err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", r.Name, err))
		}
		wait = sooner(wait, again)
	}
	again, err := m.economise(ctx, t)
	failed = append(failed, err)
	wait = sooner(wait, again)
	if ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}
	return wait, errors.Join(failed...)
}

func known(records []*record, id string) bool {
	for _, r := range records {
		if r.ID == id {
			return true
		}
	}
	return false
}

// attend does what is due with one workspace, and says when to come again.
func (m *Manager) attend(ctx context.Context, r *record, t tries, clock Stamp) (again time.Duration, err error) {
	switch {
	case r.Step != nil:
		return m.recoverAgain(ctx, r, t, clock)
	case r.State == Removed:
		if rest := left(r.Used, removedRest, clock); rest > 0 {
			return rest, nil
		}
		return 0, m.forgetRecord(r.ID)
	case r.State != Ready:
		return 0, nil
	}
	if m.isAside(r) {
		if rest := t.rest(r, clock); rest > 0 {
			return rest, nil
		}
		err := m.locked(r.ID, func(r *record) error {
			_, err := m.finishAside(ctx, r)
			return err
		})
		if err != nil {
			t.note(r, clock, inUsePause)
			return inUsePause, err
		}
		return stepPause, nil
	}
	if after(r.Used, clock) && (clock.Boot == "" || clock.SinceBoot >= clockRest) {
		// By a clock that was wrong: it counts from now on.
		return stepPause, m.locked(r.ID, func(r *record) error {
			if !after(r.Used, m.o.Clock()) {
				return nil
			}
			m.touch(r)
			return m.store.write(r)
		})
	}
	v := due(factsOf(r, m.limits()), clock)
	switch {
	case v.due():
		return m.tidy(ctx, r, chore{v.Action, false}, t, clock)
	case r.Problem != "" && m.limits().Budget <= 0 && leftKind(r.Problem) != "":
		// It was used again, so that nothing is due that something could stand against.
		err = m.locked(r.ID, func(r *record) error {
			if due(factsOf(r, m.limits()), m.o.Clock()).due() || leftKind(r.Problem) == "" {
				return nil
			}
			r.Problem = ""
			return m.store.write(r)
		})
	}
	measured, measureErr := m.measureDue(ctx, r, clock)
	wait := sooner(v.In, measured)
	if v.Action == actNothing {
		wait = measured
	}
	return wait, errors.Join(err, measureErr)
}

// recoverAgain finishes or undoes what was left half done, when whoever did it has
// ended.
func (m *Manager) recoverAgain(ctx context.Context, r *record, t tries, clock Stamp) (time.Duration, error) {
	if rest := t.rest(r, clock); rest > 0 {
		return rest, nil
	}
	err := m.recoverOne(ctx, r.ID)
	if err != nil {
		t.note(r, clock, inUsePause)
		return inUsePause, err
	}
	return stepPause, nil
}

// chore is what is to be done with a workspace.
type chore struct {
	action
	early bool // before it is due, for the budget
}

// errUsed is that a chore is none any more.
var errUsed = errors.New("it was used meanwhile")

// still reports whether a chore is to be done with a record as it is now, which was
// seen when that was decided. The caller holds its lock.
func (m *Manager) still(c chore, seen, now *record) bool {
	v := due(factsOf(now, m.limits()), m.o.Clock())
	return v.Action == c.action && (v.due() || c.early && now.Used == seen.Used)
}

// tidy cleans up one workspace, and says when to try again.
func (m *Manager) tidy(ctx context.Context, r *record, c chore, t tries, clock Stamp) (time.Duration, error) {
	if rest := t.rest(r, clock); rest > 0 {
		return rest, nil
	}
	problem, err := m.act(ctx, r, c)
	switch {
	case errors.Is(err, errUsed):
		return stepPause, nil
	case errors.Is(err, ErrBusy):
		return busyPause, nil // what is done to it is written down at its end
	case err != nil:
		t.note(r, clock, standsPause)
		return standsPause, err
	case problem == "":
		delete(t, r.ID)
		return 0, nil
	}
	pause := standsPause
	if leftKind(problem) == leftInUse {
		pause = inUsePause
	}
	t.note(r, clock, pause)
	return pause, nil
}

// act cleans up one workspace, which is looked at anew: it may have been used
// since it was seen, and the error Is errUsed then. It says what stands against it.
func (m *Manager) act(ctx context.Context, seen *record, c chore) (problem string, err error) {
	if c.action == actArchive {
		return m.putAway(ctx, seen, c)
	}
	release, err := m.store.try(seen.ID)
	if err != nil {
		return "", err
	}
	defer release()
	r, err := m.store.read(seen.ID)
	if errors.Is(err, fs.ErrNotExist) || err == nil && (r.Step != nil || r.State != Ready) {
		return "", nil // the next look tells
	}
	if err != nil {
		return "", err
	}
	if !m.still(c, seen, r) {
		return "", errUsed
	}
	if _, err := m.cleanUp(ctx, r, c.action, m.o.By+", as was to be"); err != nil {
		return "", err
	}
	return r.Problem, m.store.write(r)
}

// putAway archives a workspace.
func (m *Manager) putAway(ctx context.Context, seen *record, c chore) (problem string, err error) {
	err = m.change(ctx, seen.ID, func(r *record) error {
		if !m.still(c, seen, r) {
			return errUsed
		}
		tell, end := m.telling(r.Workspace, nil)
		defer end()
		return m.archive(ctx, r, tell)
	})
	if err == nil || errors.Is(err, ErrUnknown) {
		return "", nil
	}
	if errors.Is(err, ErrBusy) || errors.Is(err, errUsed) || ctx.Err() != nil {
		return "", err
	}
	return problem, m.locked(seen.ID, func(r *record) error {
		m.leave(r, err)
		problem = r.Problem
		return m.store.write(r)
	})
}

// locked does something with a record, as it is now, when nobody is at work on it
// and nothing is left to finish; else nothing is done.
func (m *Manager) locked(id string, do func(*record) error) error {
	return m.unlessBusy(id, func(r *record) error {
		if r.Step != nil {
			return nil
		}
		return do(r)
	})
}

// isAside reports whether finishAside has something to do.
func (m *Manager) isAside(r *record) bool {
	for _, verb := range []verb{stepRemove, stepEnd} {
		if lies, err := m.lies(r, m.trash(r, verb)); err == nil && lies == ours {
			return true
		}
	}
	return false
}

// forgetRecord forgets a workspace that was removed long ago, with its lock.
func (m *Manager) forgetRecord(id string) error {
	release, err := m.store.try(id)
	if errors.Is(err, ErrBusy) {
		return nil
	}
	if err != nil {
		return err
	}
	defer release()
	r, err := m.store.read(id)
	if err != nil || r.State != Removed || r.Step != nil {
		return nil
	}
	if err := os.Remove(m.store.recordPath(id)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("forgetting a removed workspace: %w", err)
	}
	// Whoever waits for the lock finds that its file has gone, and looks again. On
	// Windows it stays while it is open.
	_ = os.Remove(m.store.path(locksDir, id+".lock"))
	return nil
}

// dropNotes removes what processes that have ended have left of how far they had
// come.
func (m *Manager) dropNotes() {
	entries, err := os.ReadDir(m.store.path(makingDir))
	if err != nil {
		return
	}
	for _, entry := range entries {
		id, ok := strings.CutSuffix(entry.Name(), ".json")
		if !ok || uuid.Validate(id) != nil {
			continue
		}
		if release, err := m.store.try(id); err == nil {
			_ = os.Remove(m.store.makingPath(id)) // it is looked at again
			release()
		}
	}
}

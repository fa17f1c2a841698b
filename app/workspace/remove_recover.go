package workspace

import (
	"context"
	"errors"
	"fmt"
)

// recoverRemove finishes the removal of a workspace or of its tree, or undoes it
// where it was not decided yet and something stands against it by now. The caller
// holds the lock.
func (m *Manager) recoverRemove(ctx context.Context, r *record) error {
	if r.State == Ready {
		decided, err := m.decideAnew(ctx, r)
		if err != nil || !decided {
			return err
		}
	}
	_, err := m.finishRemoval(ctx, r)
	return err
}

// decideAnew reports whether a removal that was begun goes on. When it does not, its
// step is undone and the reason is in the record. A tree that was not set aside stays:
// whoever has used it since may have work in it that was not there when it was asked
// for. Clean-up decides for itself.
func (m *Manager) decideAnew(ctx context.Context, r *record) (bool, error) {
	aside, err := m.lies(r, r.Step.Trash)
	switch {
	case err != nil:
		return false, err // the drive is not there
	case aside == ours:
		if _, err := m.aloneIn(ctx, r); err != nil {
			return false, m.given(r, m.putBack(r, err))
		}
		return true, nil
	}
	return false, m.undo(r, nil)
}

// given remembers why a removal was given up, when that is what err says and its
// step has been undone.
func (m *Manager) given(r *record, err error) error {
	var stands *standsAgainst
	if r.Step != nil || !errors.As(err, &stands) {
		return err
	}
	m.leave(r, err)
	if err := m.store.write(r); err != nil {
		return fmt.Errorf("writing down why %s was not removed: %w", r.Name, err)
	}
	return nil
}

// finishAside finishes what a crash has interrupted while the disk was too full
// for its step to be written down: a tree that was set aside tells by its name.
// What would be lost with it nobody knows any more, so that it is put back where
// that may be something, and where somebody works in it. The caller holds the lock.
// It reports whether there was something to do.
func (m *Manager) finishAside(ctx context.Context, r *record) (bool, error) {
	if r.State != Ready || r.Step != nil {
		return false, nil
	}
	for _, verb := range []verb{stepRemove, stepEnd} {
		trash := m.trash(r, verb)
		if lies, err := m.lies(r, trash); err != nil || lies != ours {
			continue
		}
		r.Step = &step{Verb: verb, By: m.o.By, Trash: trash}
		if _, err := m.aloneIn(ctx, r); err != nil {
			return true, m.given(r, m.putBack(r, err))
		}
		if r.Kind != Temp || r.Source.Kind == FromGit {
			if err := m.putBack(r, errAside); !errors.Is(err, errAside) || r.Step != nil {
				return true, err
			}
			return true, nil
		}
		_, err := m.finishRemoval(ctx, r)
		return true, err
	}
	return false, nil
}

// errAside is why a tree is put back of which nobody knows what it has.
var errAside = errors.New("its removal was interrupted")

package workspace

import (
	"context"
	"errors"
	"io/fs"
)

// treePrint is what a tree is before it is looked what would be lost with it, see
// fingerprint: so long as that stays the same what was found holds. It is "" where
// what is written into it is no loss.
func (m *Manager) treePrint(ctx context.Context, r *record, q Removal) (string, error) {
	if q.Force || q.DryRun || r.State != Ready || r.Kind == Temp && r.Source.Kind != FromGit {
		return "", nil
	}
	if lies, err := m.lies(r, r.Path); err != nil || lies != ours {
		return "", nil // which is a loss of its own
	}
	print, err := fingerprint(ctx, r.Path)
	switch {
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case errors.Is(err, fs.ErrNotExist):
		return "", writtenTo(r)
	}
	return print, err
}

// aloneIn makes sure that nobody has worked in a tree that was set aside since it
// was looked what would be lost with it.
func (m *Manager) aloneIn(ctx context.Context, r *record) ([]User, error) {
	users, err := m.inside(ctx, r, r.Step.Trash)
	if err == nil {
		err = inUse(r.Name, users)
	}
	if err != nil || r.Step.Print == "" {
		return users, err
	}
	err = unchanged(ctx, r.Step.Trash, r.Step.Print)
	switch {
	case ctx.Err() != nil:
		err = context.Cause(ctx)
	case errors.Is(err, ErrInUse), errors.Is(err, fs.ErrNotExist):
		err = writtenTo(r)
	}
	return users, err
}

// writtenTo says that somebody is at work in a tree, whoever that is.
func writtenTo(r *record) error {
	return &standsAgainst{r.Name, ErrInUse, "something in it was changed just now"}
}

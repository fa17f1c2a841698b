package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"lamplighter/app/workspace/tree"
	"lamplighter/monitor"
)

// List are the workspaces that are whole, in the order in which they were made.
// The error tells of records that cannot be read; the others are in the list
// nevertheless.
//
// What was interrupted is finished or undone first: there may be nobody else who
// does.
func (m *Manager) List(ctx context.Context) ([]Workspace, error) {
	m.recoverFirst(ctx)
	return m.list(ctx)
}

// list is List of what there is, whether it was interrupted or not.
func (m *Manager) list(ctx context.Context) ([]Workspace, error) {
	records, err := m.store.all()
	list := make([]Workspace, 0, len(records))
	for _, r := range records {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if r.listed() {
			list = append(list, m.view(r))
		}
	}
	return list, err
}

// listed reports whether a workspace is whole: one that is being made is not, and
// neither is one that is being removed, from when its tree is not where it was.
func (r *record) listed() bool {
	switch {
	case r.unfinished():
		return true
	case r.State != Ready && r.State != Ended && r.State != Archived, r.Step != nil && r.Step.Verb == stepCreate:
		return false
	case r.Step != nil && r.Step.Verb == stepRemove:
		return r.State == Ready && r.hasTree()
	}
	return true
}

// unfinished reports whether a removal has failed, so that something of it is left.
func (r *record) unfinished() bool {
	return r.State == Removed && r.Step != nil && leftKind(r.Problem) == leftFailed
}

// hasTree reports whether the tree is where it was made.
func (r *record) hasTree() bool {
	id, err := tree.Identity(r.Path)
	return err == nil && id == r.Root
}

// settle finishes or undoes what was interrupted of a workspace that somebody
// asks for by name: there may be nobody else who does, and it may be there or not
// after that. Somebody who is at work on it is left alone.
func (m *Manager) settle(ctx context.Context, r *record) (*record, error) {
	if r.Step == nil {
		return r, nil
	}
	if err := m.recoverOne(ctx, r.ID); err != nil {
		m.o.Log.Warn("recovering a workspace", "name", r.Name, "error", err)
		if !r.listed() {
			return nil, err
		}
	}
	now, err := m.store.read(r.ID)
	if err != nil {
		return nil, unknown(r.ID, err)
	}
	if !now.listed() {
		return nil, unknown(r.ID, fs.ErrNotExist)
	}
	return now, nil
}

// Find is the one with an id, the end of one (8 characters at least), the beginning
// of one (16 at least: what comes before tells the time alone), a name, or a job. The
// error Is ErrUnknown, or is an *Ambiguous; of several with one job's name only one
// that is Ready is meant.
func (m *Manager) Find(ctx context.Context, name string) (Workspace, error) {
	if ctx.Err() != nil {
		return Workspace{}, context.Cause(ctx)
	}
	r, err := m.find(name)
	if err == nil {
		r, err = m.settle(ctx, r)
	}
	if err != nil {
		return Workspace{}, err
	}
	return m.view(r), nil
}

// shortest is how much of an id has to be said.
const shortest = 8

// timeDigits is how many characters at the beginning of an id tell the time alone
// and the version, with the hyphens.
const timeDigits = len("01900000-0000-7")

// known reports whether a workspace may be asked for: also one whose removal was
// interrupted, so that it comes to an end.
func (r *record) known() bool {
	return r.State == Ready || r.State == Ended || r.State == Archived || r.unfinished()
}

// find is Find for the other files: the record as it is on disk.
func (m *Manager) find(name string) (*record, error) {
	if id := strings.ToLower(name); uuid.Validate(id) == nil && len(id) == 36 {
		r, err := m.store.read(id)
		switch {
		case err == nil && r.known():
			return r, nil
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return nil, err
		}
	}
	records, broken := m.store.all()
	r, err := meant(records, name)
	if err != nil && broken != nil {
		return nil, errors.Join(err, broken) // it may be what was meant
	}
	return r, err
}

// meant is the one of the records that a name means.
func meant(records []*record, name string) (*record, error) {
	lower, job := strings.ToLower(name), monitor.Clean(name)
	var found, gone []*record
	byID := false
	for _, r := range records {
		part := len(lower) >= shortest && strings.HasSuffix(r.ID, lower) || len(lower) > timeDigits && strings.HasPrefix(r.ID, lower)
		switch {
		case name == "" || !part && r.Job != job && r.ID != lower && r.Name != lower:
		case !r.known():
			gone = append(gone, r)
		case r.ID == lower || r.Name == lower:
			return r, nil
		default:
			found = append(found, r)
			byID = byID || part
		}
	}
	if len(found) > 1 {
		ready := slices.DeleteFunc(slices.Clone(found), func(r *record) bool { return r.State != Ready })
		if len(ready) > 0 && !byID {
			found = ready
		}
	}
	if len(found) == 1 {
		// The name that has meant one that was removed means no other one after that.
		for _, r := range gone {
			if byID || found[0].State != Ready && after(r.Used, Stamp{Wall: found[0].CreatedAt}) {
				found = append(found, r)
			}
		}
	}
	switch len(found) {
	case 0:
		return nil, fmt.Errorf("looking for %q: %w; `lamplighter workspace list` shows those that there are", name, ErrUnknown)
	case 1:
		return found[0], nil
	}
	ambiguous := &Ambiguous{Name: name}
	for _, r := range found {
		ambiguous.IDs = append(ambiguous.IDs, r.ID)
	}
	return nil, ambiguous
}

// touch says that a workspace is used now; the caller writes the record.
func (m *Manager) touch(r *record) {
	r.Used = m.o.Clock()
	r.UsedAt = r.Used.Wall.UTC()
}

// change holds a workspace's lock, reads its record anew, finishes what a crash
// has left, calls do, and writes the record when do returns no error. do may write it in between.
// The error Is ErrBusy when somebody else is at work on it for longer than one
// waits for, and ErrUnknown when there is none, or none any more.
func (m *Manager) change(ctx context.Context, id string, do func(*record) error) error {
	if _, err := m.store.read(id); err != nil {
		return unknown(id, err)
	}
	waiting, cancel := context.WithTimeout(ctx, m.limits().Patience)
	release, err := m.store.hold(waiting, id)
	cancel()
	if err != nil {
		return err
	}
	defer release()
	r, err := m.store.read(id)
	if err == nil && r.Step != nil {
		if err := m.recover(ctx, r); err != nil {
			return err
		}
		r, err = m.store.read(id)
	}
	if err != nil {
		return unknown(id, err)
	}
	if !r.listed() {
		return unknown(id, fs.ErrNotExist)
	}
	if err := do(r); err != nil {
		return err
	}
	return m.store.write(r)
}

// unknown says of a record that is not there that it is none.
func unknown(id string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("looking for %q: %w; it may have been removed", id, ErrUnknown)
	}
	return err
}

// view is what is told of a record: EndsAt, Ends and the number of versions are
// worked out.
func (m *Manager) view(r *record) Workspace {
	w := r.Workspace
	w.Shares = slices.Clone(w.Shares)
	if w.Shares == nil {
		w.Shares = []Share{}
	}
	w.Versions = m.countVersions(r)
	w.EndsAt, w.Ends = plan(r, m.limits(), m.o.Clock())
	if r.Step != nil && r.Step.Verb == stepEnd && r.State == Ready && !r.hasTree() {
		w.State = Ended
	}
	return w
}

// countVersions counts what versions reads: a directory gets its number when it
// is whole.
func (m *Manager) countVersions(r *record) int {
	if r.Kind == Temp {
		return 0
	}
	entries, err := os.ReadDir(m.store.path(dataDir, r.ID, "versions"))
	if err != nil {
		return 0
	}
	count := 0
	for _, entry := range entries {
		if n, err := strconv.Atoi(entry.Name()); err == nil && n > 0 && entry.IsDir() {
			count++
		}
	}
	return count
}

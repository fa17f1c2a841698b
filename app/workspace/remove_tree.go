package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"lamplighter/app/workspace/tree"
	"lamplighter/monitor"
)

// takeAway takes all of a workspace away (stepRemove) or its tree (stepEnd), when
// nothing stands against it. The caller holds its lock, and writes the record when
// there is no error. Where the record has a Step after an error there is something
// left to be finished by recover.
//
// First the step is written down. Then the tree is renamed beside its place, so
// that nobody comes in any more, and it is looked again who is inside, and whether
// somebody was since it was looked what would be lost: until then all can be undone. With the State that is written then it is decided, and a crash
// does not keep it from being finished.
func (m *Manager) takeAway(ctx context.Context, r *record, verb verb, q Removal) (out Outcome, err error) {
	defer func() { out.Workspace = m.view(r) }()
	server := r.Server
	size := m.measuring(ctx, *r)
	print, err := m.treePrint(ctx, r, q)
	if err == nil {
		err = m.stands(ctx, r, verb, q, &out)
	}
	if err == nil && server != r.Server { // it may have written at its end
		if print, err = m.treePrint(ctx, r, q); err == nil {
			err = m.stands(ctx, r, verb, q, &out)
		}
	}
	before := size(err == nil)
	if err != nil {
		if server != r.Server { // it has been ended all the same
			err = errors.Join(err, m.store.write(r))
		}
		return out, err
	}
	trash, err := freeName(m.trash(r, verb))
	if err != nil {
		return out, fmt.Errorf("removing %s: %w", r.Name, err)
	}
	r.Step = &step{Verb: verb, By: q.By, Trash: trash, Force: q.Force, Print: print}
	if err := m.store.write(r); err != nil && !diskFull(err) {
		// On a full disk the name of what is set aside has to say it, see finishAside.
		r.Step = nil
		return out, err
	}
	m.at("remove: begun")
	out.InUse, err = m.setAside(ctx, r)
	if err != nil {
		return out, err
	}
	out.Kept, err = m.finishRemoval(ctx, r)
	if err != nil {
		if r.Step != nil && ctx.Err() == nil { // it is listed with that, until it has gone
			r.Problem = leftFailed + err.Error()
			err = errors.Join(err, m.store.write(r))
		}
		return out, err
	}
	out.Freed = before
	if verb == stepEnd {
		out.Freed = max(before-max(r.SizeBytes, 0), 0)
	}
	out.Done, out.What = true, "removed"
	if verb == stepEnd {
		out.What = "its tree was removed, its versions stay"
	}
	return out, nil
}

// trash is where the tree of a workspace is set aside while it is removed. What
// it is called says for what.
func (m *Manager) trash(r *record, verb verb) string {
	suffix := ".trash"
	if verb == stepEnd {
		suffix = ".ended"
	}
	return filepath.Join(filepath.Dir(r.Path), "."+r.Name+suffix)
}

// freeName is a path, or one like it, where nothing lies.
func freeName(path string) (string, error) {
	for n := range 100 {
		name := path
		if n > 0 {
			name += strconv.Itoa(n)
		}
		_, err := os.Lstat(name)
		if errors.Is(err, fs.ErrNotExist) || isNotDir(err) { // or what is around it has gone too
			return name, nil
		}
		if err != nil {
			return "", err
		}
	}
	return "", fmt.Errorf("%s is taken, and so are the names like it; remove what lies there", monitor.Clean(path))
}

// setAside renames the tree of a record, whose Step says where to. When somebody
// is inside by then it is put back, and the step is undone.
func (m *Manager) setAside(ctx context.Context, r *record) ([]User, error) {
	none := []User{}
	if r.State != Ready {
		return none, nil
	}
	lies, err := m.lies(r, r.Path)
	if lies != ours || err != nil {
		return none, nil // stands has said so, and it was asked for nevertheless
	}
	if err := os.Rename(r.Path, r.Step.Trash); err != nil {
		return none, m.undo(r, m.notRenamed(r, err))
	}
	m.at("remove: set aside")
	users, err := m.aloneIn(ctx, r)
	if lies, missing := m.lies(r, r.Step.Trash); err == nil && lies != ours {
		err = errors.Join(fmt.Errorf("removing %s: it was replaced meanwhile", r.Name), missing)
	}
	if err != nil {
		return users, m.putBack(r, err)
	}
	return none, nil
}

// notRenamed says why a tree stays where it is. Windows renames no directory in
// which something is open.
func (m *Manager) notRenamed(r *record, err error) error {
	if sharing(err) {
		return &standsAgainst{r.Name, ErrInUse, "a program has something open in " + monitor.Clean(r.Path)}
	}
	return fmt.Errorf("removing %s: %w", r.Name, err)
}

// putBack puts a tree that was set aside to its place, and undoes the step, because
// of why. Where something else lies there by now both stay.
func (m *Manager) putBack(r *record, why error) error {
	if _, err := os.Lstat(r.Path); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w; it lies in %s now, and is removed when nothing stands against it", why, monitor.Clean(r.Step.Trash))
	}
	if err := os.Rename(r.Step.Trash, r.Path); err != nil {
		return errors.Join(why, fmt.Errorf("putting %s back: %w", r.Name, err))
	}
	m.at("remove: put back")
	return m.undo(r, why)
}

// undo writes that nothing is being done with a record any more, because of why.
func (m *Manager) undo(r *record, why error) error {
	begun := r.Step
	r.Step = nil
	if err := m.store.write(r); err != nil && !diskFull(err) {
		r.Step = begun
		return errors.Join(why, err)
	}
	return why
}

// finishRemoval removes what is to go, by the Step of a record, and says what
// stays. It goes on from wherever it was interrupted.
func (m *Manager) finishRemoval(ctx context.Context, r *record) (kept string, err error) {
	end := r.Step.Verb == stepEnd
	there, unseen := m.lies(r, r.Path)
	fresh := r.State == Ready
	if fresh {
		r.State = Removed
		if end {
			r.State = Ended
		}
	} else if !end {
		r.State = Removed
	}
	// It goes on where that cannot be written because the disk is full: the name of
	// what was set aside says the same.
	if err := m.store.write(r); err != nil && !diskFull(err) {
		return "", err
	}
	m.at("remove: decided")
	var commits worktreeCommits
	goes := there != another && (unseen == nil || !fresh || r.Root == "")
	if goes {
		commits = m.saveHead(ctx, r)
		if ctx.Err() != nil {
			return "", fmt.Errorf("removing %s: what is left of it is tried again: %w", r.Name, context.Cause(ctx))
		}
		m.at("remove: commits saved")
	}
	tell, told := m.telling(r.Workspace, nil)
	defer told()
	progress := func(done tree.Count) {
		tell(Progress{Phase: Removing, Files: done.Files, FilesTotal: -1, Bytes: done.Bytes, BytesTotal: -1, Percent: -1, Left: -1})
	}
	lies, err := m.lies(r, r.Step.Trash)
	if err != nil && !fresh && r.Root != "" { // without a Root it had no tree to set aside
		return "", fmt.Errorf("removing %s: what is left of it is tried again: %w", r.Name, err)
	}
	if err == nil && lies == ours {
		err := tree.Remove(ctx, r.Step.Trash, r.Root, progress)
		if errors.Is(err, tree.ErrMounted) && fresh { // nothing of it was removed
			r.State = Ready
			return "", m.putBack(r, fmt.Errorf("removing %s: %w", r.Name, err))
		}
		if err != nil {
			return "", fmt.Errorf("removing %s: what is left of it is tried again: %w", r.Name, err)
		}
	}
	m.at("remove: tree removed")
	if !end {
		if err := m.removeData(ctx, r, progress); err != nil {
			return "", fmt.Errorf("removing %s: what is left of it is tried again: %w", r.Name, err)
		}
	}
	m.at("remove: data removed")
	switch {
	case goes:
		kept = m.forget(ctx, r, commits, !end)
	case there == another:
		kept = "what lies at " + monitor.Clean(r.Path) + ", which was not made there by Lamplighter"
	default:
		kept = "what may lie at " + monitor.Clean(r.Path) + ", which cannot be looked at now"
	}
	m.at("remove: forgotten by git")
	m.removed(ctx, r, kept)
	return kept, m.store.write(r)
}

// removed writes into a record that what was to go has gone.
func (m *Manager) removed(ctx context.Context, r *record, kept string) {
	what, freed := "removed", r.SizeBytes
	size := int64(0)
	if r.Step.Verb == stepEnd {
		what, size = "tree_ended", -1
		if count, err := tree.Measure(ctx, m.store.data(r.ID), nil); err == nil {
			size, r.Files = count.Bytes, int(count.Files)
		}
		freed -= max(size, 0)
	} else {
		r.Files = 0
	}
	r.SizeBytes = size
	clock := m.o.Clock()
	at := clock.Wall.UTC()
	r.MeasuredAt = &at
	detail := "by " + r.Step.By
	if freed > 0 {
		detail += "; " + monitor.Memory(freed) + " freed"
	}
	if kept != "" {
		detail += "; what stays: " + kept
	}
	r.note(at, what, detail)
	if r.State == Removed {
		r.Used, r.Archive = clock, nil // it is remembered for a while from now on
	}
	r.Root, r.Step, r.Server, r.Problem = "", nil, nil, ""
}

// removeData removes what belongs to a workspace besides its tree.
func (m *Manager) removeData(ctx context.Context, r *record, progress func(tree.Count)) error {
	if err := tree.Remove(ctx, m.store.data(r.ID), "", progress); err != nil {
		return err
	}
	if r.Archive == nil || filepath.Dir(r.Archive.Path) != m.store.path(archivesDir) {
		return nil // what lies elsewhere was not put there by us
	}
	if err := os.Remove(r.Archive.Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// measuring measures what would be given back with a workspace while something else
// is done; size waits for that, or gives it up.
func (m *Manager) measuring(ctx context.Context, r record) (size func(wanted bool) int64) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan int64, 1)
	go func() { done <- m.freed(ctx, &r, false) }()
	return func(wanted bool) int64 {
		defer cancel()
		if !wanted {
			cancel()
		}
		return <-done
	}
}

// freed is what would be given back with a workspace, 0 where that is not known.
// What was measured before is taken for it unless exact is wanted.
func (m *Manager) freed(ctx context.Context, r *record, exact bool) int64 {
	if r.State == Archived && r.Archive != nil {
		return r.Archive.Bytes
	}
	if !exact && r.SizeBytes >= 0 && r.MeasuredAt != nil {
		return r.SizeBytes
	}
	return max(m.size(ctx, r).Bytes, 0)
}

// size measures a workspace; Bytes are -1 where it could not be.
func (m *Manager) size(ctx context.Context, r *record) tree.Count {
	total := tree.Count{}
	if lies, _ := m.lies(r, r.Path); r.State == Ready && lies == ours {
		count, err := tree.Measure(ctx, r.Path, nil)
		if err != nil {
			return tree.Count{Bytes: -1}
		}
		total = count
	}
	count, err := tree.Measure(ctx, m.store.data(r.ID), nil)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return tree.Count{Bytes: -1}
	}
	total.Files += count.Files
	total.Bytes += count.Bytes
	return total
}

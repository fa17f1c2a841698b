package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"lamplighter/app/workspace/tree"
	"lamplighter/monitor"
)

// Restore brings an archived workspace back (version 0), or puts a version into the tree, which
// is kept as a version before when it differs from its last one, so that nothing
// is lost. A tree that has gone is made anew. The error is a *TooMany where there is
// no place for a tree.
func (m *Manager) Restore(ctx context.Context, id string, version int, progress func(Progress)) (Workspace, error) {
	if version < 0 {
		return Workspace{}, fmt.Errorf("restoring: %w: versions count from 1", ErrBadRequest)
	}
	found, err := m.find(id)
	if err != nil {
		return Workspace{}, err
	}
	var w Workspace
	err = m.change(ctx, found.ID, func(r *record) error {
		if version == 0 && r.State == Ready && (found.State != Ready || found.Step != nil && found.Step.Verb == stepRestore) { // another has just done it, or it had been interrupted
			w = m.view(r)
			return nil
		}
		tell, end := m.telling(r.Workspace, progress)
		defer end()
		if err := m.restore(ctx, r, version, tell); err != nil {
			return fmt.Errorf("restoring %s: %w", r.Name, err)
		}
		w = m.view(r)
		return nil
	})
	return w, err
}

// restore is Restore of a record whose lock the caller holds.
func (m *Manager) restore(ctx context.Context, r *record, version int, tell func(Progress)) error {
	versions, err := m.versions(r.ID)
	if err != nil {
		return err
	}
	if version > 0 { // before anything is done
		if _, err := versionAt(r, versions, version); err != nil && !(errors.Is(err, ErrState) && r.State == Archived) {
			return err
		}
	}
	if r.State == Archived {
		done, err := m.unarchive(ctx, r, tell)
		if err != nil {
			return err
		}
		if done && version == 0 {
			return nil
		}
		if versions, err = m.versions(r.ID); err != nil {
			return err
		}
	}
	if r.State == Ready && m.treeGone(r) {
		return m.anew(ctx, r, versions, version, tell)
	}
	if version == 0 && r.State == Ready {
		return fmt.Errorf("%w: its tree is there; say which version is to be put into it, with --version", ErrState)
	}
	if version == 0 {
		version = before(versions, 0)
	}
	dir, err := versionAt(r, versions, version)
	if err != nil {
		return err
	}
	if r.State == Ready {
		return m.putVersion(ctx, r, version, dir, tell)
	}
	s := step{Verb: stepRestore, By: m.o.By, Version: version}
	return m.bring(ctx, r, s, fmt.Sprintf("version %d", version), tell, func(to string) error {
		return m.copyVersion(ctx, dir, to, tell)
	})
}

// treeGone reports whether somebody has removed the tree of a workspace.
func (m *Manager) treeGone(r *record) bool {
	lies, err := m.lies(r, r.Path)
	return err == nil && lies == nothing
}

// anew makes the tree of a workspace again that somebody has removed, from a version;
// 0 is the last one. What was committed in it stays.
func (m *Manager) anew(ctx context.Context, r *record, versions []Version, version int, tell func(Progress)) (err error) {
	if version == 0 {
		version = before(versions, 0)
	}
	if version == 0 {
		return fmt.Errorf("%w: its tree is not at %s any more, and it has no version; put the tree back, or remove the workspace", ErrState, monitor.Clean(r.Path))
	}
	dir, err := versionAt(r, versions, version)
	if err != nil {
		return err
	}
	if err := m.mayForget(ctx, r); err != nil {
		return err
	}
	saved := m.saveHead(ctx, r)
	if saved.err != nil {
		return fmt.Errorf("keeping what was committed in its tree, which has gone: %w", saved.err)
	}
	what := fmt.Sprintf("version %d, because its tree had gone", version)
	if saved.branch != "" {
		what += "; what was committed there is on the branch " + monitor.Clean(saved.branch)
	}
	root := r.Root
	r.State, r.Root = Ended, ""
	if err := m.store.write(r); err != nil {
		r.State, r.Root = Ready, root
		return err
	}
	m.at("restore: ended")
	err = m.bring(ctx, r, step{Verb: stepRestore, By: m.o.By, Version: version}, what, tell, func(to string) error {
		return m.copyVersion(ctx, dir, to, tell)
	})
	if err != nil && r.Step == nil { // the tree may come back to its place
		r.State, r.Root = Ready, root
		err = errors.Join(err, m.store.write(r))
	}
	return err
}

// mayForget refuses to make a tree again where git remembers of the one that has gone
// what would be lost with that: work in submodules, a rebase, or a lock.
func (m *Manager) mayForget(ctx context.Context, r *record) error {
	if r.Source.Kind != FromGit {
		return nil
	}
	why := m.barred(ctx, r)
	if why == "" {
		var loss Loss
		if busy := m.remembered(ctx, r, stepRemove, &loss); busy != "" || len(loss.Submodules) > 0 {
			why = "git remembers of its tree: " + lossWords(Loss{Submodules: loss.Submodules}, busy)
		}
	}
	if why == "" {
		return nil
	}
	return fmt.Errorf("%w: its tree is not at %s any more, and %s; put the tree back first", ErrState, monitor.Clean(r.Path), why)
}

// copyVersion copies a version into an empty directory, as its files were.
func (m *Manager) copyVersion(ctx context.Context, dir, to string, tell func(Progress)) error {
	total, err := tree.Measure(ctx, dir, nil)
	if err != nil {
		return err
	}
	if _, err := tree.Copy(ctx, dir, to, tree.Options{Progress: pace(tell, Copying, total)}); err != nil {
		return err
	}
	m.at("restore: copied")
	return giveModes(ctx, to, m.readModes(filepath.Dir(dir)))
}

// bring makes the tree of a workspace that has none: fill fills a directory
// beside its place, which is then renamed. Until that it is undone when it fails,
// and from then on it is finished.
func (m *Manager) bring(ctx context.Context, r *record, s step, what string, tell func(Progress), fill func(to string) error) error {
	s.Staging = beside(r.Path, partSuffix)
	if err := m.mayBring(r, s.Staging); err != nil {
		return err
	}
	r.Step, r.Root = &s, ""
	if err := m.takePlace(ctx, r, false, tell); err != nil {
		r.Step = nil
		return err
	}
	m.at("restore: step")
	if err := m.stage(ctx, r, fill); err != nil {
		return errors.Join(fmt.Errorf("%w%s; nothing has changed", err, advice(err)), m.undoRestore(context.WithoutCancel(ctx), r))
	}
	return m.finishRestore(context.WithoutCancel(ctx), r, what)
}

// mayBring tells what stands against a tree in its place.
func (m *Manager) mayBring(r *record, staging string) error {
	for _, path := range []string{r.Path, staging} {
		if !absent(path) {
			return fmt.Errorf("%w: its place is taken, by %s; move that away", ErrState, monitor.Clean(path))
		}
	}
	parent := filepath.Dir(r.Path)
	if trees := m.usualTrees(); absent(parent) && parent == trees {
		return os.MkdirAll(parent, 0o700)
	}
	if info, err := os.Stat(parent); err != nil || !info.IsDir() {
		return fmt.Errorf("%w: the directory that it was in, %s, has gone; make it again", ErrState, monitor.Clean(parent))
	}
	return nil
}

// usualTrees is where trees are made that name no place.
func (m *Manager) usualTrees() string {
	if trees := m.limits().Trees; trees != "" {
		return trees
	}
	return m.store.path(treesDir)
}

// stage fills the staging directory and puts it into its place.
func (m *Manager) stage(ctx context.Context, r *record, fill func(to string) error) error {
	dir := r.Step.Staging
	if err := m.makeStaging(r); err != nil {
		return err
	}
	m.at("restore: directory noted")
	if err := fill(dir); err != nil {
		return err
	}
	m.at("restore: filled")
	if err := m.linkShares(dir, r); err != nil {
		return err
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		return err
	}
	if err := flush(dir); err != nil {
		return err
	}
	r.Root = r.Step.Made
	r.Around = aroundOf(r.Path)
	if err := m.store.write(r); err != nil {
		return err
	}
	m.at("restore: directory written down")
	if err := rename(dir, r.Path, r.Root); err != nil {
		return err
	}
	m.at("restore: in place")
	return nil
}

// makeStaging makes the staging directory of a step, and writes down which it is:
// what else may lie there some time is not ours.
func (m *Manager) makeStaging(r *record) error {
	if err := os.Mkdir(r.Step.Staging, 0o700); err != nil {
		return err
	}
	m.at("restore: directory made")
	made, err := tree.Identity(r.Step.Staging)
	if err != nil {
		return err
	}
	r.Step.Made = made
	return m.store.write(r)
}

// linkShares puts the shares of a record into a new tree. What an archive has in
// the place of one was a link to it, or is the job's own, and stays then.
func (m *Manager) linkShares(dir string, r *record) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	var shares []share
	for _, s := range r.Shares {
		place := filepath.FromSlash(s.To)
		if to, err := root.Readlink(place); err == nil && filepath.Clean(to) == filepath.Clean(s.From) {
			if err := root.Remove(place); err != nil {
				return err
			}
		} else if _, err := root.Lstat(place); err == nil {
			m.o.Log.Info("something else lies in the place of a share", "workspace", r.Name, "share", s.To)
			continue
		}
		shares = append(shares, share{Share: s, asked: s.To})
	}
	return linkShares(dir, shares)
}

package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"lamplighter/app/workspace/tree"
	"lamplighter/monitor"
	"lamplighter/monitor/statefile"
)

// linkLimit bounds what is read of the file that leads from a worktree to its
// repository: a path.
const linkLimit = 64 << 10

// putVersion puts a version, which lies in dir, into the place of the tree. What
// the tree has that no version has is kept before.
func (m *Manager) putVersion(ctx context.Context, r *record, version int, dir string, tell func(Progress)) error {
	s := step{Verb: stepRestore, By: m.o.By, Version: version, Staging: beside(r.Path, partSuffix), Trash: beside(r.Path, trashSuffix), Was: r.Root}
	served, err := m.mayPut(ctx, r, s)
	if served { // also when it comes to nothing
		defer func() { m.serveAgain(ctx, r) }()
	}
	if err != nil {
		return err
	}
	before, err := fingerprint(ctx, r.Path)
	if err != nil {
		return err
	}
	switch changed, err := m.changed(ctx, r); {
	case err != nil:
		return err
	case changed:
		if _, err := m.keep(ctx, r, fmt.Sprintf("before restoring version %d", version), tell); err != nil {
			return err
		}
	}
	r.Step = &s
	if err := m.store.write(r); err != nil {
		r.Step = nil
		return err
	}
	m.at("put: step")
	err = m.stageVersion(ctx, r, dir, tell)
	if err == nil {
		err = m.swap(ctx, r, before)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("%w%s; the tree is as it was", err, advice(err)), m.settlePut(context.WithoutCancel(ctx), r))
	}
	return m.settlePut(context.WithoutCancel(ctx), r)
}

// mayPut tells what stands against another tree in the place of one. A server that
// nobody uses is ended: served tells that there was one.
func (m *Manager) mayPut(ctx context.Context, r *record, s step) (served bool, err error) {
	if err := m.atTree(r); err != nil {
		return false, err
	}
	for _, path := range []string{s.Staging, s.Trash} {
		if !absent(path) {
			return false, fmt.Errorf("%w: %s lies in the way; look at it, and move it away", ErrState, monitor.Clean(path))
		}
	}
	return m.endServer(ctx, r)
}

// stageVersion makes the new tree beside the old one.
func (m *Manager) stageVersion(ctx context.Context, r *record, dir string, tell func(Progress)) error {
	to := r.Step.Staging
	if err := m.makeStaging(r); err != nil {
		return err
	}
	m.at("put: directory written down")
	if err := m.copyVersion(ctx, dir, to, tell); err != nil {
		return err
	}
	if err := m.linkShares(to, r); err != nil {
		return err
	}
	if r.Source.Kind == FromGit {
		// Both trees lead to the repository, which knows the path alone.
		link, err := statefile.Read(filepath.Join(r.Path, gitLink), linkLimit)
		if err == nil {
			err = statefile.Replace(filepath.Join(to, gitLink), link)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	m.at("put: filled")
	return os.Chmod(to, 0o700)
}

// swap puts the new tree into the place of the old one, when nobody works in that
// and nobody has since it was looked at.
func (m *Manager) swap(ctx context.Context, r *record, before string) error {
	if err := m.refuseInUse(ctx, r, r.Path, Started{}); err != nil {
		return err
	}
	r.State = Ended // while there is no tree
	if err := m.store.write(r); err != nil {
		return err
	}
	m.at("put: begun")
	if err := rename(r.Path, r.Step.Trash, r.Root); err != nil {
		return err
	}
	m.at("put: old tree aside")
	if err := m.leftAlone(ctx, r, before); err != nil {
		return err
	}
	if err := rename(r.Step.Staging, r.Path, r.Step.Made); err != nil {
		return err
	}
	m.at("put: new tree in place")
	return nil
}

// notKept begins what is told of what a version cannot have.
const notKept = "what is neither file, directory nor link was not kept: "

// settlePut finishes what swap has done, or takes it back where it has not come to
// its end. The old tree goes only when the new one is in its place.
func (m *Manager) settlePut(ctx context.Context, r *record) error {
	failed := func(err error) error {
		return fmt.Errorf("putting a version into the tree: %w; this is tried again", err)
	}
	if _, err := m.lies(r, r.Path); err != nil {
		return failed(err) // the drive is not there
	}
	state, staging, trash, was, made := Ready, r.Step.Staging, r.Step.Trash, r.Step.Was, r.Step.Made
	aside := false // the old tree lies in trash
	if isDir(trash) {
		old, err := tree.Identity(trash)
		if err != nil {
			return failed(err)
		}
		aside = old == was
	}
	switch now, err := tree.Identity(r.Path); {
	case errors.Is(err, fs.ErrNotExist) && aside:
		if err := rename(trash, r.Path, was); err != nil {
			return failed(fmt.Errorf("its tree lies in %s: %w", monitor.Clean(trash), err))
		}
		m.at("put: old tree back")
		aside = false
	case errors.Is(err, fs.ErrNotExist):
		// Somebody has removed it. What it had is a version.
		state, r.Root = Ended, ""
	case err != nil:
		return failed(err)
	case now == was, now == r.Root:
	case now == made:
		what := restoredFrom(r)
		if strings.HasPrefix(r.Problem, notKept) { // by another restore
			r.Problem = ""
		}
		if aside {
			left, err := specials(ctx, trash)
			if err != nil {
				return failed(err)
			}
			if left != "" {
				r.Problem = notKept + left
				what += "; " + r.Problem
			}
		}
		r.Root, r.State = now, Ready
		m.touch(r)
		r.note(r.UsedAt, "restored", what)
		if err := m.store.write(r); err != nil {
			return failed(err)
		}
		m.at("put: written down")
	default:
		return failed(fmt.Errorf("something else lies at %s; move it away: its tree lies in %s", monitor.Clean(r.Path), monitor.Clean(trash)))
	}
	if err := removeMade(ctx, staging, made); err != nil {
		return failed(err)
	}
	m.at("put: removed")
	if aside {
		if err := tree.Remove(ctx, trash, was, nil); err != nil {
			return failed(err)
		}
		m.at("put: removed")
	}
	r.State, r.Step = state, nil
	if err := m.store.write(r); err != nil {
		return failed(err)
	}
	return nil
}

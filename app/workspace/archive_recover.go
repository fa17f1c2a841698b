package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"lamplighter/app/workspace/tree"
	"lamplighter/monitor"
)

// recoverArchive finishes an archive that is to stay, and takes back one of which
// that was not decided.
func (m *Manager) recoverArchive(ctx context.Context, r *record) error {
	if r.State == Archived && r.Step.Staging == "" {
		return m.finishArchive(ctx, r, func(Progress) {})
	}
	return m.undoArchive(ctx, r)
}

// undoArchive puts the tree back and removes what was packed.
func (m *Manager) undoArchive(ctx context.Context, r *record) error {
	failed := func(err error) error {
		return fmt.Errorf("taking back the archive of %s that was not made: %w; this is tried again", r.Name, err)
	}
	s := r.Step
	if r.State == Archived {
		r.State = Ended
		if s.Trash != "" {
			r.State = Ready
			if id, err := tree.Identity(s.Trash); err == nil && id == r.Root { // else it was not taken out
				if err := rename(s.Trash, r.Path, r.Root); err != nil {
					return failed(fmt.Errorf("its tree lies in %s: %w", monitor.Clean(s.Trash), err))
				}
				m.at("undo archive: tree back")
			}
		}
		r.Archive = nil
		if err := m.store.write(r); err != nil {
			return failed(err)
		}
		m.at("undo archive: written down")
	}
	for _, path := range []string{strings.TrimSuffix(s.Staging, partSuffix), s.Staging} {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return failed(err)
		}
	}
	m.at("undo archive: file removed")
	if err := tree.Remove(ctx, m.store.path(dataDir, r.ID, packedFacts), "", nil); err != nil {
		return failed(err)
	}
	r.Step = nil
	if err := m.store.write(r); err != nil {
		return failed(err)
	}
	return nil
}

// finishArchive takes away what is in the archive. It may be called again at each
// point.
func (m *Manager) finishArchive(ctx context.Context, r *record, tell func(Progress)) error {
	failed := func(err error) error {
		return fmt.Errorf("%s is archived in %s, but not all of it could be removed where it was: %w; this is tried again", r.Name, monitor.Clean(r.Archive.Path), err)
	}
	if r.Step.Trash != "" {
		if err := tree.Remove(ctx, r.Step.Trash, r.Root, pace(tell, Removing, tree.Count{})); err != nil {
			return failed(err)
		}
		m.at("archive: tree removed")
		m.forgetWorktree(ctx, r)
		m.at("archive: worktree forgotten")
	}
	versions, err := m.versions(r.ID)
	if err != nil {
		return failed(err)
	}
	for _, v := range versions {
		if v.Path == "" {
			continue
		}
		// Its description stays: listings have it, and numbers go on from there.
		if err := tree.Remove(ctx, v.Path, "", nil); err != nil {
			return failed(err)
		}
		m.at("archive: version removed")
	}
	if err := tree.Remove(ctx, m.tempDir(r.ID), "", nil); err != nil {
		return failed(err)
	}
	m.at("archive: data removed")
	r.Root, r.Step = "", nil
	r.SizeBytes = r.Archive.Bytes
	at := r.Archive.At
	r.MeasuredAt = &at
	return m.store.write(r)
}

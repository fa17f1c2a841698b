package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"lamplighter/app/workspace/tree"
	"lamplighter/monitor"
	"lamplighter/monitor/statefile"
)

// remedy is what is done about a restore that was interrupted.
type remedy int

const (
	takeBack      remedy = iota // what was to become the tree goes
	goOn                        // all is there that is needed
	settlePutting               // a version was being put into a tree that was there
)

// remedyFor decides that. inPlace tells that the new tree is in its place.
func remedyFor(state State, s step, inPlace bool) remedy {
	switch {
	case s.Version > 0 && s.Trash != "":
		return settlePutting
	case state == Ready, // it was written down
		state == Ended && s.Version == 0,     // likewise, of one without a tree
		state == Archived && s.Staging == "", // likewise, and its versions are unpacked
		inPlace:
		return goOn
	}
	return takeBack
}

// recoverRestore finishes a restore whose tree is in its place, and takes back one
// of which it is not.
func (m *Manager) recoverRestore(ctx context.Context, r *record) error {
	inPlace := false
	if r.Root != "" {
		identity, err := tree.Identity(r.Path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("looking at what was restored: %w", err)
		}
		inPlace = err == nil && identity == r.Root
	}
	switch remedyFor(r.State, *r.Step, inPlace) {
	case settlePutting:
		return m.settlePut(ctx, r)
	case goOn:
		return m.finishRestore(ctx, r, restoredFrom(r))
	default:
		return m.undoRestore(ctx, r)
	}
}

// restoredFrom says in words what a step of restore brings.
func restoredFrom(r *record) string {
	if r.Step.Version > 0 {
		return fmt.Sprintf("version %d", r.Step.Version)
	}
	return "from its archive"
}

// finishRestore goes on where a tree is in its place. It may be called again at
// each point.
func (m *Manager) finishRestore(ctx context.Context, r *record, what string) error {
	failed := func(err error) error {
		return fmt.Errorf("its tree is back, but not all that belongs to it: %w; this is tried again", err)
	}
	unpacked := m.store.path(dataDir, r.ID, unpacking)
	if r.State == Archived || r.State == Ended && r.Step.Version > 0 {
		if err := m.bringRest(ctx, r, unpacked, what); err != nil {
			return failed(err)
		}
	}
	if archive := r.Step.Trash; archive != "" {
		// The names of all that came out of it reach the disk before it goes.
		for _, dir := range []string{filepath.Dir(r.Path), m.store.data(r.ID), m.store.path(recordsDir)} {
			if err := statefile.SyncDir(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return failed(err)
			}
		}
		m.at("restore: all on the disk")
		if err := os.Remove(archive); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return failed(err)
		}
		m.at("restore: archive removed")
	}
	for _, dir := range []string{unpacked, m.store.path(dataDir, r.ID, packedFacts)} {
		if err := tree.Remove(ctx, dir, "", nil); err != nil {
			return failed(err)
		}
	}
	m.at("restore: data removed")
	r.Step = nil
	return m.store.write(r)
}

// bringRest makes all of a tree that is in its place, brings the versions, and
// writes down that the workspace is there again.
func (m *Manager) bringRest(ctx context.Context, r *record, unpacked, what string) error {
	facts := packedAs{Tree: true}
	if archive := r.Step.Trash; archive != "" {
		var err error
		if facts, err = m.facts(ctx, r.ID, archive, func(Progress) {}); err != nil {
			return err
		}
	}
	plain, modules := "", ""
	if facts.Tree && r.Source.Kind == FromGit {
		plain = m.worktreeOf(ctx, r, facts.Git)
		m.at("restore: modules")
		var err error
		if modules, err = m.putModules(ctx, r, filepath.Join(unpacked, packedModules), plain == ""); err != nil {
			return err
		}
	}
	m.at("restore: worktree")
	if from := filepath.Join(unpacked, packedVersions); isDir(from) {
		// What is there are descriptions, which are in the archive too.
		to := m.versionsPath(r.ID)
		if err := tree.Remove(ctx, to, "", nil); err != nil {
			return err
		}
		m.at("restore: old versions removed")
		if err := os.Rename(from, to); err != nil {
			return err
		}
	}
	m.at("restore: versions")
	if err := m.writeEnv(r); err != nil {
		return err
	}
	r.State = Ended
	if facts.Tree {
		r.State = Ready
	}
	r.Archive, r.Server, r.Done, r.DoneAt, r.Problem = nil, nil, nil, nil, ""
	r.SizeBytes, r.MeasuredAt = -1, nil
	if plain != "" {
		r.Source.Kind = FromDirectory
		r.Problem = "it is a directory without git now: " + plain
		if r.Kind == Temp { // what nobody has committed is nowhere else, and no copy of a directory
			r.Kind, r.Cleanup = Persistent, ByHand
			r.Problem += "; it is persistent now, and stays until it is removed"
		}
	}
	if modules != "" {
		if r.Problem != "" {
			r.Problem += "; "
		}
		r.Problem += "what git has kept of its submodules lies in " + monitor.Clean(modules)
	}
	if r.Problem != "" {
		what += "; " + r.Problem
	}
	m.touch(r)
	r.note(r.UsedAt, "restored", what)
	if err := m.store.write(r); err != nil {
		return err
	}
	m.at("restore: written down")
	return nil
}

// keptModules is the directory in the data of a workspace for what git has kept of
// its submodules and could not be given back.
const keptModules = "submodules"

// putModules gives a worktree back what git has kept of its submodules, which was
// unpacked to from. Commits may be in there that are nowhere else: where it cannot
// be given back it is put aside, and kept says where. It may be called again at
// each point.
func (m *Manager) putModules(ctx context.Context, r *record, from string, worktree bool) (kept string, err error) {
	aside := m.store.path(dataDir, r.ID, keptModules)
	entries, err := os.ReadDir(from)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0 {
		if isDir(aside) {
			return aside, nil
		}
		return "", nil
	}
	if err != nil {
		return "", err
	}
	if worktree {
		to := filepath.Join(r.Source.Admin, packedModules)
		if err = os.Mkdir(to, 0o700); err == nil {
			if _, err = tree.Copy(ctx, from, to, tree.Options{}); err == nil {
				err = flush(to)
			}
			if err == nil {
				return "", nil
			}
			err = errors.Join(err, tree.Remove(ctx, to, "", nil))
		}
		if ctx.Err() != nil {
			return "", err
		}
		m.o.Log.Warn("the submodules of a restored workspace have no repositories; `git submodule update --init` makes them again", "workspace", r.Name, "error", err)
	}
	if aside, err = freeName(aside); err != nil {
		return "", err
	}
	return aside, os.Rename(from, aside)
}

// removeGitLink removes the file that leads from a tree to a repository; anything
// else stays.
func removeGitLink(dir string) error {
	path := filepath.Join(dir, gitLink)
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	return os.Remove(path)
}

// undoRestore takes away what was to become a tree. The archive, or the version,
// is there.
func (m *Manager) undoRestore(ctx context.Context, r *record) error {
	failed := func(err error) error {
		return fmt.Errorf("taking back what was not restored: %w; this is tried again", err)
	}
	unpacked := m.store.path(dataDir, r.ID, unpacking)
	if staging := r.Step.Staging; staging != "" && staging != unpacked {
		if err := removeMade(ctx, staging, r.Step.Made); err != nil {
			return failed(err)
		}
	}
	m.at("undo restore: tree removed")
	if err := tree.Remove(ctx, unpacked, "", nil); err != nil {
		return failed(err)
	}
	m.at("undo restore: data removed")
	if r.State != Ready {
		r.Root = ""
	}
	r.Step = nil
	if err := m.store.write(r); err != nil {
		return failed(err)
	}
	return nil
}

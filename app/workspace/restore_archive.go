package workspace

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"

	"lamplighter/app/workspace/tree"
	"lamplighter/monitor"
	"lamplighter/monitor/statefile"
)

// unpacking is the directory in the data of a workspace for what comes out of its
// archive, but for the tree.
const unpacking = "unpacking"

// factsLimit bounds what is read of an archive's facts.
const factsLimit = 4 << 20

// Unpacking is the phase in which an archive is unpacked.
const Unpacking Phase = "unpacking"

// unarchive unpacks the archive. done tells that there is a tree now: an
// archived workspace may have had none.
func (m *Manager) unarchive(ctx context.Context, r *record, tell func(Progress)) (done bool, err error) {
	if r.Archive == nil {
		return false, fmt.Errorf("%w: it has no archive", ErrState)
	}
	archive := r.Archive.Path
	if err := statefile.Check(archive); err != nil {
		return false, fmt.Errorf("%w: its archive cannot be read: %w", ErrState, err)
	}
	facts, err := m.facts(ctx, r.ID, archive, tell)
	if err != nil {
		return false, err
	}
	aside := m.store.path(dataDir, r.ID, unpacking)
	if err := tree.Remove(ctx, aside, "", nil); err != nil {
		return false, err
	}
	s := step{Verb: stepRestore, By: m.o.By, Trash: archive}
	if !facts.Tree {
		return false, m.bringVersions(ctx, r, s, aside, tell)
	}
	return true, m.bring(ctx, r, s, "from its archive", tell, func(to string) error {
		err := m.unpack(ctx, archive, map[string]string{
			packedTree: to, packedVersions: filepath.Join(aside, packedVersions), packedModules: filepath.Join(aside, packedModules),
		}, tell)
		if err == nil && r.Source.Kind == FromGit {
			err = removeGitLink(to) // it is made anew
		}
		if err == nil {
			err = flush(aside) // the tree may be on another disk
		}
		return err
	})
}

// bringVersions brings back the versions of an archived workspace that had no
// tree.
func (m *Manager) bringVersions(ctx context.Context, r *record, s step, aside string, tell func(Progress)) error {
	s.Staging = aside
	r.Step = &s
	if err := m.store.write(r); err != nil {
		r.Step = nil
		return err
	}
	m.at("restore: step")
	err := m.unpack(ctx, s.Trash, map[string]string{packedVersions: filepath.Join(aside, packedVersions)}, tell)
	if err == nil {
		err = flush(aside)
	}
	if err == nil { // from here on it is finished
		r.Step.Staging = ""
		if err = m.store.write(r); err != nil {
			r.Step.Staging = aside
		}
	}
	if err != nil {
		return errors.Join(fmt.Errorf("%w%s; nothing has changed", err, advice(err)), m.undoRestore(context.WithoutCancel(ctx), r))
	}
	m.at("restore: filled")
	return m.finishRestore(context.WithoutCancel(ctx), r, restoredFrom(r))
}

// facts are what an archive says of itself. They lie beside it, but if somebody
// has removed them it is read for them.
func (m *Manager) facts(ctx context.Context, id, archive string, tell func(Progress)) (packedAs, error) {
	dir := m.store.path(dataDir, id, packedFacts)
	if facts, err := readFacts(dir); err == nil {
		return facts, nil
	}
	if err := tree.Remove(ctx, dir, "", nil); err != nil {
		return packedAs{}, err
	}
	if err := m.unpack(ctx, archive, map[string]string{packedFacts: dir}, tell); err != nil {
		return packedAs{}, err
	}
	return readFacts(dir)
}

func factsIn(dir string) statefile.File[packedAs] {
	return statefile.File[packedAs]{Path: filepath.Join(dir, factsFile), Limit: factsLimit, Broken: errors.New("it does not say what is packed")}
}

func readFacts(dir string) (packedAs, error) {
	facts, err := factsIn(dir).Read()
	if err == nil && facts.Schema != 1 {
		err = fmt.Errorf("it is of another Lamplighter (schema %d); update this one", facts.Schema)
	}
	if err != nil {
		return packedAs{}, fmt.Errorf("reading what an archive says of itself: %w", err)
	}
	return facts, nil
}

// unpack unpacks some of the directories in an archive, and makes those that are
// not there.
func (m *Manager) unpack(ctx context.Context, archive string, dirs map[string]string, tell func(Progress)) error {
	for _, dir := range dirs {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
	}
	file, err := statefile.Open(archive, os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer file.Close()
	if _, err := tree.Unpack(ctx, file, dirs, math.MaxInt64, pace(tell, Unpacking, tree.Count{})); err != nil {
		return fmt.Errorf("unpacking %s: %w", monitor.Clean(archive), err)
	}
	return nil
}

package workspace

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"lamplighter/app/workspace/tree"
	"lamplighter/monitor"
	"lamplighter/monitor/statefile"
)

// An archive holds directories under these names.
const (
	packedTree     = "tree"     // when there was one
	packedVersions = "versions" // likewise
	packedModules  = "modules"  // git's directories of the submodules of a worktree, likewise
	packedFacts    = "facts"
)

const (
	archiveSuffix = ".tar.zst"
	partSuffix    = ".part"
	trashSuffix   = ".old"
	factsFile     = "facts.json" // in packedFacts, which lies in the data of a workspace too
)

// packedAs is what an archive says of what is in it.
type packedAs struct {
	Schema int      `json:"schema"` // 1
	Record *record  `json:"record"`
	Tree   bool     `json:"tree"`
	Git    *commits `json:"git,omitempty"` // of the worktree that the tree was
}

// Archive packs all of a workspace and takes its tree away. What would be lost
// with a removal is in the archive, or on a branch. The error Is ErrInUse while a
// process works in it, and ErrState when it is archived already.
func (m *Manager) Archive(ctx context.Context, id string, progress func(Progress)) (Workspace, error) {
	found, err := m.find(id)
	if err != nil {
		return Workspace{}, err
	}
	var w Workspace
	err = m.change(ctx, found.ID, func(r *record) error {
		if r.State == Archived && (found.State != Archived || found.Step != nil) { // another has just done it, or it had been interrupted
			w = m.view(r)
			return nil
		}
		tell, end := m.telling(r.Workspace, progress)
		defer end()
		if err := m.archive(ctx, r, tell); err != nil {
			return err
		}
		w = m.view(r)
		return nil
	})
	return w, err
}

// archive is Archive of a record whose lock the caller holds.
//
// The tree is renamed once the archive is whole, and looked at again: nobody may
// have changed it since it was packed. Until it is written down that this is so
// (the step has no Staging any more) all can be taken back, and a crash has that
// done; from then on it is finished.
func (m *Manager) archive(ctx context.Context, r *record, tell func(Progress)) error {
	served, err := m.mayArchive(ctx, r)
	if served {
		defer func() { m.serveAgain(ctx, r) }()
	}
	if err != nil {
		return fmt.Errorf("archiving %s: %w", r.Name, err)
	}
	s := &step{Verb: stepArchive, By: m.o.By, Staging: m.freeArchive(r.Name) + partSuffix}
	if r.State == Ready {
		s.Trash = beside(r.Path, trashSuffix)
		if !absent(s.Trash) {
			return fmt.Errorf("archiving %s: %w: %s lies in the way; look at it, and move it away", r.Name, ErrState, monitor.Clean(s.Trash))
		}
	}
	r.Step = s
	if err := m.store.write(r); err != nil {
		r.Step = nil
		return err
	}
	m.at("archive: step")
	if err := m.pack(ctx, r, tell); err != nil {
		err = fmt.Errorf("archiving %s: %w%s; the workspace is as it was", r.Name, err, advice(err))
		return errors.Join(err, m.undoArchive(context.WithoutCancel(ctx), r))
	}
	// It is archived: what has gone wrong from here on is done again.
	return m.finishArchive(context.WithoutCancel(ctx), r, tell)
}

// mayArchive tells what stands against an archive. A server that nobody uses is
// ended when nothing else does: served tells that there was one.
func (m *Manager) mayArchive(ctx context.Context, r *record) (served bool, err error) {
	switch r.State {
	case Archived:
		return false, fmt.Errorf("%w: it is archived already, in %s", ErrState, monitor.Clean(r.Archive.Path))
	case Ended:
		return false, nil
	}
	if err := m.atTree(r); err != nil {
		return false, err
	}
	return m.endServer(ctx, r)
}

// refuseInUse says who runs a job in a workspace, or works in its tree or with its
// temporary files. The error Is ErrInUse then, and also when nobody could look.
// The tree lies at path; of servers of ours those that are idle do not count, and
// those that are not do.
func (m *Manager) refuseInUse(ctx context.Context, r *record, path string, servers Started) error {
	users, err := besidesIdle(servers, func() ([]User, error) { return m.insideOrTemp(ctx, r, path) })
	if err != nil {
		return fmt.Errorf("%w, or none does: %w", ErrInUse, err)
	}
	if len(users) == 0 {
		return nil
	}
	return fmt.Errorf("%w: %s; end that first", ErrInUse, usersWords(users))
}

// insideOrTemp are the processes that work in a tree at path, or where a workspace
// has its temporary files.
func (m *Manager) insideOrTemp(ctx context.Context, r *record, path string) ([]User, error) {
	users := m.jobs(r.ID)
	for _, dir := range []string{path, m.tempDir(r.ID)} {
		if absent(dir) {
			continue
		}
		found, err := m.o.InUse(ctx, dir)
		if err != nil {
			return nil, err
		}
		for _, p := range found {
			if !slices.ContainsFunc(users, func(u User) bool { return u.PID == p.PID }) {
				users = append(users, User{PID: p.PID, Name: monitor.Clean(p.Name), How: monitor.Clean(p.How)})
			}
		}
	}
	return users, nil
}

// beside is a hidden name beside a directory.
func beside(path, suffix string) string {
	return filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+suffix)
}

// freeArchive is a path for an archive at which nothing lies.
func (m *Manager) freeArchive(name string) string {
	path := m.store.path(archivesDir, name+archiveSuffix)
	for n := 2; !absent(path) || !absent(path+partSuffix); n++ {
		path = m.store.path(archivesDir, fmt.Sprintf("%s-%d%s", name, n, archiveSuffix))
	}
	return path
}

// pack makes the archive, and takes the tree out of its place.
func (m *Manager) pack(ctx context.Context, r *record, tell func(Progress)) (err error) {
	if err := m.sweepParts(ctx, r.ID); err != nil {
		return err
	}
	facts := packedAs{Schema: 1, Record: r, Tree: r.State == Ready}
	dirs := map[string]string{}
	var before, left string
	if facts.Tree {
		dirs[packedTree] = r.Path
		if before, err = fingerprint(ctx, r.Path); err != nil {
			return err
		}
		if facts.Git, err = m.saveCommits(ctx, r); err != nil {
			return err
		}
		if left, err = specials(ctx, r.Path); err != nil {
			return err
		}
		m.at("archive: commits saved")
		if modules := filepath.Join(r.Source.Admin, packedModules); r.Source.Kind == FromGit && isDir(modules) {
			dirs[packedModules] = modules
		}
	}
	if versions := m.versionsPath(r.ID); isDir(versions) {
		dirs[packedVersions] = versions
	}
	if dirs[packedFacts], err = m.writeFacts(r.ID, facts); err != nil {
		return err
	}
	m.at("archive: facts")
	if err := writeArchive(ctx, r, dirs, tell); err != nil {
		return err
	}
	m.at("archive: packed")
	if err := verifyArchive(ctx, r.Step.Staging, tell); err != nil {
		return err
	}
	m.at("archive: verified")
	whole := strings.TrimSuffix(r.Step.Staging, partSuffix)
	if err := os.Rename(r.Step.Staging, whole); err != nil {
		return err
	}
	if err := statefile.SyncDir(filepath.Dir(whole)); err != nil {
		return err
	}
	m.at("archive: in place")
	if err := m.writeArchived(r, whole); err != nil {
		return err
	}
	if facts.Tree {
		if err := m.takeOut(ctx, r, before); err != nil {
			return err
		}
	}
	return m.decideArchive(r, left)
}

// takeOut renames the tree, when nobody works in it and it is what was packed.
func (m *Manager) takeOut(ctx context.Context, r *record, before string) error {
	if err := m.refuseInUse(ctx, r, r.Path, Started{}); err != nil {
		return err
	}
	if err := rename(r.Path, r.Step.Trash, r.Root); err != nil {
		return err
	}
	m.at("archive: taken out")
	return m.leftAlone(ctx, r, before)
}

// leftAlone makes sure that nobody works in a tree that was renamed to the Trash of
// its step, and that it is what it was at a fingerprint. Who came in before the
// rename may begin to write while that is looked at: who works in it is asked again.
func (m *Manager) leftAlone(ctx context.Context, r *record, before string) error {
	if err := m.refuseInUse(ctx, r, r.Step.Trash, Started{}); err != nil {
		return err
	}
	if err := unchanged(ctx, r.Step.Trash, before); err != nil {
		return err
	}
	m.at("set aside: unchanged")
	return m.refuseInUse(ctx, r, r.Step.Trash, Started{})
}

// unchanged makes sure that a tree is what it was at a fingerprint. The error Is
// ErrInUse when it is not.
func unchanged(ctx context.Context, dir, before string) error {
	after, err := fingerprint(ctx, dir)
	if err != nil {
		return err
	}
	if after != before {
		return fmt.Errorf("%w, or worked in it a moment ago: something was changed meanwhile; try again when nobody does", ErrInUse)
	}
	return nil
}

// writeArchived writes down that a workspace is archived, so that nobody takes its
// tree for whole.
func (m *Manager) writeArchived(r *record, path string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	state := r.State
	r.State, r.Archive = Archived, &Archive{Path: path, Bytes: info.Size(), At: m.o.Clock().Wall.UTC()}
	if err := m.store.write(r); err != nil {
		r.State, r.Archive = state, nil
		return err
	}
	m.at("archive: written down")
	return nil
}

// decideArchive writes down that the archive stays, which does not have what is
// named in left.
func (m *Manager) decideArchive(r *record, left string) error {
	was := *r
	s := *r.Step
	s.Staging = ""
	r.Step, r.Problem = &s, ""
	r.History = slices.Clone(r.History)
	detail := fmt.Sprintf("into %s, %s", monitor.Clean(r.Archive.Path), monitor.Memory(r.Archive.Bytes))
	if left != "" {
		r.Problem = notKept + left
		detail += "; " + r.Problem
	}
	r.note(r.Archive.At, "archived", detail)
	if err := m.store.write(r); err != nil {
		*r = was
		return err
	}
	m.at("archive: decided")
	return nil
}

// writeFacts writes what an archive says of itself, and returns the directory.
func (m *Manager) writeFacts(id string, facts packedAs) (string, error) {
	dir := m.store.path(dataDir, id, packedFacts)
	return dir, factsIn(dir).Write(facts)
}

// writeArchive packs directories into the file that the step names. The links of a
// tree to its repository and to what is shared are packed too: what a job has put
// in their place is its own.
func writeArchive(ctx context.Context, r *record, dirs map[string]string, tell func(Progress)) error {
	tell(Progress{Phase: Counting, FilesTotal: -1, BytesTotal: -1, Percent: -1, Left: -1})
	var total tree.Count
	for _, dir := range dirs {
		count, err := tree.Measure(ctx, dir, nil)
		if err != nil {
			return err
		}
		total.Files, total.Bytes = total.Files+count.Files, total.Bytes+count.Bytes
	}
	file, err := statefile.Open(r.Step.Staging, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = tree.Pack(ctx, file, dirs, tree.Options{Progress: pace(tell, Packing, total)})
	if errors.Is(err, tree.ErrBusyTree) {
		err = fmt.Errorf("%w: %w", ErrInUse, err)
	}
	if err == nil {
		err = file.Sync()
	}
	return errors.Join(err, file.Close())
}

// verifyArchive reads an archive to its end.
func verifyArchive(ctx context.Context, path string, tell func(Progress)) error {
	file, err := statefile.Open(path, os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer file.Close()
	if _, err := tree.Unpack(ctx, file, nil, math.MaxInt64, pace(tell, Checking, tree.Count{})); err != nil {
		return fmt.Errorf("reading the archive again: %w", err)
	}
	return nil
}

// Checking is the phase in which an archive is read again.
const Checking Phase = "checking"

package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"github.com/google/uuid"

	"lamplighter/app/workspace/gitwork"
	"lamplighter/app/workspace/tree"
	"lamplighter/monitor"
)

// branchPrefix is of the branches that are made for workspaces.
const branchPrefix = "lamplighter/"

// Create makes a workspace and tells progress on the way; nil is told nothing.
// When it fails nothing is left of it. The error Is ErrBadRequest or ErrNoServer,
// or is a *TooMany, or says what the system did not do.
func (m *Manager) Create(ctx context.Context, q Request, progress func(Progress)) (Workspace, error) {
	b, err := m.draw(ctx, q)
	if err != nil {
		return Workspace{}, err
	}
	m.recoverFirst(ctx)
	r, release, err := m.begin(ctx, b)
	if err != nil {
		return Workspace{}, err
	}
	defer release()
	tell, end := m.telling(r.Workspace, progress)
	defer end()
	start := Progress{Phase: b.phase(), FilesTotal: -1, BytesTotal: -1, Percent: -1, Left: -1}
	begun := sync.OnceFunc(func() {
		tell(start)
		if q.Begun != nil {
			q.Begun(Making{ID: r.ID, Name: r.Name, Job: r.Job, Progress: start})
		}
	})
	waits := func(p Progress) {
		start = p
		begun()
	}
	if err := m.takePlace(ctx, r, q.Wait, waits); err != nil {
		return Workspace{}, err
	}
	if begun(); start.Phase == Waiting {
		start.Phase = b.phase()
		tell(start)
	}
	m.at("create: written down")
	if err := m.build(ctx, r, b, tell); err != nil {
		err = fmt.Errorf("making the workspace %s: %w%s", r.Name, err, advice(err))
		return Workspace{}, errors.Join(err, m.undoCreate(context.WithoutCancel(ctx), r))
	}
	return m.view(r), nil
}

// phase is what most of the time goes into.
func (b *blueprint) phase() Phase {
	if b.git {
		return CheckedBy
	}
	return Copying
}

// gitCannotWrite is what git says of a file that does not fit on the disk, and
// not why; entry.c of git.
const gitCannotWrite = "unable to write file"

// advice is what to do about an error, where that is known.
func advice(err error) string {
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return "; free some space there, or say another place to make it in"
	case strings.Contains(err.Error(), gitCannotWrite):
		return "; if the disk is full, free some space there, or say another place to make it in"
	}
	return ""
}

// begin makes up the record of a new workspace, which nobody sees yet, and takes
// its lock, so that nobody takes it for abandoned once it is seen.
func (m *Manager) begin(ctx context.Context, b blueprint) (*record, func(), error) {
	id, err := uuid.NewV7()
	if err != nil {
		return nil, nil, fmt.Errorf("making an id for a workspace: %w", err)
	}
	r := &record{Workspace: Workspace{
		ID: id.String(), Kind: b.q.Kind, State: Creating, SizeBytes: -1, Shares: []Share{},
		Job: monitor.Clean(b.q.Job), Project: monitor.Clean(b.q.Project),
		Cleanup: b.q.Cleanup, Retention: b.q.Retention,
	}}
	r.Name = nameOf(r.Project, r.Job, r.ID)
	r.Path = filepath.Join(b.in, r.Name)
	r.Step = &step{Verb: stepCreate, By: m.o.By}
	if r.Cleanup == "" {
		r.Cleanup = m.limits().Cleanup
	}
	if r.Cleanup == "" {
		r.Cleanup = usualCleanup(r.Kind)
	}
	if r.Retention == 0 {
		r.Retention = m.limits().Retention
	}
	m.touch(r)
	r.CreatedAt = r.UsedAt
	r.TempDir, r.EnvFile = m.tempDir(r.ID), m.envFile(r.ID)
	for _, s := range b.shares {
		r.Shares = append(r.Shares, s.Share)
	}
	r.Source = Source{Kind: FromNothing, From: b.from, Ref: b.q.Ref}
	switch {
	case b.git:
		r.Source.Kind, r.Source.Repository = FromGit, b.repo.Common
		r.Source.Commit, r.Source.Branch = b.commit, branchPrefix+r.Name
	case b.from != "":
		r.Source.Kind = FromDirectory
	}
	if !b.git {
		// git makes a worktree where it stays.
		r.Step.Staging = filepath.Join(b.in, "."+r.Name+".part")
	}
	release, err := m.store.hold(ctx, r.ID)
	return r, release, err
}

// build makes what is written down. When it fails all of it is undone.
func (m *Manager) build(ctx context.Context, r *record, b blueprint, tell func(Progress)) error {
	dir := r.Step.Staging
	if dir == "" {
		dir = r.Path
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	m.at("create: directory made")
	var err error
	if r.Root, err = tree.Identity(dir); err != nil {
		return err
	}
	r.Around = aroundOf(r.Path)
	if err := m.store.write(r); err != nil {
		return err
	}
	m.at("create: directory written down")
	detail, err := m.fill(ctx, r, b, dir, tell)
	if err != nil {
		return err
	}
	m.at("create: filled")
	if err := linkShares(dir, b.shares); err != nil {
		return err
	}
	if err := os.Chmod(dir, 0o700); err != nil { // whatever its source has
		return err
	}
	m.at("create: shares made")
	if dir != r.Path {
		if err := rename(dir, r.Path, r.Root); err != nil {
			return err
		}
		m.at("create: in place")
	}
	if err := m.writeEnv(r); err != nil {
		return err
	}
	m.at("create: environment written")
	if b.q.Serve {
		if err := m.startServer(ctx, r); err != nil {
			return err
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	r.State, r.Step = Ready, nil
	m.touch(r)
	r.note(r.UsedAt, "created", detail)
	if err := m.store.write(r); err != nil {
		return err
	}
	m.at("create: done")
	return nil
}

// rename puts a directory in its place, when it is still the one that it was and
// nothing is there.
func rename(from, to, identity string) error {
	switch now, err := tree.Identity(from); {
	case err != nil:
		return err
	case now != identity:
		return fmt.Errorf("%s was replaced by something else meanwhile", monitor.Clean(from))
	}
	if _, err := os.Lstat(to); err == nil {
		return fmt.Errorf("%s is there already", monitor.Clean(to))
	}
	return os.Rename(from, to)
}

// fill puts the source into a new directory, and says in words what that was.
func (m *Manager) fill(ctx context.Context, r *record, b blueprint, dir string, tell func(Progress)) (string, error) {
	switch {
	case b.git:
		made, err := b.repo.Holding(dir).Add(ctx, dir, r.Source.Branch, b.commit, checkout(tell))
		if err != nil {
			return "", err
		}
		r.Source.Admin = made.Admin
		return fmt.Sprintf("from %s at %.10s, on the branch %s", monitor.Clean(b.from), b.commit, r.Source.Branch), nil
	case b.from == "":
		r.SizeBytes, r.MeasuredAt = 0, &r.CreatedAt
		return "empty", nil
	}
	skip := b.skip(dir)
	meter := newMeter(ctx, b.from, skip, tell)
	defer meter.end()
	copied, err := tree.Copy(ctx, b.from, dir, tree.Options{Skip: skip, Progress: meter.copied})
	if err != nil {
		return "", fmt.Errorf("copying %s: %w", monitor.Clean(b.from), err)
	}
	r.SizeBytes, r.Files, r.MeasuredAt = copied.Bytes, int(copied.Files), &r.CreatedAt
	detail := "from " + monitor.Clean(b.from)
	if len(copied.Left) > 0 {
		detail += fmt.Sprintf("; left out: %s", monitor.Clean(copied.Left[0]))
		if more := len(copied.Left) - 1; more > 0 {
			detail += fmt.Sprintf(", and %d more", more)
		}
	}
	return detail, nil
}

// startServer starts a server on the tree. That one may run is written down
// before, so that it is ended whatever happens.
func (m *Manager) startServer(ctx context.Context, r *record) error {
	r.Server = &Server{}
	if err := m.store.write(r); err != nil {
		return err
	}
	m.at("create: server written down")
	server, err := m.o.Servers.Start(ctx, r.Path)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNoServer, err)
	}
	m.at("create: server started")
	r.Server = &server
	return nil
}

// undoCreate takes away what was made of a workspace that is not whole. Nothing
// is touched that was not made for it. The caller holds its lock.
func (m *Manager) undoCreate(ctx context.Context, r *record) error {
	if err := m.unmake(ctx, r); err != nil {
		return fmt.Errorf("taking away what was made of the workspace %s: %w; this is tried again", r.Name, err)
	}
	return nil
}

func (m *Manager) unmake(ctx context.Context, r *record) error {
	if r.Server != nil && m.o.Servers != nil {
		if err := m.o.Servers.End(ctx, r.Path, AnySession); err != nil {
			return err
		}
		m.at("undo: server ended")
	}
	repo := gitwork.Repo{Common: r.Source.Repository}
	worktree := r.Source.Kind == FromGit && isDir(repo.Common)
	if worktree {
		// That of a process that was killed goes on for a while.
		if err := gitwork.AwaitGit(ctx, r.Path); err != nil {
			return err
		}
		if err := repo.Forget(ctx, r.Source.Admin, r.Path); err != nil {
			return err
		}
		m.at("undo: worktree forgotten")
	}
	places := []string{r.Path}
	if r.Step != nil && r.Step.Staging != "" {
		places = append(places, r.Step.Staging)
	}
	for _, dir := range places {
		if err := removeMade(ctx, dir, r.Root); err != nil {
			return err
		}
		m.at("undo: tree removed")
	}
	if worktree {
		dropped, err := repo.DropBranch(ctx, r.Source.Branch)
		if err != nil {
			return err
		}
		if !dropped {
			m.o.Log.Warn("the branch of a workspace that was not made has commits, and stays", "branch", r.Source.Branch)
		}
		m.at("undo: branch dropped")
	}
	if err := tree.Remove(ctx, m.store.data(r.ID), "", nil); err != nil {
		return err
	}
	m.at("undo: data removed")
	return m.store.drop(r.ID)
}

// removeMade removes a directory that was made for a workspace: the one that is
// written down, or, when a crash came before that, an empty one. What else lies
// there is not ours, and stays.
func removeMade(ctx context.Context, dir, root string) error {
	if !isDir(dir) {
		return nil
	}
	now, err := tree.Identity(dir)
	if err != nil {
		return err
	}
	if now == root {
		return tree.Remove(ctx, dir, root, nil)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) > 0 {
		return err
	}
	return os.Remove(dir)
}

func isDir(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.IsDir()
}

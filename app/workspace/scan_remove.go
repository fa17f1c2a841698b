package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"lamplighter/app/workspace/gitwork"
	"lamplighter/app/workspace/tree"
	"lamplighter/monitor"
	"lamplighter/monitor/statefile"
)

// RemoveStale removes a worktree that Scan would find, through git; one of ours
// as Remove does. Its branch stays, and Outcome.Kept says so. The error Is
// ErrBadRequest when path is no such worktree, ErrState when it is locked, or when a
// file system is mounted or a workspace lies in it, ErrInUse, or ErrLoss; Outcome says
// the same in Why. With Force only ErrLoss is none.
func (m *Manager) RemoveStale(ctx context.Context, path string, q Removal) (Outcome, error) {
	path, err := placeOf(path)
	if err != nil {
		return Outcome{}, fmt.Errorf("%w: %w", ErrBadRequest, err)
	}
	m.recoverFirst(ctx)
	known, err := m.ourTrees()
	if r := oursAt(known, path); r != nil {
		return m.Remove(ctx, r.ID, q)
	}
	var unread *unreadable
	if err != nil && !errors.As(err, &unread) {
		return Outcome{}, fmt.Errorf("nobody can tell whether %s is a workspace: %w", monitor.Clean(path), err)
	}
	if claim := unreadIn(ctx, path, err); claim != "" {
		return Outcome{}, fmt.Errorf("%s was not removed: %w: %s", monitor.Clean(path), ErrState, claim)
	}
	repo, w, err := m.worktreeAt(ctx, path)
	if err != nil {
		return Outcome{}, err
	}
	out, err := m.removeStale(ctx, repo, w, known, q)
	out.DryRun = q.DryRun
	if err != nil && out.Why == "" {
		out.Why = monitor.Clean(err.Error())
	}
	return out, err
}

// placeOf is an absolute path whose last part need not be there, and is not
// followed where it is a link.
func placeOf(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	parent, err := filepath.EvalSymlinks(filepath.Dir(path))
	if errors.Is(err, fs.ErrNotExist) {
		return path, nil
	}
	return filepath.Join(parent, filepath.Base(path)), err
}

// worktreeAt finds the worktree at a path, and its repository.
func (m *Manager) worktreeAt(ctx context.Context, path string) (gitwork.Repo, gitwork.Worktree, error) {
	nobody := func(format string, args ...any) (gitwork.Repo, gitwork.Worktree, error) {
		return gitwork.Repo{}, gitwork.Worktree{}, fmt.Errorf("%w: %s %s", ErrBadRequest, monitor.Clean(path), fmt.Sprintf(format, args...))
	}
	var candidates []string
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		candidates = m.remembering(path)
	case err != nil:
		return nobody("cannot be looked at: %v", err)
	case !info.IsDir():
		return nobody("is no directory, so it is no worktree")
	default:
		to, err := gitwork.Leads(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nobody("is not the top of a git worktree")
		case err != nil && isDir(filepath.Join(path, ".git")):
			return nobody("is a repository or its main working tree, which is not removed here")
		case err != nil:
			return nobody("is no worktree: %v", err)
		case commonOf(to) == "":
			return nobody("is no worktree, or a submodule")
		case !isDir(to):
			return nobody("is a worktree that git has forgotten, so it cannot be removed through git; look at it, and remove it by hand")
		}
		candidates = []string{commonOf(to)}
	}
	for _, dir := range candidates {
		repo, err := gitwork.Open(ctx, dir)
		if errors.Is(err, gitwork.ErrNoGit) || ctx.Err() != nil {
			return repo, gitwork.Worktree{}, err
		}
		if err != nil {
			continue // it may have gone with the worktree
		}
		repo = repo.Wary()
		list, err := repo.List(ctx)
		if err != nil {
			return repo, gitwork.Worktree{}, err
		}
		if w, ok := knows(list, path); ok {
			if w.Main {
				return nobody("is the main working tree of its repository, which is not removed here")
			}
			return repo, w, nil
		}
	}
	return nobody("is no worktree of a repository that is known; scan that first")
}

// removeStale removes a worktree of somebody else's when nothing stands against
// it.
func (m *Manager) removeStale(ctx context.Context, repo gitwork.Repo, w gitwork.Worktree, known map[string]*record, q Removal) (Outcome, error) {
	s := m.lookAt(ctx, repo, w, known)
	out := Outcome{
		Workspace: Workspace{
			Name: monitor.Clean(filepath.Base(w.Path)), Path: w.Path, Project: s.Project, Shares: []Share{}, UsedAt: s.UsedAt, SizeBytes: s.SizeBytes, Files: int(s.Files),
			Source: Source{Kind: FromGit, Repository: repo.Common, Commit: w.Head, Branch: s.Branch, Admin: w.Admin},
		},
		Loss: &s.Loss, InUse: s.InUse, Kept: keptWords(s),
	}
	if ctx.Err() != nil {
		return out, context.Cause(ctx)
	}
	refuse := func(why error, words string) (Outcome, error) {
		out.What, out.Why = "not removed", words
		return out, fmt.Errorf("%s was not removed: %w: %s", monitor.Clean(w.Path), why, words)
	}
	switch {
	case s.barred != "":
		return refuse(ErrState, s.barred)
	case len(s.InUse) > 0:
		return refuse(ErrInUse, usersWords(s.InUse)+"; end that first")
	case !s.Removable && !s.Missing && s.Loss.Words == "" && !s.Locked:
		return refuse(ErrState, s.Why) // nobody could look, or there is no .git
	case s.Locked:
		return refuse(ErrState, lockedWords(s.LockedWhy))
	case s.Loss.Words != "" && !q.Force:
		return refuse(ErrLoss, s.Loss.Words)
	}
	with := withWords(s.with)
	if with != "" {
		with = " " + with
	}
	if out.Freed = s.SizeBytes; q.DryRun {
		out.What = "would be removed" + with
		return out, nil
	}
	// Measuring and looking has taken its time.
	switch words, err := m.changedSince(ctx, repo, w, &s); {
	case ctx.Err() != nil:
		out.Freed = 0
		return out, context.Cause(ctx)
	case err != nil:
		out.Freed, out.InUse = 0, s.InUse
		return refuse(err, words)
	}
	if s.Branch == "" && !s.Merged && w.Head != "" { // commits are never lost
		kept, err := m.keepHead(ctx, repo, w)
		if err != nil {
			return out, err
		}
		out.Kept = fmt.Sprintf("its commits, on the new branch %s", kept)
	}
	if err := m.takeThroughGit(ctx, repo, w, s, q.Force); err != nil {
		out.Freed, out.What = 0, "not removed"
		return out, err
	}
	out.Done, out.What = true, "removed"+with
	m.o.Log.Info("a worktree was removed", "path", w.Path, "by", q.By, "forced", q.Force)
	return out, nil
}

// changedSince looks again at what a decision was based on and may be gone with in
// a moment; it fills in who works in the worktree. The error is what now stands
// against removing it, and the words say so.
func (m *Manager) changedSince(ctx context.Context, repo gitwork.Repo, w gitwork.Worktree, s *Stale) (words string, why error) {
	list, err := repo.List(ctx)
	if err != nil {
		return monitor.Clean(err.Error()), ErrState
	}
	if now, ok := knows(list, w.Path); !ok || now != w {
		return "it has changed while it was looked at; look at it again", ErrState
	}
	if s.Missing {
		return "", nil
	}
	if barred := barredWords(nil, tree.Mounted(w.Path)); barred != "" {
		return barred, ErrState
	}
	s.InUse = []User{}
	if err := m.workIn(ctx, s); err != nil {
		return "nobody could find out whether it is in use: " + monitor.Clean(err.Error()), ErrState
	}
	if len(s.InUse) > 0 {
		return usersWords(s.InUse) + "; end that first", ErrInUse
	}
	return "", nil
}

// takeThroughGit removes a worktree about which all is decided.
func (m *Manager) takeThroughGit(ctx context.Context, repo gitwork.Repo, w gitwork.Worktree, s Stale, force bool) error {
	if s.Missing {
		return repo.Forget(ctx, w.Admin, w.Path)
	}
	identity, err := tree.Identity(w.Path)
	if err != nil {
		return err
	}
	err = repo.Remove(ctx, w.Path, force)
	if err == nil || force {
		return err
	}
	// git removes one with submodules only when it is forced to. That nothing in
	// them would be lost is known; it is asked again because time has passed.
	again, statusErr := repo.Status(ctx, w.Path, w.Admin)
	now, identityErr := tree.Identity(w.Path)
	if statusErr != nil || identityErr != nil || now != identity || lossOf(again, nil).Words != "" || !again.HasSubmodules {
		return err
	}
	return repo.Remove(ctx, w.Path, true)
}

// keptWords say what stays of a worktree.
func keptWords(s Stale) string {
	if s.Branch == "" {
		return ""
	}
	return "its branch " + s.Branch
}

// keepHead makes a branch for the commits of a detached worktree, and says how it
// is called.
func (m *Manager) keepHead(ctx context.Context, repo gitwork.Repo, w gitwork.Worktree) (string, error) {
	branch := branchPrefix + part(filepath.Base(w.Path), "worktree") + "-" + w.Head[:12]
	at, err := repo.Resolve(ctx, "refs/heads/"+branch)
	if err == nil && at == w.Head {
		return branch, nil // of a removal that was given up
	}
	return branch, repo.MakeBranch(ctx, branch, w.Head)
}

// scannedFile in the store names the repositories that remember worktrees which
// have gone: from the path of such a one nobody could tell.
const scannedFile = "scanned.json"

// mostRemembering bounds how many repositories are noted there.
const mostRemembering = 1000

type scannedNote struct {
	Repositories []string `json:"repositories"`
}

// noteMissing notes the repositories of worktrees that have gone, besides those that are
// noted already.
func (m *Manager) noteMissing(found []Stale) error {
	noted := m.noted()
	before := len(noted)
	for _, s := range found {
		if s.Missing && !slices.Contains(noted, s.Repository) {
			noted = append(noted, s.Repository)
		}
	}
	if len(noted) == before {
		return nil
	}
	if err := m.store.prepare(); err != nil {
		return err
	}
	noted = noted[max(0, len(noted)-mostRemembering):]
	return m.scannedFile().Write(scannedNote{noted})
}

func (m *Manager) scannedFile() statefile.File[scannedNote] {
	return statefile.File[scannedNote]{Path: m.store.path(scannedFile), Limit: recordLimit, Broken: errors.New("it is not a list of repositories")}
}

// noted are the repositories that are noted and still there.
func (m *Manager) noted() []string {
	note, err := m.scannedFile().Read()
	if err != nil {
		return nil // the next scan notes them anew
	}
	return slices.DeleteFunc(note.Repositories, func(dir string) bool { return !filepath.IsAbs(dir) || !isDir(dir) })
}

// remembering are directories in repositories that may remember a worktree at a
// path where nothing is: those around it, those of workspaces, and those that are
// noted.
func (m *Manager) remembering(path string) []string {
	var dirs []string
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		if isDir(dir) {
			dirs = append(dirs, dir)
			break
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	records, _ := m.store.all() // those that can be read
	for _, r := range records {
		if r.Source.Repository != "" && isDir(r.Source.Repository) {
			dirs = append(dirs, r.Source.Repository)
		}
	}
	dirs = append(dirs, m.noted()...)
	slices.Sort(dirs)
	return slices.Compact(dirs)
}

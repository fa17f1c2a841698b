package workspace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"lamplighter/app/workspace/gitwork"
	"lamplighter/app/workspace/tree"
	"lamplighter/monitor"
)

// Stale is a git worktree that somebody made, ours or not.
type Stale struct {
	Path        string    `json:"path"`
	Repository  string    `json:"repository"`
	Project     string    `json:"project"`
	Branch      string    `json:"branch"` // "" when detached
	Head        string    `json:"head"`
	MadeBy      string    `json:"made_by"` // "Claude Code", "Codex", "Cursor", "lamplighter", "" by its place
	UsedAt      time.Time `json:"used_at"` // its newest file or commit
	SizeBytes   int64     `json:"size_bytes"`
	Files       int64     `json:"files"`
	Merged      bool      `json:"merged"`
	Pushed      bool      `json:"pushed"`
	Dirty       bool      `json:"dirty"`
	Locked      bool      `json:"locked"`
	LockedWhy   string    `json:"locked_reason,omitempty"`
	Missing     bool      `json:"missing"` // its directory has gone, git remembers it
	Main        bool      `json:"-"`
	InUse       []User    `json:"in_use"`
	Loss        Loss      `json:"loss"`
	WorkspaceID string    `json:"workspace_id,omitempty"` // it is one of ours
	Removable   bool      `json:"removable"`              // nothing stands against it
	Why         string    `json:"why"`                    // what stands against it, or why it is safe, in words

	with   []string // worktrees and repositories in it that go with it, without work of their own
	barred string   // what stands against it whatever is forced, in words
}

// Scanned is what was found.
type Scanned struct {
	Worktrees []Stale  `json:"worktrees"` // largest first
	Problems  []string `json:"problems"`  // what could not be looked at
}

// lookers is how many worktrees are looked at at once.
const lookers = 4

// Scan finds the worktrees of the repositories in and below dirs (and of those
// that these belong to), also below .claude/worktrees, .codex, .cursor and where temporary files
// are. It changes nothing in them; which repositories remember worktrees that have
// gone is noted in the store, for RemoveStale. With the error comes what was found;
// it Is ErrBadRequest when none of dirs is a directory.
// progress is called by one goroutine at a time.
func (m *Manager) Scan(ctx context.Context, dirs []string, progress func(found int, at string)) (Scanned, error) {
	return m.scan(ctx, dirs, usualPlaces(), progress)
}

// scan is Scan with the places where assistants leave worktrees.
func (m *Manager) scan(ctx context.Context, dirs, places []string, progress func(found int, at string)) (Scanned, error) {
	if len(dirs) == 0 {
		return Scanned{}, fmt.Errorf("%w: no directory to scan was named", ErrBadRequest)
	}
	var mu sync.Mutex
	found := 0
	tell := func(more int, at string) {
		mu.Lock()
		defer mu.Unlock()
		if found += more; progress != nil {
			progress(found, at)
		}
	}
	m.recoverFirst(ctx)
	f := &finder{repos: map[string]gitwork.Repo{}, tell: func(at string) { tell(0, at) }}
	if err := f.find(ctx, dirs, places); err != nil {
		return Scanned{Worktrees: []Stale{}, Problems: f.said()}, fmt.Errorf("looking for worktrees: %w", err)
	}
	known, err := m.ourTrees()
	if err != nil {
		f.problem("%v", err) // one that cannot be read does not hide the others
	}
	s := &scanning{m: m, known: known, tell: func(at string) { tell(1, at) }}
	lists := map[string][]gitwork.Worktree{}
	for _, common := range f.commons() {
		list, err := f.repos[common].List(ctx)
		if err != nil {
			f.problem("%v", err)
		}
		lists[common] = list
	}
	if err := ctx.Err(); err != nil {
		return Scanned{Worktrees: []Stale{}, Problems: f.said()}, fmt.Errorf("looking for worktrees: %w", context.Cause(ctx))
	}
	s.lookAtAll(ctx, f.repos, lists)
	for _, stale := range f.forgotten() {
		m.measure(ctx, &stale, f.loose[stale.Path], m.o.Clock().Wall)
		_ = m.workIn(ctx, &stale) // it is not removable anyway
		s.found = append(s.found, stale)
		tell(1, stale.Path)
	}
	slices.SortFunc(s.found, func(a, b Stale) int {
		return cmp.Or(cmp.Compare(b.SizeBytes, a.SizeBytes), cmp.Compare(a.Path, b.Path))
	})
	if err := m.noteMissing(s.found); err != nil {
		f.problem("%v", err)
	}
	result := Scanned{Worktrees: append([]Stale{}, s.found...), Problems: f.said()}
	if ctx.Err() != nil {
		return result, fmt.Errorf("looking for worktrees: %w", context.Cause(ctx))
	}
	return result, nil
}

// scanning is what one Scan has looked at.
type scanning struct {
	m     *Manager
	known map[string]*record // by the path of their trees
	tell  func(at string)

	mu    sync.Mutex
	found []Stale // guarded by mu
}

// lookAtAll looks at all worktrees but the main ones.
func (s *scanning) lookAtAll(ctx context.Context, repos map[string]gitwork.Repo, lists map[string][]gitwork.Worktree) {
	var all sync.WaitGroup
	places := make(chan struct{}, lookers)
	for common, list := range lists {
		for _, w := range list {
			if w.Main {
				continue
			}
			select {
			case places <- struct{}{}:
			case <-ctx.Done():
				all.Wait()
				return
			}
			all.Go(func() {
				defer func() { <-places }()
				stale := s.m.lookAt(ctx, repos[common], w, s.known)
				if ctx.Err() != nil {
					return // half of it may be missing
				}
				s.mu.Lock()
				s.found = append(s.found, stale)
				s.mu.Unlock()
				s.tell(w.Path)
			})
		}
	}
	all.Wait()
}

// lookAt looks at a worktree and judges it; known are the records of ours. What
// takes long comes first, and who works in it last.
func (m *Manager) lookAt(ctx context.Context, repo gitwork.Repo, w gitwork.Worktree, known map[string]*record) Stale {
	s := Stale{
		Path: w.Path, Repository: repo.Common, Project: monitor.Clean(repo.Name),
		Branch: monitor.Clean(w.Branch), Head: w.Head, Main: w.Main,
		Locked: w.Locked, LockedWhy: monitor.Clean(w.LockedWhy), InUse: []User{},
	}
	s.MadeBy = madeBy(w.Path, w.Branch)
	also := besides{prunable: monitor.Clean(w.Prunable), now: m.o.Clock().Wall}
	if r := oursAt(known, w.Path); r != nil {
		s.WorkspaceID, s.MadeBy = r.ID, "lamplighter"
		also.job, also.busy, also.done = monitor.Clean(r.Job), r.Step != nil || r.State != Ready, r.Done != nil
	}
	info, err := os.Lstat(w.Path)
	s.Missing = errors.Is(err, os.ErrNotExist)
	var in nested
	switch {
	case s.Missing:
	case err == nil && !info.IsDir(): // git would follow a link
		s.barred = "what lies there is no directory, but a link or a file; look what it is, and remove that by hand"
	default:
		m.measure(ctx, &s, w.Admin, also.now)
		in = nestedIn(ctx, w.Path, known)
		s.barred = barredWords(in.ours, tree.Mounted(w.Path))
	}
	var status gitwork.Status
	if s.Missing {
		status, err = repo.Remembered(ctx, w)
	} else {
		status, err = repo.Status(ctx, w.Path, w.Admin)
	}
	s.Merged, s.Pushed, s.Dirty = status.Merged, status.Pushed, len(status.Uncommitted) > 0
	s.Loss = lossOf(status, err)
	s.Loss.Nested, s.with = in.work, in.clean
	if s.Loss.Unknown == "" {
		s.Loss.Unknown = in.unknown
	}
	s.Loss.Words = lossWords(s.Loss, monitor.Clean(status.Busy))
	if s.UsedAt.Before(status.HeadAt) {
		s.UsedAt = status.HeadAt.UTC()
	}
	if !s.Missing {
		also.unseen = m.workIn(ctx, &s)
	}
	s.Removable, s.Why = judge(s, also)
	return s
}

// lossOf is what would be lost with a worktree of a status, which may not have
// been found out.
func lossOf(status gitwork.Status, err error) Loss {
	loss := Loss{Uncommitted: cleaned(status.Uncommitted), More: status.More, Commits: cleaned(status.Commits), MoreCommits: status.MoreCommits, Submodules: cleaned(status.Submodules)}
	if err != nil {
		loss.Unknown = monitor.Clean(err.Error())
	}
	loss.Words = lossWords(loss, monitor.Clean(status.Busy))
	return loss
}

func cleaned(texts []string) []string {
	clean := make([]string, 0, len(texts))
	for _, text := range texts {
		clean = append(clean, monitor.Clean(text))
	}
	return clean
}

// measure fills in the size of a worktree and when it was used: when the newest
// file in it or of its own was changed, or its last commit made.
func (m *Manager) measure(ctx context.Context, s *Stale, admin string, now time.Time) {
	var mu sync.Mutex
	newest := s.UsedAt
	see := func(path string) {
		info, err := os.Lstat(path)
		if err != nil || !info.ModTime().Before(now) { // a clock was wrong
			return
		}
		mu.Lock()
		defer mu.Unlock()
		if info.ModTime().After(newest) {
			newest = info.ModTime().UTC()
		}
	}
	for _, name := range []string{"HEAD", "index", "logs/HEAD"} {
		see(filepath.Join(admin, filepath.FromSlash(name)))
	}
	// What cannot be read is not counted: nothing is decided by the size.
	count, _ := tree.Measure(ctx, s.Path, func(path string) bool {
		see(filepath.Join(s.Path, filepath.FromSlash(path)))
		return false
	})
	s.SizeBytes, s.Files, s.UsedAt = count.Bytes, count.Files, newest
}

// workIn fills in who works in a worktree; the error says that nobody could look.
func (m *Manager) workIn(ctx context.Context, s *Stale) error {
	processes, err := m.o.InUse(ctx, s.Path)
	for _, p := range processes {
		s.InUse = append(s.InUse, User{PID: p.PID, Name: monitor.Clean(p.Name), How: monitor.Clean(p.How)})
	}
	return err
}

// ourTrees are the records of workspaces that have a tree, or are getting one, by
// the path of that.
func (m *Manager) ourTrees() (map[string]*record, error) {
	records, err := m.store.all()
	known := map[string]*record{}
	for _, r := range records {
		if r.State == Ready || r.State == Creating || r.Step != nil {
			known[r.Path] = r
		}
	}
	return known, err
}

// oursAt is the record of the tree at a path, nil when it is none of ours. A path
// can be written in several ways where case or short names do not count.
func oursAt(known map[string]*record, path string) *record {
	if r := known[path]; r != nil {
		return r
	}
	for at, r := range known {
		if sameFile(at, path) {
			return r
		}
	}
	return nil
}

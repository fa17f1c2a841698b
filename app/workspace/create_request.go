package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"lamplighter/app/workspace/gitwork"
	"lamplighter/app/workspace/tree"
	"lamplighter/monitor"
)

// longestJob is how many characters the name of a job or a project may have.
const longestJob = 200

// What else bounds a record.
const (
	longestRef = 1000 // bytes
	mostShares = 100
)

// longestRetention is ten years: nobody means more, and it can be added to any time.
const longestRetention = 10 * 365 * 24 * time.Hour

// refuse is an error that Is ErrBadRequest.
func refuse(format string, args ...any) error {
	return fmt.Errorf("making a workspace: %w: %w", ErrBadRequest, fmt.Errorf(format, args...))
}

// check refuses what cannot be meant, whatever is on the disk.
func (q Request) check() error {
	switch {
	case q.Kind != Temp && q.Kind != Persistent && q.Kind != Hybrid:
		return refuse("its kind is %q; it has to be %q, %q or %q", q.Kind, Temp, Persistent, Hybrid)
	case q.Job == "":
		return refuse("it has no job; name one")
	case q.Cleanup != "" && !slices.Contains([]Cleanup{AtCompletion, AtRetention, ByHand, ToArchive}, q.Cleanup):
		return refuse("its clean-up is %q; it has to be %q, %q, %q or %q", q.Cleanup, AtCompletion, AtRetention, ByHand, ToArchive)
	case q.Retention < 0 || q.Retention > longestRetention:
		return refuse("its retention is %v; it has to be between a second and ten years", q.Retention)
	case q.Retention > 0 && q.Retention < time.Second:
		return refuse("its retention is %v; it has to be a second at least", q.Retention)
	case q.Ref != "" && q.From == "":
		return refuse("it has the ref %q and no repository; say where to make it from", q.Ref)
	case q.Ref != "" && q.Copy:
		return refuse("it has the ref %q and is to be a copy of what lies in the directory; only one of both is possible", q.Ref)
	case len(q.Ref) > longestRef:
		return refuse("its ref has %d bytes; %d may be", len(q.Ref), longestRef)
	case len(q.Share) > mostShares:
		return refuse("%d directories are to be shared; %d may be", len(q.Share), mostShares)
	case strings.ContainsFunc(q.Ref, monitor.Unprintable):
		return refuse("its ref %q has control characters", q.Ref)
	}
	for what, path := range map[string]string{"made from": q.From, "made in": q.In} {
		if path != "" && (!filepath.IsAbs(path) || strings.ContainsRune(path, 0)) {
			return refuse("what it is %s, %q, is no absolute path", what, path)
		}
	}
	for what, text := range map[string]string{"job": q.Job, "project": q.Project} {
		switch {
		case !utf8.ValidString(text):
			return refuse("the name of its %s is not UTF-8: %q", what, text)
		case utf8.RuneCountInString(text) > longestJob:
			return refuse("the name of its %s has %d characters; %d may be", what, utf8.RuneCountInString(text), longestJob)
		case strings.ContainsFunc(text, unicode.IsControl):
			return refuse("the name of its %s has control characters: %q", what, text)
		case text != "" && monitor.Clean(text) == "":
			return refuse("the name of its %s has nothing that can be seen", what)
		}
	}
	return nil
}

// blueprint is a request after the disk was looked at: it is not read again after
// that, so that what was checked is what is used.
type blueprint struct {
	q      Request
	from   string // resolved; "" for nothing
	git    bool
	repo   gitwork.Repo
	commit string
	in     string // resolved: the directory that the tree is made in
	shares []share
}

// draw looks at the disk, and makes the usual place where it is missing.
func (m *Manager) draw(ctx context.Context, q Request) (blueprint, error) {
	if err := q.check(); err != nil {
		return blueprint{}, err
	}
	if q.Serve && m.o.Servers == nil {
		return blueprint{}, fmt.Errorf("making a workspace: %w: there is nothing here that starts servers; leave it out", ErrNoServer)
	}
	p := blueprint{q: q}
	if q.From != "" {
		var err error
		if p.from, err = directory(q.From); err != nil {
			return blueprint{}, refuse("it cannot be made from %s: %w", monitor.Clean(q.From), err)
		}
		if err := p.openSource(ctx); err != nil {
			return blueprint{}, err
		}
	}
	if err := m.place(&p); err != nil {
		return blueprint{}, err
	}
	var err error
	if p.shares, err = p.planShares(); err != nil {
		return blueprint{}, err
	}
	if p.q.Project == "" {
		p.q.Project = p.project()
	}
	return p, nil
}

// openSource finds the repository that the source is in, unless it is to be copied.
func (p *blueprint) openSource(ctx context.Context) error {
	if p.q.Copy {
		return nil
	}
	repo, err := gitwork.Open(ctx, p.from)
	switch {
	case errors.Is(err, gitwork.ErrNoRepo) && p.q.Ref != "":
		return refuse("%s is in no git repository, so it has no ref %q", monitor.Clean(p.from), p.q.Ref)
	case errors.Is(err, gitwork.ErrNoRepo):
		return nil
	case errors.Is(err, gitwork.ErrNoGit) && p.q.Ref == "" && !underGit(p.from):
		return nil
	case errors.Is(err, gitwork.ErrNoGit):
		return refuse("%s is in a git repository: %w; install it, or ask for a copy", monitor.Clean(p.from), err)
	case err != nil:
		return refuse("the repository of %s cannot be opened: %w", monitor.Clean(p.from), err)
	}
	p.git, p.repo = true, repo
	p.commit, err = repo.Resolve(ctx, p.q.Ref)
	switch {
	case errors.Is(err, gitwork.ErrNoRef) && p.q.Ref == "":
		return refuse("the repository of %s has no commit yet: make one, or ask for a copy", monitor.Clean(p.from))
	case errors.Is(err, gitwork.ErrNoRef):
		return refuse("the repository of %s: %w: %q", monitor.Clean(p.from), gitwork.ErrNoRef, p.q.Ref)
	case err != nil:
		return refuse("looking for %q in the repository of %s: %w", p.q.Ref, monitor.Clean(p.from), err)
	}
	return nil
}

// underGit reports whether a directory looks like part of a repository to somebody
// who has no git.
func underGit(dir string) bool {
	for {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return true
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return false
		}
		dir = parent
	}
}

// project is the name for a project that has none: of its repository, of the
// directory that it is made from, or of that it is made in.
func (p *blueprint) project() string {
	switch {
	case p.git && p.repo.Name != "":
		return p.repo.Name
	case p.from != "":
		return filepath.Base(p.from)
	case p.q.In != "":
		return filepath.Base(p.in)
	}
	return ""
}

// place finds where the tree is to be, and refuses a place inside of its own
// source, of another workspace, or of what the store keeps.
func (m *Manager) place(p *blueprint) error {
	if err := m.store.prepare(); err != nil {
		return err
	}
	trees := m.limits().Trees
	if trees == "" {
		trees = m.store.path(treesDir)
	}
	in := p.q.In
	if in == "" {
		if err := os.MkdirAll(trees, 0o700); err != nil {
			return fmt.Errorf("making the directory for workspaces: %w", err)
		}
		in = trees
	}
	var err error
	if p.in, err = directory(in); err != nil {
		return refuse("it cannot be made in %s: %w", monitor.Clean(in), err)
	}
	within, err := ancestry(p.in)
	if err != nil {
		return refuse("it cannot be made in %s: %w", monitor.Clean(in), err)
	}
	if p.from != "" && !p.git {
		id, err := tree.Identity(p.from)
		if err != nil {
			return refuse("it cannot be made from %s: %w", monitor.Clean(p.from), err)
		}
		if within[id] {
			return refuse("it would be a part of itself: %s is in %s; say another place to make it in", monitor.Clean(p.in), monitor.Clean(p.from))
		}
	}
	if p.git {
		id, err := tree.Identity(p.repo.Common)
		if err != nil {
			return refuse("the repository of %s cannot be opened: %w", monitor.Clean(p.from), err)
		}
		if within[id] {
			return refuse("%s is in what git keeps of the repository; say another place to make it in", monitor.Clean(p.in))
		}
	}
	return m.placeAmongOthers(p.in, within)
}

// placeAmongOthers refuses a place inside of another workspace, or of what the
// store keeps but for the usual place of trees.
func (m *Manager) placeAmongOthers(in string, within map[string]bool) error {
	records, _ := m.store.all() // one that cannot be read is not known to be anywhere
	for _, r := range records {
		if r.State != Removed && r.Root != "" && within[r.Root] {
			return refuse("%s is in the workspace %s; say another place to make it in", monitor.Clean(in), r.Name)
		}
	}
	dir, err := filepath.EvalSymlinks(m.o.Dir)
	if err != nil {
		return err
	}
	store, err := tree.Identity(dir)
	if err != nil {
		return err
	}
	trees, err := tree.Identity(filepath.Join(dir, treesDir))
	if err != nil {
		return err
	}
	if within[store] && !within[trees] {
		return refuse("%s is where Lamplighter keeps what belongs to workspaces; say another place to make it in", monitor.Clean(in))
	}
	return nil
}

// directory is the path without links of a directory.
func directory(path string) (string, error) {
	resolved, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", err
	}
	info, err := os.Stat(resolved)
	if err != nil {
		return "", err
	}
	if !info.IsDir() {
		return "", &fs.PathError{Op: "open", Path: resolved, Err: errors.New("it is not a directory")}
	}
	return filepath.Abs(resolved)
}

// ancestry are the identities of a directory and of all that it is in, so that
// spelling does not matter.
func ancestry(dir string) (map[string]bool, error) { return lineage(dir, tree.Identity) }

// lineage is ancestry by a way to tell an identity. What may not be read is left
// out: it is no source of a copy, no share and no workspace of ours.
func lineage(dir string, identity func(string) (string, error)) (map[string]bool, error) {
	ids := map[string]bool{}
	for {
		id, err := identity(dir)
		switch {
		case err == nil:
			ids[id] = true
		case !errors.Is(err, fs.ErrPermission):
			return nil, err
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return ids, nil
		}
		dir = parent
	}
}

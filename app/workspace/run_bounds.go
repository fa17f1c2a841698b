package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"lamplighter/app/workspace/confine"
	"lamplighter/monitor"
)

// boundsOf are the places that a job may write and see. One that is not confined
// is only kept from writing what is shared.
func (m *Manager) boundsOf(r *record, j Job) (confine.Spec, error) {
	s := confine.Spec{Confine: j.Confine}
	for _, share := range r.Shares {
		s.ReadOnly = append(s.ReadOnly, share.From)
	}
	if !j.Confine {
		s.ReadOnly = existing(s.ReadOnly...)
		return s, nil
	}
	s.TempDir = m.tempDir(r.ID)
	s.Writable = append([]string{r.Path, s.TempDir}, j.Writable...)
	s.ReadOnly = append(s.ReadOnly, m.envFile(r.ID), m.store.path(dataDir, r.ID, "versions"))
	s.Hidden = m.hiddenFrom(r)
	if r.Source.Kind == FromGit {
		writable, readOnly, err := gitBounds(r, j)
		if err != nil {
			return confine.Spec{}, err
		}
		s.Writable, s.ReadOnly = append(s.Writable, writable...), append(s.ReadOnly, readOnly...)
	}
	s.ReadOnly = existing(s.ReadOnly...)
	return s, nil
}

// hiddenFrom are the places of the other workspaces.
func (m *Manager) hiddenFrom(r *record) []string {
	hidden := []string{m.o.Dir}
	if trees := m.limits().Trees; trees != "" {
		hidden = append(hidden, trees)
	}
	others, _ := m.store.all() // of one that cannot be read the usual place is hidden
	for _, other := range others {
		if other.ID != r.ID {
			hidden = append(hidden, other.Path)
		}
	}
	return hidden
}

// gitBounds are what a job may write of a repository and what it must not. It
// writes nothing of it but with Commit: what it could damage there is the work of
// all other branches. Its settings and hooks, which run where the user works, and
// what leads from the worktree to them, it never writes.
//
// Source: gitrepository-layout(5), git-worktree(1) "DETAILS".
func gitBounds(r *record, j Job) (writable, readOnly []string, err error) {
	common, admin := r.Source.Repository, r.Source.Admin
	readOnly = []string{common, filepath.Join(r.Path, ".git")}
	if !j.Commit {
		return nil, append(readOnly, admin), nil
	}
	own := filepath.Join(admin, "config.worktree")
	if err := emptyFile(own); err != nil {
		return nil, nil, fmt.Errorf("keeping the job from git's settings: %w", err)
	}
	leading := []string{filepath.Join(admin, "commondir"), filepath.Join(admin, "gitdir"), own}
	for _, path := range leading { // of a link only what it leads to would be kept
		if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
			return nil, nil, fmt.Errorf("keeping the job from git's settings: %s is not a file, so somebody has changed it; see to that first", monitor.Clean(path))
		}
	}
	branches := branchDirs(r)
	for _, dir := range branches {
		// git makes them with the first branch, and removes them when they are empty.
		// What cannot be made is missing to the job alone.
		_ = os.MkdirAll(dir, 0o777)
	}
	writable = existing(append(branches, admin, filepath.Join(common, "objects"))...)
	return writable, append(readOnly, leading...), nil
}

// clearLinks removes the links and pipes that a job may have left where it could
// write of a repository: git, run by somebody else, would write through them. A
// HEAD that is a link to a branch is one that git makes itself, when it is told to.
func clearLinks(r *record) error {
	var failed []error
	for _, dir := range append(branchDirs(r), r.Source.Admin) {
		root, err := os.OpenRoot(dir) // which no other job can lead out of
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			failed = append(failed, err)
			continue
		}
		_ = fs.WalkDir(root.FS(), ".", func(path string, entry fs.DirEntry, err error) error {
			if err == nil && entry.Type()&(fs.ModeSymlink|fs.ModeNamedPipe) != 0 {
				target, _ := root.Readlink(path)
				if path == "HEAD" && strings.HasPrefix(target, "refs/heads/") && filepath.IsLocal(target) && filepath.Clean(target) == target {
					return nil
				}
				err = root.Remove(path)
			}
			if err != nil && !errors.Is(err, fs.ErrNotExist) { // git removes what is empty
				failed = append(failed, err)
			}
			return nil // one that cannot be looked at hides no other
		})
		failed = append(failed, root.Close())
	}
	return errors.Join(failed...)
}

// branchDirs is where the branches of workspaces are, and their logs.
func branchDirs(r *record) []string {
	const dir = "refs/heads/lamplighter"
	return []string{filepath.Join(r.Source.Repository, dir), filepath.Join(r.Source.Repository, "logs", dir)}
}

// emptyFile makes a file where there is nothing: what is not there cannot be kept
// from being made in a directory that may be written.
func emptyFile(path string) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return file.Close()
}

// existing are those of the paths where something is.
func existing(paths ...string) []string {
	var list []string
	for _, path := range paths {
		if path == "" {
			continue
		}
		if _, err := os.Stat(path); err == nil {
			list = append(list, path)
		}
	}
	return list
}

package workspace

import (
	"os"
	"path/filepath"

	"lamplighter/app/workspace/confine"
)

// boundsOf are the places that a job may write and see. One that is not confined
// is only kept from writing what is shared.
func (m *Manager) boundsOf(r *record, j Job) confine.Spec {
	s := confine.Spec{Confine: j.Confine}
	for _, share := range r.Shares {
		s.ReadOnly = append(s.ReadOnly, share.From)
	}
	if !j.Confine {
		s.ReadOnly = existing(s.ReadOnly...)
		return s
	}
	s.TempDir = m.tempDir(r.ID)
	s.Writable = append([]string{r.Path, s.TempDir}, j.Writable...)
	s.ReadOnly = append(s.ReadOnly, m.envFile(r.ID), m.store.path(dataDir, r.ID, "versions"))
	s.Hidden = m.hiddenFrom(r)
	if r.Source.Kind == FromGit {
		writable, readOnly := gitBounds(r)
		s.Writable, s.ReadOnly = append(s.Writable, writable...), append(s.ReadOnly, readOnly...)
	}
	s.ReadOnly = existing(s.ReadOnly...)
	return s
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

// branchesDir is where the branches of workspaces are, below refs and logs.
const branchesDir = "refs/heads/lamplighter"

// gitBounds are what git needs to write to commit in a worktree, and what it must
// not: its settings and hooks, which run where the user works, and what leads from
// the worktree to them.
//
// Source: gitrepository-layout(5), git-worktree(1) "DETAILS".
func gitBounds(r *record) (writable, readOnly []string) {
	common, admin := r.Source.Repository, r.Source.Admin
	branches := []string{filepath.Join(common, branchesDir), filepath.Join(common, "logs", branchesDir)}
	for _, dir := range branches {
		// git makes them with the first branch, and removes them when they are empty.
		// What cannot be made is missing to the job alone.
		_ = os.MkdirAll(dir, 0o777)
	}
	writable = existing(append(branches, admin, filepath.Join(common, "objects"))...)
	readOnly = []string{
		common, filepath.Join(r.Path, ".git"),
		filepath.Join(admin, "commondir"), filepath.Join(admin, "gitdir"), filepath.Join(admin, "config.worktree"),
	}
	return writable, readOnly
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

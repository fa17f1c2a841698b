package workspace

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// Serena's directory in a project, and what is its own in it: Serena writes these
// when it opens a project. Memories are written for its clients, and are work.
const (
	serenaDir      = ".serena"
	serenaMemories = "memories"
)

// ofSerena reports whether an uncommitted path in a tree is what Serena has written
// by itself.
func (m *Manager) ofSerena(tree, path string) bool {
	if path != serenaDir+"/" {
		return false
	}
	return noWork(path, namesIn(filepath.Join(tree, serenaDir)), namesIn(filepath.Join(tree, serenaDir, serenaMemories)))
}

// noWork reports whether a path, as git names what it does not know, is Serena's
// directory with nothing in it but what Serena writes by itself. names are in it,
// memories in that of its memories. Where the commit has some of it git names what
// is new in it, which is work.
func noWork(path string, names, memories []string) bool {
	own := []string{"project.yml", "project.local.yml", ".gitignore", "cache", serenaMemories}
	return path == serenaDir+"/" && len(names) > 0 && len(memories) == 0 &&
		!slices.ContainsFunc(names, func(name string) bool { return !slices.Contains(own, name) })
}

// namesIn are the names in a directory. Where that cannot be read it is one that
// nobody knows.
func namesIn(dir string) []string {
	entries, err := os.ReadDir(dir)
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		return []string{""}
	}
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}

// nothingMade reports whether a tree that has no version has no file but shares.
func (m *Manager) nothingMade(r *record) bool {
	if versions, err := m.versions(r.ID); err != nil || len(versions) > 0 {
		return false
	}
	links := r.ownShares()
	err := filepath.WalkDir(r.Path, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		to, err := filepath.Rel(r.Path, path)
		if err != nil || !slices.Contains(links, filepath.ToSlash(to)) {
			return fs.ErrExist
		}
		return nil
	})
	return err == nil
}

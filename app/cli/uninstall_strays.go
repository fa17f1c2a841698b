package cli

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"lamplighter/app/daemon"
	"lamplighter/app/workspace"
)

// strays are what lies among workspaces in our state and belongs to none of list:
// nobody can tell what would be lost with it. Empty directories are no work. What is set
// aside of a workspace that is being removed belongs to it.
func strays(dir string, list []workspace.Workspace) ([]string, error) {
	trees, data, archives := filepath.Join(dir, "trees"), filepath.Join(dir, "data"), filepath.Join(dir, "archives")
	var known []string
	for _, w := range list {
		known = append(known, filepath.Join(data, w.ID))
		// The record may name the directory by another way, as through a link.
		for _, path := range []string{w.Path, archiveOf(w)} {
			for _, in := range []string{trees, archives} {
				if rest, within := wayIn(path, in); within {
					known = append(known, filepath.Join(in, rest))
				}
			}
		}
	}
	var found []string
	var failed error
	for _, in := range []string{trees, data, archives} {
		paths, err := straysIn(in, known)
		found, failed = append(found, paths...), errors.Join(failed, err)
	}
	return found, failed
}

func archiveOf(w workspace.Workspace) string {
	if w.Archive == nil {
		return ""
	}
	return w.Archive.Path
}

// wayIn is the way from a directory to a path in it, however the path gets there.
func wayIn(path, dir string) (string, bool) {
	rest := ""
	for path != "" && filepath.Dir(path) != path {
		rest, path = filepath.Join(filepath.Base(path), rest), filepath.Dir(path)
		if daemon.SameFile(path, dir) {
			return rest, true
		}
	}
	return "", false
}

func straysIn(dir string, known []string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var found []string
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if slices.ContainsFunc(known, func(of string) bool { return path == of || isAside(path, of) }) {
			continue
		}
		inside := slices.ContainsFunc(known, func(of string) bool { return strings.HasPrefix(of, path+string(filepath.Separator)) })
		switch {
		case inside && e.IsDir():
			more, err := straysIn(path, known)
			if err != nil {
				return found, err
			}
			found = append(found, more...)
		case !e.IsDir() || !isEmpty(path):
			found = append(found, path)
		}
	}
	return found, nil
}

// isAside reports whether a path is where the tree at another one is put while it is
// removed.
func isAside(path, tree string) bool {
	name := "." + filepath.Base(tree)
	return filepath.Dir(path) == filepath.Dir(tree) &&
		(strings.HasPrefix(filepath.Base(path), name+".trash") || strings.HasPrefix(filepath.Base(path), name+".ended"))
}

// isEmpty reports whether nothing is in a directory.
func isEmpty(dir string) bool {
	entries, err := os.ReadDir(dir)
	return err == nil && len(entries) == 0
}

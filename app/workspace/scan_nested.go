package workspace

import (
	"context"
	"path/filepath"
	"slices"

	"lamplighter/app/workspace/gitwork"
	"lamplighter/monitor"
)

// nested is what has a life of its own in a tree that would go with it, in words
// that are clean.
type nested struct {
	work    []string // paths in the tree of worktrees and repositories with work, see Loss
	clean   []string // of those without
	ours    []string // names of workspaces in the tree
	unknown string   // why not all is known
}

// nestedIn looks for worktrees, repositories and workspaces in the tree at dir, also
// in what git ignores; known are the workspaces' trees.
func nestedIn(ctx context.Context, dir string, known map[string]*record) nested {
	var n nested
	note := func(err error) {
		if n.unknown == "" {
			n.unknown = monitor.Clean(err.Error())
		}
	}
	for path, r := range known {
		if below(path, dir) {
			n.ours = append(n.ours, monitor.Clean(r.Name))
		}
	}
	slices.Sort(n.ours)
	found, err := gitwork.Nested(ctx, dir)
	if err != nil {
		note(err)
	}
	slices.Sort(found)
	for _, path := range found {
		if ctx.Err() != nil {
			note(context.Cause(ctx))
			break
		}
		if oursAt(known, path) != nil {
			continue // it stands against removing anyway
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			name = path
		}
		name = monitor.Clean(filepath.ToSlash(name))
		switch words, err := gitwork.Work(ctx, path); {
		case err != nil:
			n.work = append(n.work, name+": nobody can tell what")
			note(err)
		case words != "":
			n.work = append(n.work, name+": "+words)
		default:
			n.clean = append(n.clean, name)
		}
	}
	return n
}

// below reports whether a path lies below a directory, whichever way that is written.
func below(path, dir string) bool {
	for at := filepath.Dir(path); ; at = filepath.Dir(at) {
		if at == dir || sameFile(at, dir) {
			return true
		}
		if at == filepath.Dir(at) {
			return false
		}
	}
}

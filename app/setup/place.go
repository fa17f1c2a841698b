package setup

import (
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"lamplighter/app/setup/document"
)

// place is a file in which a client keeps MCP servers, there or not.
type place struct {
	client string // its ID: claude-code
	name   string // Claude Code
	path   string // absolute
	scope  Scope
	tables [][]string // below which its servers stand, see document.Parse
	format document.Format
	// guessed tells that it is no known place, and that the tables are those of
	// tablesFor.
	guessed bool
}

// guess is the place of a file that is no known one.
func guess(client, path string, scope Scope) place {
	return place{
		client: client, name: clientName(client), path: path, scope: scope,
		tables: tablesFor(path), format: document.FormatOf(path), guessed: true,
	}
}

// placesHere is where clients keep MCP servers on this machine, as the disk is now.
func placesHere(goos string, o Options, getenv func(string) string) []place {
	return placesWith(goos, o.Home, o.Dir, getenv, onDisk{exists: isThere, list: dirsIn})
}

// places are the files that w is about, in the order in which clients are shown.
// The error Is ErrNoClient.
func (s *Setup) places(w Wanted) ([]place, error) {
	all := placesHere(runtime.GOOS, s.o, s.o.Getenv)
	if w.File != "" {
		path := filepath.Clean(w.File)
		for _, p := range all {
			if filepath.Clean(p.path) == path {
				return []place{p}, nil
			}
		}
		return []place{guess("", path, User)}, nil
	}
	if w.Client == "" {
		return all, nil
	}
	var its []place
	var known []string
	for _, p := range all {
		if p.client == w.Client {
			its = append(its, p)
		}
		if !slices.Contains(known, p.client) {
			known = append(known, p.client)
		}
	}
	if its == nil {
		return nil, fmt.Errorf("%w: %q; there are %s", ErrNoClient, w.Client, strings.Join(known, ", "))
	}
	return its, nil
}

// targetOf is the file itself, behind links, also when it is not there.
func targetOf(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		return filepath.Join(dir, filepath.Base(path))
	}
	return path
}

// joined are places of which no two lead to one file, as links do. What is the
// user's and a project's is the user's.
func joined(all []place) []place {
	var list []place
	at := map[string]int{}
	for _, p := range all {
		target := targetOf(p.path)
		i, ok := at[target]
		if !ok {
			at[target] = len(list)
			list = append(list, p)
			continue
		}
		both := list[i]
		if both.scope == Project && p.scope == User {
			both = p
		}
		both.tables = slices.Clone(both.tables)
		for _, table := range slices.Concat(list[i].tables, p.tables) {
			if !slices.ContainsFunc(both.tables, func(t []string) bool { return slices.Equal(t, table) }) {
				both.tables = append(both.tables, table)
			}
		}
		list[i] = both
	}
	return list
}

// closed reports whether Do leaves a file alone because others may use it.
func (p place) closed(w Wanted) bool {
	return p.scope == Project && !w.Project && w.File == "" && !w.Undo
}

package setup

import (
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"lamplighter/monitor"
	"lamplighter/monitor/clients"
)

// place is a file of settings, there or not.
type place struct {
	clients.Place
	// guessed tells that it is no known place, and that the tables are those that any
	// client may use.
	guessed bool
}

// Where servers may stand in a file that is no known place. A table that several
// clients share comes first, the bare "servers", which may be anything, last.
// mcp_servers in JSON and mcpServers and servers in TOML are what people carry over
// from one client to another.
var (
	anyInJSON = [][]string{{"mcpServers"}, {"projects", "*", "mcpServers"}, {"mcp", "servers"}, {"mcp.servers"}, {"mcp_servers"}, {"context_servers"}, {"servers"}}
	anyInTOML = [][]string{{"mcp_servers"}, {"mcpServers"}, {"servers"}}
)

// guess is the place of a file that is no known one.
func guess(client, path string, scope Scope) place {
	p := clients.Place{Client: client, Name: clients.NameOfID(client), Path: path, Scope: scope, Format: clients.FormatOf(path), Tables: anyInTOML}
	if p.Format == clients.JSON {
		p.Tables = anyInJSON
		if base := monitor.ProgramName(path); base == "opencode.json" || base == "opencode.jsonc" {
			p.Tables = [][]string{{"mcp"}}
		}
	}
	return place{p, true}
}

// places are the files that w is about, in the order in which clients are shown.
// The error Is ErrNoClient.
func (s *Setup) places(w Wanted) ([]place, error) {
	all := s.placesHere()
	if w.File != "" {
		path := filepath.Clean(w.File)
		for _, p := range all {
			if filepath.Clean(p.Path) == path {
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
		if p.Client == w.Client {
			its = append(its, p)
		}
		if !slices.Contains(known, p.Client) {
			known = append(known, p.Client)
		}
	}
	if its == nil {
		return nil, fmt.Errorf("%w: %q; there are %s", ErrNoClient, w.Client, strings.Join(known, ", "))
	}
	return its, nil
}

// placesHere is where clients keep MCP servers on this machine, as the disk is now.
func (s *Setup) placesHere() []place {
	var all []place
	for _, p := range clients.Places(runtime.GOOS, s.o.Home, s.o.Dir, s.o.Getenv) {
		all = append(all, place{Place: p})
	}
	return all
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
		target := targetOf(p.Path)
		i, ok := at[target]
		if !ok {
			at[target] = len(list)
			list = append(list, p)
			continue
		}
		both := list[i]
		if both.Scope == Project && p.Scope == User {
			both = p
		}
		both.Tables = slices.Clone(both.Tables)
		for _, table := range slices.Concat(list[i].Tables, p.Tables) {
			if !slices.ContainsFunc(both.Tables, func(t []string) bool { return slices.Equal(t, table) }) {
				both.Tables = append(both.Tables, table)
			}
		}
		list[i] = both
	}
	return list
}

// closed says, as a sentence, why Do leaves a file alone, "" when it does not.
func (p place) closed(w Wanted) string {
	switch {
	case p.Plugin != "":
		return "The plugin or extension " + monitor.Clean(p.Plugin) + " has brought it, and writes it anew at each update. Copy the entry into your own settings to share it."
	case p.Above && w.File == "" && !w.Undo:
		return "It is in a directory above this one, and counts in all that is below that. lamplighter setup --file PATH changes it all the same."
	case p.Scope == Project && !w.Project && w.File == "" && !w.Undo:
		return "Others may use this file, and a path on this machine would not work for them. lamplighter setup --project changes it all the same."
	}
	return ""
}

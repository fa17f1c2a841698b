// Package clients knows the programs that start MCP servers: which processes they
// are, and where and how each keeps the servers that it starts. It reads; nothing
// here changes a file or runs a program.
//
// table.go is the list of them. places.go makes paths of it, programs.go tells a
// client among processes, format.go and server.go read what settings say. Where in a
// file a server stands, and edits, are for app/setup/document.
package clients

import (
	"cmp"
	"encoding/json"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Place is a file in which a client keeps MCP servers, there or not.
type Place struct {
	Client string // its ID: claude-code
	Name   string // Claude Code
	Path   string // absolute
	Scope  Scope
	// Tables are the paths of names below which its servers stand, where "*" is any name:
	// {{"mcpServers"}, {"projects", "*", "mcpServers"}}.
	Tables [][]string
	Format Format
	Dir    string // of the project that the file is for, "" for the user's
	Above  bool   // it is in a directory above, but for the top of the repository, and counts here too
	Plugin string // or extension that has brought it, "" for settings of the user
	Flat   bool   // its servers may stand in it without a table
}

// Scope is whom settings are for.
type Scope string

// The scopes.
const (
	User    Scope = "user"    // all that the user does
	Project Scope = "project" // the project in a directory; others may share the file
)

// Places is where clients keep MCP servers on this machine, as the disk is now, for
// a user with this home and environment who works in dir ("" for nowhere): in the
// order in which clients are shown, the user's files before the project's.
func Places(goos, home, dir string, getenv func(string) string) []Place {
	return placesWith(goos, home, dir, getenv, onDisk{exists: IsThere, foreign: isForeign, list: dirsIn, read: readFile})
}

// NameOfID is what a client is called, "" for none that is known.
func NameOfID(id string) string { return first(func(c client) bool { return c.id == id }).name }

// first is the first client that is so, and none when no one is.
func first(is func(client) bool) client {
	for _, c := range known {
		if is(c) {
			return c
		}
	}
	return client{}
}

// tablesIn reads tables as they are written in the list of clients.
func tablesIn(text string) [][]string {
	var tables [][]string
	for table := range strings.FieldsSeq(text) {
		tables = append(tables, strings.Split(table, "/"))
	}
	return tables
}

// onDisk is what is asked of the disk to find places. Each may be asked of a path
// that is not there.
type onDisk struct {
	exists  func(path string) bool
	foreign func(path string) bool    // it is another user's
	list    func(dir string) []string // the names of the directories in it
	read    func(path string) []byte  // nil for what cannot be read
}

// placesWith is where clients keep MCP servers on a system: in the order in
// which clients are shown, the user's files before the project's. It is a pure
// function of what it is given.
func placesWith(goos, home, dir string, getenv func(string) string, l onDisk) []Place {
	s := system{goos: goos, home: home, getenv: getenv, onDisk: l}
	if !s.absolute(home) {
		return nil
	}
	projects := s.projects(dir)
	var all []Place
	seen := map[string]bool{}
	for _, c := range known {
		var its []Place
		for _, f := range c.files {
			for _, p := range s.places(f, dir) {
				p.Scope, p.Tables = User, tablesIn(cmp.Or(f.tables, c.tables))
				its = append(its, p)
			}
		}
		dirs := slices.Clip(projects)
		if above := s.upwards(dir); c.above && len(above) > 0 {
			dirs = append(dirs, above[:len(above)-1]...) // but for the root
		}
		for i, project := range dirs {
			for file := range strings.FieldsSeq(c.project) {
				p := Place{Path: s.join(project, strings.Split(file, "/")...), Scope: Project, Dir: project, Above: i >= len(projects), Tables: tablesIn(c.tables)}
				// In a directory above, such as /tmp, anybody may have put it.
				if (!p.Above || s.exists(p.Path)) && (project == dir || !s.foreign(p.Path)) {
					its = append(its, p)
				}
			}
		}
		for _, p := range its {
			p.Client, p.Name, p.Format = c.id, c.name, FormatOf(p.Path)
			// The home may be a project as well, and then a file is the user's.
			if key := s.key(p.Path); !seen[key] {
				seen[key] = true
				all = append(all, p)
			}
		}
	}
	return all
}

// places are the files that a row of the list stands for, for somebody who works in a
// directory.
func (s system) places(f location, work string) (places []Place) {
	dir := s.directoryOf(f)
	paths := []string{dir}
	for name := range strings.SplitSeq(f.path, "/") {
		begin, several := strings.CutSuffix(name, "*")
		var below []string
		for _, path := range paths {
			if !several {
				below = append(below, s.join(path, name))
				continue
			}
			for _, found := range s.list(path) {
				if strings.HasPrefix(strings.ToLower(found), strings.ToLower(begin)) {
					below = append(below, s.join(path, found))
				}
			}
		}
		paths = below
	}
	var enabled map[string]bool
	if f.plugins && len(paths) > 0 {
		enabled = s.enabledPlugins(dir, work)
	}
	for _, path := range paths {
		names := strings.Split(strings.ReplaceAll(path, `\`, "/"), "/")
		above := names[len(names)-2]
		switch {
		case f.plugins:
			if plugin := above + "@" + names[len(names)-3]; enabled[plugin] {
				places = append(places, s.placesOfPlugin(path, plugin)...)
			}
		case f.extension:
			if _, has := s.declared(path).(map[string]any); has {
				places = append(places, Place{Path: path, Plugin: above})
			}
		case !f.optional || s.exists(path):
			places = append(places, Place{Path: path})
		}
	}
	return places
}

// placesOfPlugin are the files of a plugin of Claude Code in which its servers are: its
// .mcp.json, its manifest, and the files that the manifest names for them.
func (s system) placesOfPlugin(root, plugin string) []Place {
	manifest := s.join(root, ".claude-plugin", "plugin.json")
	places := []Place{{Path: s.join(root, ".mcp.json"), Plugin: plugin, Flat: true}}
	declared := s.declared(manifest)
	if _, has := declared.(map[string]any); has {
		places = append(places, Place{Path: manifest, Plugin: plugin})
	}
	several, _ := declared.([]any)
	for _, one := range append(several, declared) {
		if file, named := one.(string); named && filepath.IsLocal(file) { // else it may be another client's
			places = append(places, Place{Path: s.join(root, strings.Split(path.Clean(file), "/")...), Plugin: plugin, Flat: true})
		}
	}
	return slices.DeleteFunc(places, func(p Place) bool { return FormatOf(p.Path) == "" || !s.exists(p.Path) })
}

// declared is what a manifest says of servers, nil for nothing.
func (s system) declared(manifest string) any {
	says, _ := JSON.Decode(s.read(manifest), [][]string{{"mcpServers"}}) // what cannot be read says nothing
	return says["mcpServers"]
}

// enabledPlugins reads which plugins Claude Code's settings switch on: the user's in dir,
// and over them those of the directory in which somebody works.
func (s system) enabledPlugins(dir, work string) map[string]bool {
	files := []string{s.join(dir, "settings.json")}
	if s.absolute(work) {
		files = append(files, s.join(work, ".claude", "settings.json"), s.join(work, ".claude", "settings.local.json"))
	}
	says := struct {
		EnabledPlugins map[string]bool `json:"enabledPlugins"`
	}{map[string]bool{}}
	for _, file := range files {
		_ = json.Unmarshal(s.read(file), &says) // what cannot be read switches nothing
	}
	return says.EnabledPlugins
}

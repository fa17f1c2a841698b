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
	// Plugin names the plugin that has brought it, "" for settings of the user. Its
	// servers may stand in it without a table.
	Plugin string
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
	return placesWith(goos, home, dir, getenv, onDisk{exists: IsThere, list: dirsIn, read: readFile})
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
	exists func(path string) bool
	list   func(dir string) []string // the names of the directories in it
	read   func(path string) []byte  // nil for what cannot be read
}

// placesWith is where clients keep MCP servers on a system: in the order in
// which clients are shown, the user's files before the project's. It is a pure
// function of what it is given.
func placesWith(goos, home, dir string, getenv func(string) string, l onDisk) []Place {
	s := system{goos: goos, home: home, getenv: getenv}
	if !s.absolute(home) {
		return nil
	}
	projects := s.projects(dir, l.exists)
	var all []Place
	seen := map[string]bool{}
	add := func(c client, p Place) {
		p.Client, p.Name, p.Format = c.id, c.name, FormatOf(p.Path)
		// The home may be a project as well, and then a file is the user's.
		if key := s.key(p.Path); !seen[key] {
			seen[key] = true
			all = append(all, p)
		}
	}
	for _, c := range known {
		for _, f := range c.files {
			for _, p := range s.places(f, l) {
				p.Scope, p.Tables = User, tablesIn(cmp.Or(f.tables, c.tables))
				add(c, p)
			}
		}
		for _, project := range projects {
			for file := range strings.FieldsSeq(c.project) {
				add(c, Place{Path: s.join(project, strings.Split(file, "/")...), Scope: Project, Dir: project, Tables: tablesIn(c.tables)})
			}
		}
	}
	return all
}

// places are the files that a row of the list stands for.
func (s system) places(f location, l onDisk) []Place {
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
			for _, found := range l.list(path) {
				if strings.HasPrefix(strings.ToLower(found), strings.ToLower(begin)) {
					below = append(below, s.join(path, found))
				}
			}
		}
		paths = below
	}
	var enabled map[string]bool
	if f.plugins && len(paths) > 0 {
		enabled = enabledPlugins(l.read(s.join(dir, "settings.json")))
	}
	var places []Place
	for _, path := range paths {
		p := Place{Path: path}
		if f.plugins {
			names := strings.Split(strings.ReplaceAll(path, `\`, "/"), "/")
			p.Plugin = names[len(names)-3] + "@" + names[len(names)-4]
		}
		if (!f.optional || l.exists(path)) && (!f.plugins || enabled[p.Plugin]) {
			places = append(places, p)
		}
	}
	return places
}

// enabledPlugins reads which plugins Claude Code's settings switch on.
func enabledPlugins(settings []byte) map[string]bool {
	read := struct {
		EnabledPlugins map[string]bool `json:"enabledPlugins"`
	}{map[string]bool{}}
	_ = json.Unmarshal(settings, &read) // what cannot be read switches nothing on
	return read.EnabledPlugins
}

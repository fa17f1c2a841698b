// Package clients knows the programs that start MCP servers: which processes they
// are, and where and how each keeps the servers that it starts. It reads; nothing
// here changes a file or runs a program.
//
// table.go is the list of them. places.go makes paths of it, programs.go tells a
// client among processes; the format of a file is document's.
package clients

import (
	"slices"

	"lamplighter/monitor"
	"lamplighter/monitor/clients/document"
)

// Place is a file in which a client keeps MCP servers, there or not.
type Place struct {
	Client string // its ID: claude-code
	Name   string // Claude Code
	Path   string // absolute
	Scope  Scope
	Tables [][]string // below which its servers stand, see document.Parse
	Format document.Format
	// Guessed tells that it is no known place, and that the tables are those that any
	// client may use.
	Guessed bool
	Dir     string // of the project that the file is for, "" for the user's
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

// Entries are those of a document of the file. What a guessed "servers" has need
// not be for MCP.
func (p Place) Entries(doc *document.Document) []document.Entry {
	all := doc.Entries()
	if !p.Guessed {
		return all
	}
	return slices.DeleteFunc(slices.Clone(all), func(e document.Entry) bool {
		return len(e.Path) == 2 && e.Path[0] == "servers" && !e.IsServer()
	})
}

// Guess is the place of a file that is no known one.
func Guess(client, path string, scope Scope) Place {
	return Place{
		Client: client, Name: NameOfID(client), Path: path, Scope: scope,
		Tables: tablesFor(path), Format: document.FormatOf(path), Guessed: true,
	}
}

// Places is where clients keep MCP servers on this machine, as the disk is now, for
// a user with this home and environment who works in dir ("" for nowhere): in the
// order in which clients are shown, the user's files before the project's.
func Places(goos, home, dir string, getenv func(string) string) []Place {
	return placesWith(goos, home, dir, getenv, onDisk{exists: IsThere, list: dirsIn, read: readFile})
}

// NameOfID is what a client is called, "" for none that is known.
func NameOfID(id string) string {
	for _, c := range known {
		if c.id == id {
			return c.name
		}
	}
	return ""
}

// The names of tables, and who uses them. The sources are beside the places.
func tableMCPServers() [][]string { return [][]string{{"mcpServers"}} }
func tableServers() [][]string    { return [][]string{{"servers"}} }
func tableCodex() [][]string      { return [][]string{{"mcp_servers"}} }
func tableZed() [][]string        { return [][]string{{"context_servers"}} }
func tableOpenCode() [][]string   { return [][]string{{"mcp"}} }

// tablesOfClaudeCode are those of .claude.json: for all projects, and for one of
// them, by its path.
func tablesOfClaudeCode() [][]string {
	return [][]string{{"mcpServers"}, {"projects", "*", "mcpServers"}}
}

// tablesOfVSCodeSettings are those of settings.json, whose names may be written in
// one with dots.
func tablesOfVSCodeSettings() [][]string {
	return [][]string{{"mcp", "servers"}, {"mcp.servers"}}
}

// tablesFor is where servers may stand in a file that is no known place, by its
// format; nil for a format that is not known. A table that several clients share
// comes first, the bare "servers", which may be anything, last.
//
// Sources: those of places, and for context_servers the page "Model Context
// Protocol in Zed" (zed.dev/docs/ai/mcp). mcp_servers in JSON and mcpServers and
// servers in TOML are what people carry over from one client to another.
func tablesFor(path string) [][]string {
	switch document.FormatOf(path) {
	case document.JSON:
		if base := monitor.ProgramName(path); base == "opencode.json" || base == "opencode.jsonc" {
			return tableOpenCode()
		}
		return [][]string{
			{"mcpServers"},
			{"projects", "*", "mcpServers"},
			{"mcp", "servers"},
			{"mcp.servers"},
			{"mcp_servers"},
			{"context_servers"},
			{"servers"},
		}
	case document.TOML:
		return [][]string{{"mcp_servers"}, {"mcpServers"}, {"servers"}}
	}
	return nil
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
	add := func(p Place) {
		// The home may be a project as well, and then a file is the user's.
		if key := s.key(p.Path); !seen[key] {
			seen[key] = true
			all = append(all, p)
		}
	}
	for _, c := range known {
		for _, p := range c.user(s, l) {
			p.Client, p.Name, p.Scope, p.Format = c.id, c.name, User, document.FormatOf(p.Path)
			add(p)
		}
		for _, project := range projects {
			for _, file := range c.project {
				path := s.join(project, file...)
				add(Place{Client: c.id, Name: c.name, Path: path, Scope: Project, Dir: project, Tables: c.projectTables, Format: document.FormatOf(path)})
			}
		}
	}
	return all
}

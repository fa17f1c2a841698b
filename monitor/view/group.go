package view

import (
	"cmp"
	"fmt"
	"path"
	"slices"

	"lamplighter/monitor"
)

// Group is servers that belong together.
type Group struct {
	Name    string
	Servers []*Server
}

// ByClient and ByProject are by what servers can be grouped.
func ByClient(s *Server) string { return cmp.Or(s.Listed(clientName), "No known client") }
func ByProject(s *Server) string {
	return cmp.Or(s.Words.Project, monitor.Clean(Value(s.ProjectName)), "No project")
}

// tellProjects names the project of each server as one calls it that has it for its own,
// in the same directory or in one above.
func tellProjects(list []*monitor.Instance) []string {
	names, projects := make(map[string]string), make([]string, len(list))
	for _, in := range list {
		if in.ProjectName != "" && in.ProjectRoot != "" {
			names[in.ProjectDirectory()] = projectName(in)
		}
	}
	for i, in := range list {
		at := in.ProjectDirectory()
		for in.ProjectName == "" && len(at) > 1 && names[at] == "" {
			at = path.Dir(at)
		}
		projects[i] = cmp.Or(names[at], projectName(in))
	}
	return projects
}

// projectName is what the project of a server is called by itself, "" for none.
func projectName(in *monitor.Instance) string {
	return monitor.Clean(cmp.Or(in.ProjectName, lastPart(in.ProjectDirectory())))
}

// Grouped puts servers together, each group where the first of it was.
func Grouped(servers []*Server, by func(*Server) string) []Group {
	var groups []Group
	for _, s := range servers {
		name := by(s)
		at := slices.IndexFunc(groups, func(g Group) bool { return g.Name == name })
		if at < 0 {
			at, groups = len(groups), append(groups, Group{Name: name})
		}
		groups[at].Servers = append(groups[at].Servers, s)
	}
	return groups
}

// Words are its totals, with memory as it is to be shown: "Claude Code: 9 servers, 1.4 GB".
func (g Group) Words(memory string) string {
	return fmt.Sprintf("%s: %s, %s", monitor.Shorten(g.Name, childName), monitor.Plural(len(g.Servers), "server", "servers"), memory)
}

// RSSBytes is the memory of all of them, as far as it is known.
func (g Group) RSSBytes() (sum uint64) {
	for _, s := range g.Servers {
		sum += Value(s.RSSBytes)
	}
	return sum
}

package setup

import (
	"slices"
	"strings"

	"lamplighter/monitor"
	"lamplighter/monitor/view"
)

// NoteRunning writes into each entry which servers run from it now.
func NoteRunning(list []Client, servers []*view.Server) {
	for _, c := range list {
		for _, f := range c.Files {
			for i := range f.Entries {
				e := &f.Entries[i]
				var running []string
				for _, s := range servers {
					if s.PID != nil && runsFrom(s, c, f, *e) {
						label := s.Label
						if sharers := s.Sharers(); sharers != "" {
							label += " (shared, " + sharers + ")"
						}
						running = append(running, label)
					}
				}
				e.Now = strings.Join(running, ", ")
			}
		}
	}
}

// runsFrom reports whether a server was started from an entry. One that clients have
// through us was started by us: then it is one of the client's that runs the same.
func runsFrom(s *view.Server, c Client, f File, e Entry) bool {
	if from := s.Entry; from != nil {
		return from.Client == c.Name && from.File == monitor.Clean(f.Path) && from.Name == e.Name && isFor(f, e, s)
	}
	if e.Off || e.State != Shared || !slices.ContainsFunc(s.Clients, func(one view.Client) bool { return one.Name == c.Name }) {
		return false
	}
	isSerena := s.Kind == monitor.KindSerena
	if _, project, ok := strings.Cut(e.Runs, "--project "); ok && isSerena && !strings.HasPrefix(strings.Trim(project, `"'`), view.Value(s.ProjectRoot)) {
		return false
	}
	return isSerena == e.Serena && (isSerena || strings.Contains(e.Runs, s.Kind))
}

// isFor reports whether an entry is for whom the server was started: everybody, a project
// whose file it is in, or the directory that the file has it for, in which the server works.
func isFor(f File, e Entry, s *view.Server) bool {
	folder := e.Folder()
	if folder == "" {
		return s.Entry.Scope == string(f.Scope)
	}
	dir := view.Value(s.Directory)
	return s.Entry.Scope == string(Project) && (dir == folder || strings.HasPrefix(dir, strings.TrimRight(folder, `/\`)+"/"))
}

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
		return from.Client == c.Name && from.File == monitor.Clean(f.Path) && from.Name == e.Name
	}
	if e.State != Shared || !slices.ContainsFunc(s.Clients, func(one view.Client) bool { return one.Name == c.Name }) {
		return false
	}
	isSerena := s.Kind == monitor.KindSerena
	return isSerena == e.Serena && (isSerena || strings.Contains(e.Runs, s.Kind))
}

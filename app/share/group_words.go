package share

import (
	"errors"
	"path/filepath"

	"lamplighter/app/launch"
	"lamplighter/monitor"
)

// reasonColumns is how much is shown of why a start failed; its clients and the log
// get all of it.
const reasonColumns = 200

func whyNotStarted(err error) string {
	why := err.Error()
	var failed *launch.StartError
	if errors.As(err, &failed) {
		why = failed.Why // without the command
	}
	return monitor.Shorten(monitor.Clean(why), reasonColumns)
}

// how tells how it has ended, as a part of a sentence. The caller holds mu.
func (r *run) how() string {
	switch {
	case r.ending != "":
		return r.ending
	case r.ordered != "":
		return "it was stopped " + r.ordered
	}
	return "it " + monitor.Clean(r.server.Ending())
}

// label names the server of a group in events as the model does.
func (g *group) label(id monitor.Identity) string {
	in := monitor.Instance{Identity: id, Kind: g.kind, ProjectName: projectName(g.where)}
	if g.run == nil {
		in.State = monitor.StateParked
	}
	return in.Label()
}

func projectName(dir string) string {
	if name := filepath.Base(dir); name != "." && name != string(filepath.Separator) {
		return name
	}
	return ""
}

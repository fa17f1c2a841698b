package launch

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"lamplighter/monitor"
	"lamplighter/monitor/process"
)

// proven returns those processes of a launch that are provably of it: what a
// record says is no proof, because anybody may have written it. On Linux they
// carry the mark, or are below a keeper that does; elsewhere the keeper is the
// one that was told the directory of the launch, named in the record or not, and
// what is below it is of the launch. With an error it cannot be told now.
func (l *Launcher) proven(id string, said identities) (ours identities, err error) {
	marked, err := process.Marked(launchMark, id)
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		ours.keeper, err = keeperOf(id)
	case slices.Contains(marked, said.keeper):
		ours.keeper, err = said.keeper, nil
	case !lives(said.keeper) && !lives(said.server):
		err = nil // nothing is to be proved
	}
	if err != nil {
		return identities{}, fmt.Errorf("which processes are of a launch cannot be told: %w", err)
	}
	if slices.Contains(marked, said.server) {
		ours.server = said.server
		return ours, nil
	}
	tree, _ := process.Tree(ours.keeper) // nobody, when it has gone
	for _, p := range tree {
		if p.Identity == said.server {
			ours.server = said.server
		}
	}
	return ours, nil
}

// keeperOf finds the keeper of a launch by its command line; zero when there is
// none.
func keeperOf(id string) (monitor.Identity, error) {
	all, err := process.NewTable().Pass()
	if err != nil {
		return monitor.Identity{}, err
	}
	for _, p := range all {
		if keeps(p.Args, id) {
			return p.Identity, nil
		}
	}
	return monitor.Identity{}, nil
}

// keeps reports whether a command line is that of the keeper of a launch. Its
// directory is named after the launch, and nothing else of that name is.
func keeps(args []string, id string) bool {
	if len(args) < 2 || args[1] != "keep" {
		return false
	}
	for i, arg := range args {
		switch {
		case arg == "--":
			return false
		case arg == "--dir" && i+1 < len(args):
			return filepath.Base(args[i+1]) == id
		}
	}
	return false
}

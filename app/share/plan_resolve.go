package share

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"lamplighter/app/launch"
	"lamplighter/monitor"
)

// resolvedFor is how long a resolution holds without asking the Finder, which
// looks at all the ways to start Serena each time: long enough for windows that
// a user opens together.
const resolvedFor = time.Minute

// mostResolved bounds what is remembered.
const mostResolved = 64

// resolved is what is known of a command.
type resolved struct {
	command []string // up to the subcommand
	version string
	alone   string
	at      time.Time
}

// resolve asks what version a client's command runs. The program is absolute. Who asked
// may give up sooner than it is found out, and ask again.
func (a *Planner) resolve(ctx context.Context, program []string, from origin) (resolved, error) {
	key := from.stamp + " " + monitor.Quoted(program)
	asked := a.resolving.DoChan(key, func() (any, error) { return a.find(key, program, from.project) })
	select {
	case result := <-asked:
		found, _ := result.Val.(resolved)
		return found, result.Err
	case <-ctx.Done():
		return resolved{}, ctx.Err()
	}
}

// find asks the Finder, until it has an answer or Close is called, and remembers
// what it has found.
func (a *Planner) find(key string, program []string, project string) (resolved, error) {
	a.mu.Lock()
	closed, known := a.lifetime.Err(), a.resolved[key]
	if closed == nil {
		a.finding.Add(1)
		defer a.finding.Done()
	}
	a.mu.Unlock()
	if closed != nil || time.Since(known.at) < resolvedFor {
		return known, closed
	}
	r, err := a.o.Finder.Resolve(a.lifetime, launch.Wanted{Command: program, Project: project, Serena: true})
	var none *launch.NotFoundError
	if errors.As(err, &none) {
		r.Tried = none.Tried
	} else if err != nil {
		return resolved{}, err
	}
	found := chosenFor(program, r.Chosen, r.Tried)
	if found.alone != "" {
		return found, nil // it may be installed any moment
	}
	found.at = time.Now()
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.resolved) >= mostResolved {
		clear(a.resolved)
	}
	a.resolved[key] = found
	return found, nil
}

// chosenFor judges what a Finder found for a client's command. It is to be that
// command, or the program of Serena beside an interpreter or an older program
// that starts nothing by itself.
func chosenFor(program []string, chosen launch.Verdict, tried []launch.Verdict) resolved {
	switch {
	case chosen.OK && slices.Equal(chosen.Command, program):
		command := program
		if !slices.Contains(command, subcommand) {
			command = append(slices.Clip(command), subcommand)
		}
		return resolved{command: command, version: chosen.Version}
	case chosen.OK && len(chosen.Command) == 1 && isBeside(program[0], chosen.Command[0]):
		return resolved{command: []string{chosen.Command[0], subcommand}, version: chosen.Version}
	}
	why := "its version could not be found out"
	for _, v := range tried {
		if slices.Equal(v.Command, program) {
			why += ": " + strings.TrimSuffix(monitor.Shorten(monitor.Clean(v.Detail), 200), ".")
			break
		}
	}
	return resolved{alone: why}
}

// isBeside reports whether Serena's program lies with the one that was named, or on
// Windows in Scripts below it.
func isBeside(named, chosen string) bool {
	dir := filepath.Dir(chosen)
	return monitor.ProgramName(chosen) == "serena" && (dir == filepath.Dir(named) || filepath.Dir(dir) == filepath.Dir(named) && filepath.Base(dir) == "Scripts")
}

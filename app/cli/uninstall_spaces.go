package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"lamplighter/app/daemon"
	"lamplighter/app/workspace"
	"lamplighter/monitor"
)

// spacesLeft are the workspaces that there are.
type spacesLeft struct {
	manager workspaceManager
	staying []workspace.Workspace
	going   []workspace.Workspace
	barred  []string // why some cannot go, each with its name
	loss    bool     // force would help at least one of them
	unread  error    // not all records can be read
	strays  []string // what no record tells of, and would go with the rest
}

// lookAtSpaces finds the workspaces, and what stands against removing them where that
// is wanted. That some cannot be seen matters only then: else all of them stay.
func (r *uninstallRun) lookAtSpaces(ctx context.Context) (spacesLeft, error) {
	var s spacesLeft
	dir := r.spacesDir()
	if dir == "" {
		return s, nil
	} else if _, err := os.Lstat(dir); err != nil && r.program.spaces == nil {
		return s, nil // looking makes the directory
	}
	var list []workspace.Workspace
	m, err := r.manager()
	if err == nil {
		list, err = m.List(ctx)
	}
	if ctx.Err() != nil {
		return s, ctx.Err()
	}
	if err != nil {
		s.unread = fmt.Errorf("the workspaces cannot be seen: %w", err)
	}
	s.manager = m
	if !r.options.purge {
		s.staying = list
		return s, nil
	}
	s.going = list
	if s.strays, err = strays(dir, list); err != nil {
		s.unread = errors.Join(s.unread, fmt.Errorf("the workspaces cannot be seen: %w", err))
	}
	for _, w := range list {
		out, err := m.Remove(ctx, w.ID, workspace.Removal{Force: r.options.force, DryRun: true, By: "uninstall"})
		why := out.Why
		if err != nil {
			why = err.Error()
		}
		if why == "" {
			continue
		}
		s.barred = append(s.barred, monitor.Clean(why))
		s.loss = s.loss || out.Loss != nil && out.Loss.Words != "" && !r.options.force
	}
	return s, ctx.Err()
}

// spacesDir is where what is known of workspaces lies, and usually their trees; ""
// for nowhere.
func (p *program) spacesDir() string { return daemon.InDir(p.Places().StateDir, "workspaces") }

// errWorkspaces: --purge would take away workspaces that have to stay.
var errWorkspaces = errors.New("workspaces stand against it")

// refusal says which workspaces cannot go, nil when all can. What nobody can judge
// does not go by force either.
func (s spacesLeft) refusal(p *program, force bool) error {
	if why := s.unjudged(p); why != "" {
		return fmt.Errorf("%w, and nothing was changed: %s; leave --purge out, and they stay", errWorkspaces, why)
	}
	if len(s.barred) == 0 {
		return nil
	}
	advice := "leave --purge out, and they stay"
	if s.loss && !force {
		advice += "; or add --force, and what would be lost is"
	}
	return fmt.Errorf("%w, and nothing was changed: %s; %s", errWorkspaces, strings.Join(s.barred, "; "), advice)
}

// unjudged says what nobody can judge, "" when there is nothing.
func (s spacesLeft) unjudged(p *program) string {
	var why []string
	if s.unread != nil {
		why = append(why, oneLine(s.unread))
	}
	if len(s.strays) > 0 {
		why = append(why, "no record tells what this is: "+strings.Join(homelyPaths(p, s.strays), ", ")+". Move it away, or remove it by hand when nothing of it is needed")
	}
	return strings.Join(why, "; ")
}

// homelyPaths are some of many paths.
func homelyPaths(p *program, paths []string) []string {
	var list []string
	for i, path := range paths {
		if i == mostSpaces {
			return append(list, fmt.Sprintf("and %d more", len(paths)-i))
		}
		list = append(list, p.homely(path))
	}
	return list
}

// mostSpaces bounds how many are named.
const mostSpaces = 5

func (s spacesLeft) goingText(p *program) string { return spacesText(p, s.going) }

// stayText says where workspaces are that stay and are not with our state, which the
// plan tells of.
func (s spacesLeft) stayText(p *program) string {
	unread := ""
	if s.unread != nil {
		unread = "Not all workspaces are known, but all stay (" + oneLine(s.unread) + ").\n"
	}
	state := p.Places().StateDir + string(filepath.Separator)
	elsewhere := slices.DeleteFunc(slices.Clone(s.staying), func(w workspace.Workspace) bool { return strings.HasPrefix(w.Path, state) })
	if len(elsewhere) == 0 {
		return unread
	}
	return unread + "Workspaces elsewhere stay, too:\n" + spacesText(p, elsewhere)
}

func spacesText(p *program, list []workspace.Workspace) string {
	var b strings.Builder
	for i, w := range list {
		if i == mostSpaces {
			fmt.Fprintf(&b, "  and %d more\n", len(list)-i)
			break
		}
		b.WriteString("  " + p.homely(w.Path) + "\n")
	}
	return b.String()
}

// remove removes those that go.
func (s spacesLeft) remove(ctx context.Context, p *program, o uninstallOptions) error {
	if !o.purge {
		return nil
	}
	for _, w := range s.going {
		p.progress("Removing " + p.homely(w.Path) + "…")
		out, err := s.manager.Remove(ctx, w.ID, workspace.Removal{Force: o.force, By: "uninstall"})
		p.progress("")
		if err != nil {
			return interrupted(ctx, err)
		}
		if out.Kept != "" {
			p.Say("uninstall: %s: stays: %s", monitor.Clean(w.Name), monitor.Clean(out.Kept))
		}
	}
	// Somebody may have made another one meanwhile, and the directory goes now.
	var err error
	if s.strays, err = strays(p.spacesDir(), nil); err != nil {
		s.unread = fmt.Errorf("the workspaces cannot be seen: %w", err)
	}
	if why := s.unjudged(p); why != "" {
		return fmt.Errorf("%w: %s", errWorkspaces, why)
	}
	return nil
}

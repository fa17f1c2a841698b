package process

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"lamplighter/monitor"
)

// ServiceOf returns the name of what manages a tree of processes: the systemd
// unit whose main process lies in the tree, or the container that a process of
// the tree runs in. It is "" when nothing does.
//
// To lie below a unit proves nothing: desktops start ordinary programs as
// transient units, and everything of a user is below user@UID.service. Our own
// container is none, since all that we see is in it. A process of the tree that
// has ended is passed over; the error is ErrGone when all have. Any other error
// means that it is not known: systemd could not be asked, and a process of the
// tree is a child of it.
func ServiceOf(ctx context.Context, tree []monitor.Identity) (unit string, err error) {
	return services{fs: system(), mainPID: askSystemd}.of(ctx, tree)
}

// services finds out who manages processes.
type services struct {
	fs procfs
	// mainPID asks the manager of a unit for the unit's main process.
	mainPID func(ctx context.Context, u unit) (int, error)
}

func (s services) of(ctx context.Context, tree []monitor.Identity) (string, error) {
	ourContainer := ""
	if b, err := s.cgroups(s.fs.root + "/self/cgroup"); err == nil {
		ourContainer = b.container
	}
	within := make(map[unit][]monitor.Identity)
	var order []unit
	alive := make(map[int]bool)
	for _, id := range tree {
		g, err := s.cgroupsOf(id)
		if errors.Is(err, ErrGone) {
			continue
		}
		if err != nil {
			return "", err
		}
		alive[id.PID] = true
		if g.container != "" && g.container != ourContainer {
			return g.container, nil
		}
		if g.service == (unit{}) || g.service.isUserManager() {
			continue
		}
		if within[g.service] == nil {
			order = append(order, g.service)
		}
		within[g.service] = append(within[g.service], id)
	}
	if len(alive) == 0 && len(tree) > 0 {
		return "", gone(tree[0].PID)
	}
	var unknown error
	for _, u := range order {
		pid, err := s.mainPID(ctx, u)
		if err != nil {
			if s.maybeMain(within[u]) && unknown == nil {
				unknown = fmt.Errorf("asking systemd for the main process of %s: %w", u.name, err)
			}
			continue
		}
		if alive[pid] {
			return u.name, nil
		}
	}
	return "", unknown
}

// maybeMain tells whether one of these may be the main process of a unit:
// systemd starts those itself, so they are its children, as are orphans that it
// has adopted.
func (s services) maybeMain(ids []monitor.Identity) bool {
	return slices.ContainsFunc(ids, func(id monitor.Identity) bool {
		var buf [statSize]byte
		child, err := s.fs.readStat(id.PID, buf[:])
		if err != nil {
			return !errors.Is(err, ErrGone)
		}
		if child.parent <= 1 {
			return true
		}
		parent, err := s.fs.readStat(child.parent, buf[:])
		return err != nil || string(parent.comm) == "systemd"
	})
}

// cgroupsOf reads the control groups of a process.
func (s services) cgroupsOf(id monitor.Identity) (cgroups, error) {
	o, err := s.fs.openAs(id)
	if err != nil {
		return cgroups{}, err
	}
	o.close()
	g, err := s.cgroups(s.fs.path(id.PID, "/cgroup"))
	if err != nil {
		return cgroups{}, s.fs.failed("reading the control group of", id.PID, err)
	}
	return g, nil
}

func (s services) cgroups(path string) (cgroups, error) {
	buf := make([]byte, 4<<10)
	b, err := readWhole(path, &buf)
	if err != nil {
		return cgroups{}, err
	}
	return parseCgroups(b), nil
}

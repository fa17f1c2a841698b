package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	systemd "github.com/coreos/go-systemd/v22/dbus"
	"github.com/godbus/dbus/v5"

	"lamplighter/monitor"
)

// systemdLimit is how long one manager may take for all its answers.
const systemdLimit = 2 * time.Second

// serviceOf returns the name of what manages a tree of processes: the systemd
// unit whose main process lies in the tree, or the container that a process of
// the tree runs in. It is "" when nothing does.
//
// To lie below a unit proves nothing: desktops start ordinary programs as
// transient units, and everything of a user is below user@UID.service. Our own
// container is none, since all that we see is in it. A process of the tree that
// has ended is passed over; the error is ErrGone when all have. Any other error
// means that it is not known: systemd could not be asked, and a process of the
// tree is a child of it.
func serviceOf(ctx context.Context, tree []monitor.Identity) (unit string, err error) {
	return system().serviceOf(ctx, tree, askSystemd)
}

// service is the unit that a process is in, as its manager says.
type service struct {
	unit string
	main int // pid of its main process, 0 for none
}

// serviceFinder finds the services that processes are in, by pid. The error says
// why one may be missing.
type serviceFinder func(ctx context.Context, pids []int) (map[int]service, error)

func (p procfs) serviceOf(ctx context.Context, tree []monitor.Identity, ask serviceFinder) (string, error) {
	ours, err := os.ReadFile(p.root + "/self/cgroup")
	if err != nil {
		return "", fmt.Errorf("reading our own control group: %w", err)
	}
	var alive, inUnits []int
	for _, id := range tree {
		text, err := p.cgroupOf(id)
		if errors.Is(err, ErrGone) {
			continue
		}
		if err != nil {
			return "", err
		}
		alive = append(alive, id.PID)
		c := readControl(text)
		if c.container != "" && c.container != readControl(string(ours)).container {
			return c.container, nil
		}
		if c.unit != "" {
			inUnits = append(inUnits, id.PID)
		}
	}
	if len(alive) == 0 && len(tree) > 0 {
		return "", gone(tree[0].PID)
	}
	if len(inUnits) == 0 {
		return "", nil
	}
	found, err := ask(ctx, inUnits)
	for _, s := range found {
		if slices.Contains(alive, s.main) {
			return s.unit, nil
		}
	}
	for _, pid := range inUnits {
		if _, known := found[pid]; !known && p.maybeMain(pid) {
			return "", fmt.Errorf("asking systemd for the service of process %d: %w", pid, err)
		}
	}
	return "", nil
}

// maybeMain reports whether a process may be the main process of a unit:
// systemd starts those itself, so they are its children, as are orphans that it
// has adopted.
func (p procfs) maybeMain(pid int) bool {
	child, err := p.readStat(pid)
	if err != nil {
		return !errors.Is(err, ErrGone)
	}
	if child.Parent <= 1 {
		return true
	}
	parent, err := p.readStat(child.Parent)
	return err != nil || parent.comm == "systemd"
}

// cgroupOf reads /proc/PID/cgroup (cgroups(7)).
func (p procfs) cgroupOf(id monitor.Identity) (string, error) {
	o, err := p.openAs(id)
	if err != nil {
		return "", err
	}
	defer o.close()
	b, err := readWholeAt(o.dir, "cgroup")
	if err != nil {
		return "", p.failed("reading the control group of", id.PID, err)
	}
	return string(b), nil
}

// askSystemd asks the managers of our user and of the system for the services
// that processes are in. Each of them knows its own units only; that of the
// system answers for ours with the unit of our user's manager, which says
// nothing. The error says why a process may be missing.
func askSystemd(ctx context.Context, pids []int) (map[int]service, error) {
	found := make(map[int]service)
	failed := errors.New("no manager that can be asked has it in a service")
	for _, dial := range []func(context.Context) (*systemd.Conn, error){dialUserManager, systemd.NewSystemConnectionContext} {
		if err := askManager(ctx, dial, pids, found); err != nil {
			failed = errors.Join(failed, err)
		}
	}
	return found, failed
}

// askManager adds to found what one manager knows, and returns its last refusal.
func askManager(ctx context.Context, dial func(context.Context) (*systemd.Conn, error), pids []int, found map[int]service) (failed error) {
	ctx, cancel := context.WithTimeout(ctx, systemdLimit)
	defer cancel() // which also closes the connection, and ends what waits for it
	manager, err := dial(ctx)
	if err != nil {
		return fmt.Errorf("connecting to systemd: %w", err)
	}
	defer manager.Close()
	for _, pid := range pids {
		unit, err := manager.GetUnitNameByPID(ctx, uint32(pid))
		if err != nil {
			failed = err
		}
		if err != nil || isUserManager(unit) {
			continue
		}
		property, err := manager.GetServicePropertyContext(ctx, unit, "MainPID")
		if err != nil {
			failed = fmt.Errorf("reading MainPID of %s: %w", unit, err)
			continue
		}
		if main, ok := property.Value.Value().(uint32); ok {
			found[pid] = service{unit, int(main)}
		}
	}
	return failed
}

// dialUserManager reaches the manager of our user over the session bus. The
// library's own function would start a bus where there is none.
func dialUserManager(ctx context.Context) (*systemd.Conn, error) {
	return systemd.NewConnection(func() (*dbus.Conn, error) {
		conn, err := dbus.SessionBusPrivateNoAutoStartup(dbus.WithContext(ctx))
		if err != nil {
			return nil, err
		}
		if err = conn.Auth(nil); err == nil {
			err = conn.Hello()
		}
		if err != nil {
			conn.Close()
			return nil, err
		}
		return conn, nil
	})
}

package process

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/godbus/dbus/v5"

	"lamplighter/monitor"
)

// systemdLimit is how long a manager may take to answer about one process.
const systemdLimit = 2 * time.Second

// serviceOf returns the name of the systemd unit that manages a tree of processes: the
// one whose main process lies in the tree. It is "" when there is none.
//
// To lie below a unit proves nothing: desktops start ordinary programs as
// transient units, and everything of a user is below user@UID.service. A process of the
// tree that has ended is passed over; the error is ErrGone when all have. Any other error
// means that it is not known: systemd could not be asked, and a process of the
// tree is a child of it.
func serviceOf(ctx context.Context, tree []monitor.Identity) (unit string, err error) {
	return system().serviceOf(ctx, tree, askSystemd)
}

// service is a systemd unit that runs processes; the zero value is none.
type service struct {
	unit   string
	ofUser bool // the manager of our user has it, not that of the system
}

// readService reads the text of /proc/PID/cgroup for the innermost service that the
// process is in: lines of "number:controllers:path". Version 2 has one line with number 0
// and no controllers; with version 1, systemd has a hierarchy of its own, "name=systemd".
// A path may hold colons.
//
// Source: cgroups(7).
func readService(text string) service {
	for line := range strings.Lines(text) {
		part := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3)
		if len(part) != 3 || part[1] != "" && part[1] != "name=systemd" {
			continue
		}
		var in service
		for name := range strings.SplitSeq(part[2], "/") {
			name = strings.TrimPrefix(name, "_") // systemd escapes names that cgroups reserve
			switch {
			case !strings.HasSuffix(name, ".service") || name == ".service":
			case strings.HasPrefix(name, "user@"): // all that a user runs is below it
				in = service{ofUser: true}
			default:
				in.unit = name
			}
		}
		if in.unit != "" {
			return in
		}
	}
	return service{}
}

func (p procfs) serviceOf(ctx context.Context, tree []monitor.Identity, mainBeside func(ctx context.Context, pid int, ofUser bool) (main int, err error)) (string, error) {
	var alive []int
	in := make(map[service][]int)
	for _, id := range tree {
		text, err := p.cgroupOf(id)
		if errors.Is(err, ErrGone) {
			continue
		}
		if err != nil {
			return "", err
		}
		alive = append(alive, id.PID)
		if s := readService(text); s.unit != "" {
			in[s] = append(in[s], id.PID)
		}
	}
	if len(alive) == 0 && len(tree) > 0 {
		return "", gone(tree[0].PID)
	}
	var unknown error
	for s, pids := range in {
		main, err := mainBeside(ctx, pids[0], s.ofUser)
		if err == nil && slices.Contains(alive, main) {
			return s.unit, nil
		}
		if err != nil && slices.ContainsFunc(pids, p.maybeMain) {
			unknown = fmt.Errorf("asking systemd for the main process of %s: %w", s.unit, err)
		}
	}
	return "", unknown
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

// askSystemd asks the manager of our user or that of the system for the main process of
// the service that a process is in, 0 for none. That is an error where the manager has it
// in no service of its own.
func askSystemd(ctx context.Context, pid int, ofUser bool) (main int, err error) {
	ctx, cancel := context.WithTimeout(ctx, systemdLimit)
	defer cancel() // which also closes the connection, and ends what waits for it
	dial := dbus.SystemBusPrivate
	if ofUser {
		dial = dbus.SessionBusPrivateNoAutoStartup // another one would start a bus where there is none
	}
	bus, err := dial(dbus.WithContext(ctx))
	if err != nil {
		return 0, fmt.Errorf("connecting to its bus: %w", err)
	}
	defer bus.Close()
	if err = bus.Auth(nil); err == nil {
		err = bus.Hello()
	}
	const systemd = "org.freedesktop.systemd1"
	var unit dbus.ObjectPath
	if err == nil {
		err = bus.Object(systemd, "/org/freedesktop/systemd1").CallWithContext(ctx, systemd+".Manager.GetUnitByPID", 0, uint32(pid)).Store(&unit)
	}
	var found uint32
	if err == nil {
		err = bus.Object(systemd, unit).CallWithContext(ctx, "org.freedesktop.DBus.Properties.Get", 0, systemd+".Service", "MainPID").Store(&found)
	}
	return int(found), err
}

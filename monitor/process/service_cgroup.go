package process

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
)

// unit is a systemd unit that a control group belongs to.
type unit struct {
	name string // "example.service"
	user int    // whose manager runs it, -1 for the system's
}

// isUserManager tells the unit whose main process is the service manager of a
// user; all that the user runs is below it.
func (u unit) isUserManager() bool {
	_, ok := managedUser(u.name)
	return ok && u.user < 0
}

// cgroups is what the control groups of a process say about who manages it.
type cgroups struct {
	service   unit   // the innermost one, zero for none
	container string // the outermost one, "" for none
}

// parseCgroups reads /proc/PID/cgroup (cgroups(7)): lines of
// "number:controllers:path". Version 2 has one line with number 0 and no
// controllers; with version 1, systemd has a hierarchy of its own,
// "name=systemd". A path may hold colons.
func parseCgroups(b []byte) cgroups {
	var g cgroups
	for line := range bytes.Lines(b) {
		part := strings.SplitN(strings.TrimSuffix(string(line), "\n"), ":", 3)
		if len(part) != 3 {
			continue
		}
		path := strings.Split(part[2], "/")
		if i := slices.IndexFunc(path, isContainer); i >= 0 && g.container == "" {
			g.container = path[i]
		}
		if (part[1] == "" || part[1] == "name=systemd") && g.service == (unit{}) {
			g.service = serviceIn(path)
		}
	}
	return g
}

// serviceIn finds the innermost service in the path of a control group.
func serviceIn(path []string) unit {
	u := unit{user: -1}
	for _, part := range path {
		name := strings.TrimPrefix(part, "_") // put before names that cgroups reserve
		if !strings.HasSuffix(name, ".service") || name == ".service" {
			continue
		}
		if user, ok := managedUser(u.name); ok && u.user < 0 {
			u.user = user
		}
		u.name = name
	}
	if u.name == "" {
		return unit{}
	}
	return u
}

// managedUser reads the user out of "user@1000.service".
func managedUser(name string) (int, bool) {
	name, isManager := strings.CutPrefix(name, "user@")
	name, isService := strings.CutSuffix(name, ".service")
	user, err := strconv.ParseUint(name, 10, 31)
	return int(user), isManager && isService && err == nil
}

// isContainer tells the part of a control group's path that container runtimes
// name after a container: its id of 64 hexadecimal digits, with the runtime's
// name or without, or a name under LXC or systemd-nspawn.
func isContainer(part string) bool {
	name := strings.TrimSuffix(part, ".scope")
	if strings.HasPrefix(name, "lxc.payload.") || strings.HasPrefix(name, "machine-") && name != part {
		return true
	}
	if dash := strings.LastIndexByte(name, '-'); dash >= 0 {
		if strings.HasSuffix(name[:dash], "conmon") {
			return false // watches over a container from outside
		}
		name = name[dash+1:]
	}
	return len(name) == 64 && strings.Trim(name, "0123456789abcdef") == ""
}

// Control is what the control groups of one process say about who manages it.
type Control struct {
	Unit      string // the innermost systemd service that it is in, "" for none; that of a user's manager counts as none
	Container string // the outermost container, "" for none
}

// ReadControl reads the text of /proc/PID/cgroup, as Cgroup gives it. To be in a
// unit proves nothing yet, see ServiceOf.
func ReadControl(text string) Control {
	g := parseCgroups([]byte(text))
	c := Control{Unit: g.service.name, Container: g.container}
	if g.service.isUserManager() {
		c.Unit = ""
	}
	return c
}

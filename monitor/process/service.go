package process

import (
	"slices"
	"strconv"
	"strings"
)

// control is what the control groups of one process say about who manages it.
type control struct {
	unit      string // the innermost systemd service that it is in, "" for none; that of a user's manager counts as none
	container string // the outermost container, "" for none
}

// readControl reads the text of /proc/PID/cgroup: lines of
// "number:controllers:path". Version 2 has one line with number 0 and no
// controllers; with version 1, systemd has a hierarchy of its own,
// "name=systemd". A path may hold colons. To be in a unit proves nothing yet,
// see System.Service.
//
// Source: cgroups(7).
func readControl(text string) control {
	var c control
	for line := range strings.Lines(text) {
		part := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3)
		if len(part) != 3 {
			continue
		}
		path := strings.Split(part[2], "/")
		if i := slices.IndexFunc(path, isContainer); i >= 0 && c.container == "" {
			c.container = path[i]
		}
		if c.unit == "" && (part[1] == "" || part[1] == "name=systemd") {
			c.unit = serviceIn(path)
		}
	}
	return c
}

// serviceIn finds the innermost service in the path of a control group.
func serviceIn(path []string) string {
	for _, part := range slices.Backward(path) {
		name := strings.TrimPrefix(part, "_") // systemd escapes names that cgroups reserve
		if !strings.HasSuffix(name, ".service") || name == ".service" {
			continue
		}
		if isUserManager(name) {
			return ""
		}
		return name
	}
	return ""
}

// isUserManager reports whether a unit is the service manager of a user. All
// that the user runs is below it.
func isUserManager(unit string) bool {
	return strings.HasPrefix(unit, "user@") && strings.HasSuffix(unit, ".service")
}

// isContainer reports whether a part of a control group's path is named after a
// container: its id of 64 hexadecimal digits, with the runtime's name or
// without, or a name under LXC or systemd-nspawn.
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

// parseLaunchctl reads which jobs run out of what "launchctl list" of macOS writes, and
// "launchctl print DOMAIN" among its services: lines of pid (a dash or 0 for a job that
// does not run), last exit status and label. It is here so that it is tested everywhere.
func parseLaunchctl(text string) map[int]string {
	if _, services, ok := strings.Cut(text, "\tservices = {\n"); ok {
		text, _, _ = strings.Cut(services, "\t}")
	}
	jobs := make(map[int]string)
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) < 3 {
			continue
		}
		if pid, err := strconv.ParseInt(f[0], 10, 32); err == nil && pid > 0 {
			jobs[int(pid)] = strings.Join(f[2:], " ")
		}
	}
	return jobs
}

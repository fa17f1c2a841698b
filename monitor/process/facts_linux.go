package process

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"lamplighter/monitor"
)

// BootID is a text that differs from boot to boot and stays the same within
// one: pids and start times of an earlier one mean nothing. It does not change
// with the clock or over a suspend.
//
// Source: /proc/sys/kernel/random/boot_id, random(4).
func BootID() (string, error) {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", fmt.Errorf("reading the id of this boot: %w", err)
	}
	return strings.TrimSpace(string(b)), nil
}

// MainThreadCPU is the time that the process's first thread has run, to the
// nanosecond where Stat.CPU counts in clock ticks. An event loop that waits
// does not move it, so it shows a single small request. Some kernels keep no such
// account (CONFIG_SCHED_INFO).
//
// Source: /proc/PID/schedstat, Documentation/scheduler/sched-stats.rst.
func (local) MainThreadCPU(pid int) (time.Duration, error) {
	var buf [128]byte
	data, err := readAt(unix.AT_FDCWD, system().path(pid, "/schedstat"), buf[:])
	if err != nil {
		return 0, fmt.Errorf("reading the run time of process %d: %w", pid, err)
	}
	run, rest, _ := strings.Cut(string(data), " ")
	nanoseconds, err := strconv.ParseInt(run, 10, 64)
	if err != nil || rest == "" {
		return 0, fmt.Errorf("%.40q is not the content of a schedstat file", string(data))
	}
	return time.Duration(nanoseconds), nil
}

// SameUser reports whether a process runs as our user and nobody else: its real,
// effective and saved user are ours. A program that has taken on another user's
// rights, or kept the way back to them, is not ours.
//
// Source: the line Uid of /proc/PID/status, proc(5).
func SameUser(pid int) (bool, error) { return system().sameUser(pid) }

func (p procfs) sameUser(pid int) (bool, error) {
	b, err := os.ReadFile(p.path(pid, "/status"))
	if err != nil {
		return false, p.failed("looking for the user of", pid, err)
	}
	_, line, _ := strings.Cut(string(b), "\nUid:") // the name before it has its newlines escaped
	var real, effective, saved int
	if _, err := fmt.Sscan(line, &real, &effective, &saved); err != nil {
		return false, fmt.Errorf("looking for the user of process %d: its status does not say: %w", pid, err)
	}
	me := os.Getuid()
	return real == me && effective == me && saved == me, nil
}

// sameNamespace reports whether a process counts processes as we do ("pid"), has the
// network that we have ("net"), the file systems ("mnt"), the host name ("uts") or the
// control groups ("cgroup"). One that does not lives in a container or a sandbox.
//
// Source: namespaces(7).
func sameNamespace(pid int, kind string) (bool, error) {
	theirs, err := os.Readlink(system().path(pid, "/ns/"+kind))
	if err != nil {
		return false, fmt.Errorf("finding out the %s namespace of process %d: %w", kind, pid, err)
	}
	ours, err := os.Readlink("/proc/self/ns/" + kind)
	if err != nil {
		return false, fmt.Errorf("finding out our own %s namespace: %w", kind, err)
	}
	return theirs == ours, nil
}

// SharesPath reports whether a path means to a process what it means to us. In a
// container or a sandbox the same path may be another file, or none. What one of the
// two cannot look at means something else.
//
// Source: mount_namespaces(7), proc_pid_root(5), and openat2(2), since Linux 5.6.
func SharesPath(pid int, path string) (bool, error) {
	sameSpace, err := sameNamespace(pid, "mnt")
	if err != nil {
		return false, err
	}
	root, err := unix.Open(system().path(pid, "/root"), unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return false, fmt.Errorf("opening the root of process %d: %w", pid, err)
	}
	defer unix.Close(root)
	isOurs := func(fd int, path string) bool {
		var there, here unix.Stat_t
		return unix.Fstat(fd, &there) == nil && unix.Stat(path, &here) == nil && there.Dev == here.Dev && there.Ino == here.Ino
	}
	if sameSpace && isOurs(root, "/") {
		return true, nil
	}
	// Links of theirs lead to places below their root.
	fd, err := unix.Openat2(root, path, &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_IN_ROOT})
	if err != nil {
		return false, nil // it means something else
	}
	defer unix.Close(fd)
	return isOurs(fd, path), nil
}

// Marked returns the processes of our user that were started with an
// environment in which name has this value, ascending by pid: what a child
// inherits, however far it has moved from whoever started it. This process and
// its ancestors are never among them, nor is what has ended without being
// reaped. A process that changes its environment later, or overwrites the memory
// that holds it, may be missed; one that hides its environment is. With an error
// come those that could be found. Elsewhere than on Linux the error is
// errors.ErrUnsupported.
//
// Source: /proc/PID/environ, proc(5).
func Marked(name, value string) (found []monitor.Identity, err error) {
	above, err := Above(Local(), os.Getpid())
	pids, failed := list(system().root)
	if err := errors.Join(err, failed); err != nil {
		return nil, fmt.Errorf("looking for processes marked with %s: %w", name, err)
	}
	slices.Sort(pids)
	for _, pid := range pids {
		id, marked, failed := system().isMarked(pid, name+"="+value)
		switch {
		case pid == os.Getpid() || slices.Contains(above, id):
		case marked:
			found = append(found, id)
		case failed != nil && !errors.Is(failed, ErrGone) && !errors.Is(failed, fs.ErrPermission):
			err = errors.Join(err, fmt.Errorf("looking for processes marked with %s: %w", name, failed))
		}
	}
	return found, err
}

// isMarked looks at one process. Its directory is held meanwhile, so that the
// environment and the identity are of the same process.
func (p procfs) isMarked(pid int, mark string) (monitor.Identity, bool, error) {
	o, err := p.open(pid)
	if err != nil {
		return monitor.Identity{}, false, err
	}
	defer o.close()
	if uid, err := o.uid(); err != nil || uid != uint32(os.Geteuid()) {
		return monitor.Identity{}, false, err
	}
	environ, err := readWholeAt(o.dir, "environ")
	if err != nil {
		return monitor.Identity{}, false, p.failed("reading the environment of", pid, err)
	}
	s, err := o.stat()
	// Every entry lies between two zero bytes, the last one perhaps not.
	marked := strings.Contains("\x00"+string(environ)+"\x00", "\x00"+mark+"\x00")
	return s.Identity, marked && err == nil && s.State != Unreaped, err
}

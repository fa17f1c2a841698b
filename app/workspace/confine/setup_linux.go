package confine

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"lamplighter/app/workspace/mounts"
)

// setUp makes the mount namespace that we are in that of a job. Nothing of it
// reaches the rest of the system.
func setUp(o order) error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("keeping mounts to ourselves: %w", err)
	}
	// Before anything covers them.
	sources := make([]*os.File, len(o.Places))
	for i, p := range o.Places {
		if p.From == "" {
			continue
		}
		source, err := openPath(p.From)
		if err != nil {
			return err
		}
		defer source.Close()
		sources[i] = source
	}
	if o.Confine {
		if err := setReadOnly("/", true, true); err != nil {
			return fmt.Errorf("making all read-only: %w", err)
		}
	}
	for i, p := range o.Places {
		if err := show(p, sources[i]); err != nil {
			return err
		}
	}
	for _, p := range o.Places {
		if p.Mode != hidden {
			continue
		}
		// What lies on it stays as it is.
		if err := setReadOnly(p.Path, true, false); err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) {
			return fmt.Errorf("hiding %s: %w", p.Path, err)
		}
	}
	if o.Confine {
		return ownProc()
	}
	return nil
}

// openPath opens what is at a path, which was resolved before, for mounting.
func openPath(path string) (*os.File, error) {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(fd), path), nil
}

// opened is the path of what a file has open, wherever it lies.
func opened(file *os.File) string { return "/proc/self/fd/" + strconv.Itoa(int(file.Fd())) }

// show puts a place where it belongs.
func show(p place, source *os.File) error {
	if p.Make {
		if err := makeTarget(p.Path, source); err != nil {
			return err
		}
	}
	target, err := openPath(p.Path)
	if p.Mode == hidden && (errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission)) {
		return nil // it is nothing to the job, then
	}
	if err != nil {
		return err
	}
	defer target.Close()
	switch p.Mode {
	case hidden:
		err = cover(target, "mode=0755,size=1m")
	case scratch:
		err = cover(target, "mode=1777")
	default:
		if err = unix.Mount(opened(source), opened(target), "", unix.MS_BIND|unix.MS_REC, ""); err == nil {
			err = setReadOnly(p.Path, p.Mode == readOnly, true)
		}
		if p.Mode == writable && err != nil { // something in it may be read-only anyway
			err = setReadOnly(p.Path, false, false)
		}
	}
	if err != nil {
		return fmt.Errorf("setting %s up: %w", p.Path, err)
	}
	return nil
}

// cover puts an empty directory upon a directory, and nothing upon anything else.
func cover(target *os.File, options string) error {
	var stat unix.Stat_t
	if err := unix.Fstat(int(target.Fd()), &stat); err != nil {
		return err
	}
	if stat.Mode&unix.S_IFMT != unix.S_IFDIR {
		return unix.Mount("/dev/null", opened(target), "", unix.MS_BIND, "")
	}
	return unix.Mount("tmpfs", opened(target), "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, options)
}

// makeTarget makes what a source can be mounted upon.
func makeTarget(path string, source *os.File) error {
	var stat unix.Stat_t
	if err := unix.Fstat(int(source.Fd()), &stat); err != nil {
		return err
	}
	if stat.Mode&unix.S_IFMT == unix.S_IFDIR {
		return os.MkdirAll(path, 0o700)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDONLY, 0o600)
	if err != nil {
		return err
	}
	return file.Close()
}

// setReadOnly sets whether what is mounted at a path may only be read, and what
// is mounted in it with all.
func setReadOnly(path string, only, all bool) error {
	attr := unix.MountAttr{Attr_clr: unix.MOUNT_ATTR_RDONLY}
	if only {
		attr = unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}
	}
	flags := uint(unix.AT_SYMLINK_NOFOLLOW)
	if all {
		flags |= unix.AT_RECURSIVE
	}
	err := unix.MountSetattr(unix.AT_FDCWD, path, flags, &attr)
	if errors.Is(err, unix.ENOSYS) { // before Linux 5.12
		return remount(path, only, all)
	}
	return err
}

// remount is setReadOnly, for each mount in turn.
func remount(path string, only, all bool) error {
	data, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return err
	}
	for _, m := range mountsAt(string(data), path, all) {
		flags := m.flags | unix.MS_REMOUNT | unix.MS_BIND
		if only {
			flags |= unix.MS_RDONLY
		} else {
			flags &^= unix.MS_RDONLY
		}
		err := unix.Mount("", m.path, "", flags, "")
		// What is covered, or out of our sight, is so to the job.
		if err != nil && !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.ENOENT) && !errors.Is(err, unix.EACCES) {
			return &fs.PathError{Op: "remount", Path: m.path, Err: err}
		}
	}
	return nil
}

// mounted is a mount, as a remount needs it.
type mounted struct {
	path  string
	flags uintptr // that a remount has to repeat
}

var mountFlags = map[string]uintptr{
	"ro": unix.MS_RDONLY, "nosuid": unix.MS_NOSUID, "nodev": unix.MS_NODEV, "noexec": unix.MS_NOEXEC,
	"noatime": unix.MS_NOATIME, "nodiratime": unix.MS_NODIRATIME, "relatime": unix.MS_RELATIME, "nosymfollow": unix.MS_NOSYMFOLLOW,
}

// mountsAt are the mounts at a path, and those in it with all, each path once with
// what was mounted there last.
func mountsAt(mountinfo, path string, all bool) []mounted {
	var list []mounted
	for line := range mounts.All(mountinfo) {
		m := mounted{path: line.At}
		if m.path != path && !(all && within(m.path, path)) {
			continue
		}
		for option := range strings.SplitSeq(line.Options, ",") {
			m.flags |= mountFlags[option]
		}
		list = slices.DeleteFunc(list, func(other mounted) bool { return other.path == m.path })
		list = append(list, m)
	}
	return list
}

// ownProc shows the job its own processes alone. What root could change there
// about the system may only be read.
func ownProc() error {
	if err := unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		return fmt.Errorf("showing the job its own processes alone: %w", err)
	}
	for _, name := range []string{"/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus", "/proc/fs", "/proc/acpi", "/proc/scsi"} {
		err := unix.Mount(name, name, "", unix.MS_BIND|unix.MS_REC, "")
		if errors.Is(err, unix.ENOENT) {
			continue
		}
		if err == nil {
			err = setReadOnly(name, true, true)
		}
		if err != nil {
			return fmt.Errorf("making %s read-only: %w", name, err)
		}
	}
	return nil
}

package process

import (
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// SharesDirectory tells whether the working directory of a process, which it
// calls dir, is the one that we call so. In a container or a sandbox the same path
// may be another directory, or none.
//
// Source: mount_namespaces(7), proc_pid_root(5).
func SharesDirectory(pid int, dir string) (bool, error) {
	same, err := seesTheSame(pid)
	if same || err != nil {
		return same, err
	}
	there, err := os.Stat("/proc/" + strconv.Itoa(pid) + "/cwd")
	if err != nil {
		return false, fmt.Errorf("looking at the working directory of process %d: %w", pid, err)
	}
	here, err := os.Stat(dir)
	return err == nil && os.SameFile(here, there), nil // what cannot be had here is another one
}

// SharesPath tells whether a path means to a process what it means to us. What
// one of the two cannot look at means something else.
//
// Source: openat2(2), since Linux 5.6.
func SharesPath(pid int, path string) (bool, error) {
	same, err := seesTheSame(pid)
	if same || err != nil {
		return same, err
	}
	root, err := unix.Open("/proc/"+strconv.Itoa(pid)+"/root", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return false, fmt.Errorf("opening the root of process %d: %w", pid, err)
	}
	defer unix.Close(root)
	// Links of theirs lead to places below their root.
	fd, err := unix.Openat2(root, path, &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_IN_ROOT})
	if err != nil {
		return false, nil // it means something else
	}
	defer unix.Close(fd)
	var there, here unix.Stat_t
	return unix.Fstat(fd, &there) == nil && unix.Stat(path, &here) == nil && there.Dev == here.Dev && there.Ino == here.Ino, nil
}

// seesTheSame tells whether a process has the file system that we have.
func seesTheSame(pid int) (bool, error) {
	at := "/proc/" + strconv.Itoa(pid)
	theirs, err := os.Readlink(at + "/ns/mnt")
	if err != nil {
		return false, fmt.Errorf("finding out what process %d sees of the file system: %w", pid, err)
	}
	ours, err := os.Readlink("/proc/self/ns/mnt")
	if err != nil {
		return false, fmt.Errorf("finding out what we see of the file system: %w", err)
	}
	sameRoot, err := sameFile(at+"/root", "/proc/self/root")
	if err != nil {
		return false, fmt.Errorf("looking at the root of process %d: %w", pid, err)
	}
	return theirs == ours && sameRoot, nil
}

func sameFile(a, b string) (bool, error) {
	one, err := os.Stat(a)
	if err != nil {
		return false, err
	}
	other, err := os.Stat(b)
	return err == nil && os.SameFile(one, other), err
}

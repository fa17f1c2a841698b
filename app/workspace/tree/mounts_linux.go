package tree

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"lamplighter/app/workspace/mounts"
)

func isMounted(err error) bool { return errors.Is(err, unix.EXDEV) || errors.Is(err, unix.EBUSY) }

// mountedBelow is an ErrMounted when something is mounted on a directory or below
// it, also a directory of the same file system.
func mountedBelow(d *dir) error {
	path, err := os.Readlink("/proc/self/fd/" + strconv.Itoa(d.fd))
	if err != nil {
		return nil // without /proc each directory is looked at on the way
	}
	table, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil
	}
	if at, ok := mountBelow(string(table), path); ok {
		return fmt.Errorf("%q: %w", at, ErrMounted)
	}
	return nil
}

// mountBelow finds a mount in proc_pid_mountinfo(5) on a path or below it.
func mountBelow(table, path string) (string, bool) {
	for m := range mounts.All(table) {
		if m.At == path || strings.HasPrefix(m.At, strings.TrimSuffix(path, "/")+"/") {
			return m.At, true
		}
	}
	return "", false
}

package tree

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
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
	for line := range strings.Lines(table) {
		fields := strings.Fields(line)
		if len(fields) < 5 {
			continue
		}
		if at := unescape(fields[4]); at == path || strings.HasPrefix(at, strings.TrimSuffix(path, "/")+"/") {
			return at, true
		}
	}
	return "", false
}

// unescape reads \040 and its like.
func unescape(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+3 < len(text) {
			if n, err := strconv.ParseUint(text[i+1:i+4], 8, 8); err == nil {
				b.WriteByte(byte(n))
				i += 3
				continue
			}
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

//go:build unix

package launch

import (
	"errors"
	"fmt"
	"lamplighter/monitor"

	"golang.org/x/sys/unix"
)

// notFoundHint is what users know this failure by.
const notFoundHint = ""

func executable(path, shown string) seen {
	if err := unix.Access(path, unix.X_OK); err != nil {
		return seen{NotExecutable, fmt.Sprintf("%s may not be run (%v). To allow it: chmod +x %s", shown, err, monitor.Quoted([]string{path}))}
	}
	return seen{}
}

func isForeign(err error) bool {
	return errors.Is(err, unix.ENOEXEC) || errors.Is(err, badCPU)
}

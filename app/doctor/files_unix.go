//go:build unix

package doctor

import (
	"errors"
	"math"
	"syscall"

	"golang.org/x/sys/unix"
)

func isPipe(string) bool { return false }

func isRefused(err error) bool { return errors.Is(err, syscall.ECONNREFUSED) }

// writable reports whether files can be made in a directory, without making one.
//
// Source: access(2), which also knows of file systems that are read-only.
func writable(dir string) error { return unix.Access(dir, unix.W_OK|unix.X_OK) }

func freeSpace(dir string) space {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return space{err: err}
	}
	size := uint64(s.Bsize)
	free := uint64(s.Bavail)
	if size > 0 && free > math.MaxUint64/size {
		return space{err: errors.ErrUnsupported}
	}
	return space{bytes: free * size, noFiles: s.Files > 0 && s.Ffree == 0}
}

package tree

import (
	"strings"

	"golang.org/x/sys/unix"
)

// mountedIn finds a mount on a path without links, or below it, see getfsstat(2).
func mountedIn(path string) (at string, is bool, err error) {
	n, err := unix.Getfsstat(nil, unix.MNT_NOWAIT)
	if err != nil {
		return "", false, err
	}
	mounts := make([]unix.Statfs_t, n+8) // some may be added meanwhile
	if n, err = unix.Getfsstat(mounts, unix.MNT_NOWAIT); err != nil {
		return "", false, err
	}
	for i := range mounts[:min(n, len(mounts))] {
		at := unix.ByteSliceToString(mounts[i].Mntonname[:])
		// Most volumes take upper and lower case for the same.
		if strings.EqualFold(at, path) || len(at) > len(path) && strings.EqualFold(at[:len(path)+1], strings.TrimSuffix(path, "/")+"/") {
			return at, true, nil
		}
	}
	return "", false, nil
}

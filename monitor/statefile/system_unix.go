//go:build unix

package statefile

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// noFollow is the flag that makes opening fail where a symbolic link lies, and
// keeps it from waiting for the other end of a pipe.
const noFollow = unix.O_NOFOLLOW | unix.O_NONBLOCK

// OpenShared opens a file for reading, whatever it is and through links, so that
// others can still rename and remove it.
func OpenShared(path string) (*os.File, error) { return os.Open(path) }

func open(path string, flag int, perm fs.FileMode) (*os.File, error) {
	return os.OpenFile(path, flag|noFollow, perm)
}

// again does something to a file. Nobody who has it open is in the way.
func again(do func() error) error { return do() }

// Owner is the id of the user whose file this is, -1 on Windows.
func Owner(info fs.FileInfo) int { return int(info.Sys().(*syscall.Stat_t).Uid) }

// SyncDir has the names in a directory written to the disk, where that can be done.
func SyncDir(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	defer dir.Close()
	if err := dir.Sync(); err != nil && !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.ENOTSUP) { // where directories cannot be synced
		return err
	}
	return nil
}

//go:build unix

package plainfile

import (
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// NoFollow is the flag that makes opening fail where a symbolic link lies, and
// keeps it from waiting for the other end of a pipe.
const NoFollow = unix.O_NOFOLLOW | unix.O_NONBLOCK

// OpenShared opens a file for reading, whatever it is and through links, so that
// others can still rename and remove it.
func OpenShared(path string) (*os.File, error) { return os.Open(path) }

func open(path string, flag int, perm fs.FileMode) (*os.File, error) {
	return os.OpenFile(path, flag|NoFollow, perm)
}

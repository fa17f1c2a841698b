//go:build unix

package doctor

import (
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// runnable is nil when there is a program at path that we may run.
func runnable(path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return err
	case info.IsDir():
		return syscall.EISDIR
	case info.Mode().Perm()&0o111 == 0, unix.Access(path, unix.X_OK) != nil:
		return fs.ErrPermission
	}
	return nil
}

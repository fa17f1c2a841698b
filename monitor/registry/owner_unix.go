//go:build unix

package registry

import (
	"io/fs"
	"os"
	"syscall"
)

// keepOwner gives file the owner and the group of the one it replaces. Only
// the superuser may give a file away; where that is refused it is ours, as
// after any other program of ours that replaces it.
func keepOwner(file *os.File, old fs.FileInfo) {
	was, ok := old.Sys().(*syscall.Stat_t)
	if !ok {
		return
	}
	if err := file.Chown(int(was.Uid), int(was.Gid)); err != nil {
		_ = file.Chown(-1, int(was.Gid))
	}
}

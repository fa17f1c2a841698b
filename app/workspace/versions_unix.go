//go:build unix

package workspace

import (
	"os"

	"golang.org/x/sys/unix"
)

// readFlags open what is to be a file: nothing is waited for where it is a pipe.
const readFlags = os.O_RDONLY | unix.O_NONBLOCK

// syncDir has the names in a directory reach the disk.
func syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}

//go:build unix

package workspace

import (
	"os"

	"golang.org/x/sys/unix"
)

// readFlags open what is to be a file: nothing is waited for where it is a pipe.
const readFlags = os.O_RDONLY | unix.O_NONBLOCK

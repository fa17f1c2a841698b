//go:build unix

package ask

import (
	"errors"
	"io/fs"
	"syscall"
)

// missing tells whether an error says that there is no such file.
func missing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

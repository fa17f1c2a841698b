//go:build unix

package foreignfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"

	"lamplighter/monitor/statefile"
)

// attributes are what a file has beside its mode.
type attributes struct {
	uid, gid int
	names    uint64 // hard links
	access   string // see accessListOf
}

func attributesOf(file *os.File, info fs.FileInfo) (attributes, error) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return attributes{}, errors.New("its owner cannot be found out")
	}
	access, err := accessListOf(file)
	if err != nil {
		return attributes{}, fmt.Errorf("its access list cannot be read: %w", err)
	}
	return attributes{int(stat.Uid), int(stat.Gid), uint64(stat.Nlink), access}, nil
}

func (a attributes) same(b attributes) bool { return a == b }

// apply gives them to a new file, and then the mode, which the system narrows
// when the owner changes. The access list comes before the mode, which would widen
// one that the file has from its directory. The error Is errOwner when that is not
// allowed.
func (a attributes) apply(file *os.File, mode fs.FileMode) error {
	info, err := file.Stat()
	if err != nil {
		return err
	}
	now, err := attributesOf(file, info)
	if err != nil {
		return err
	}
	if now.uid != a.uid || now.gid != a.gid {
		if err := file.Chown(a.uid, a.gid); err != nil {
			return fmt.Errorf("%w (%w)", errOwner, statefile.Cause(err))
		}
	}
	if now.access != a.access {
		if err := setAccessList(file, a.access); err != nil {
			return fmt.Errorf("%w (%w)", errOwner, err)
		}
	}
	return file.Chmod(mode)
}

// permitted asks the system whether the file may be written and its directory
// changed.
func (f *File) permitted() error {
	switch err := unix.Faccessat(unix.AT_FDCWD, f.Target, unix.W_OK, unix.AT_EACCESS); {
	case errors.Is(err, fs.ErrNotExist):
		return ErrChanged
	case err != nil:
		return errReadOnly
	}
	if user := os.Geteuid(); user != 0 && user != f.kept.uid {
		return errOwner
	}
	if err := unix.Faccessat(unix.AT_FDCWD, filepath.Dir(f.Target), unix.W_OK|unix.X_OK, unix.AT_EACCESS); err != nil {
		return fmt.Errorf("it cannot be replaced, because nothing can be written into its directory: %w", err)
	}
	return nil
}

// rename moves a file to where another lies, if check allows it right before.
func rename(from, to string, check func() error) error {
	if err := check(); err != nil {
		return err
	}
	return os.Rename(from, to)
}

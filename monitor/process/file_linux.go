package process

import (
	"errors"
	"strconv"

	"golang.org/x/sys/unix"
)

// file tells open files apart; it is plain data, to be compared with ==.
type file struct {
	major, minor uint32 // of the device that it is on; 0 where only the name is known
	inode        uint64
	name         string // what its link says, where that is all that is known
	null         bool   // it is the null device
}

// file looks at the open file behind a descriptor, without opening it; false
// when the descriptor is closed.
//
// The file system is not asked: it may be a network drive whose server is gone,
// and what asks such a one waits for ever. What the kernel remembers is enough,
// for which file it is never changes while it is open.
func (o opened) file(fd int) (file, bool, error) {
	var st unix.Statx_t
	err := o.statx(fd, &st)
	if errors.Is(err, unix.ENOENT) {
		if unix.Faccessat(o.dir, "fd", unix.F_OK, 0) == nil {
			return file{}, false, nil
		}
		return file{}, false, gone(o.pid)
	}
	if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EPERM) {
		return o.fileByName(fd) // a kernel before 4.11, or a filter that knows no statx
	}
	if err != nil {
		return file{}, false, o.fs.failed("looking at the descriptors of", o.pid, err)
	}
	f := file{major: st.Dev_major, minor: st.Dev_minor, inode: st.Ino}
	f.null = st.Mode&unix.S_IFMT == unix.S_IFCHR && st.Rdev_major == 1 && st.Rdev_minor == 3
	return f, true, nil
}

// statx asks for what does not change. To ask for the times of a file would
// make some file systems write it out first.
func (o opened) statx(fd int, st *unix.Statx_t) error {
	_, err := retry(func() (int, error) {
		return 0, unix.Statx(o.dir, "fd/"+strconv.Itoa(fd), unix.AT_STATX_DONT_SYNC, unix.STATX_TYPE|unix.STATX_INO, st)
	})
	return err
}

// fileByName is file by what the link of the descriptor says: a path, which is
// taken for the file, or the kind and the inode of what has none.
func (o opened) fileByName(fd int) (file, bool, error) {
	var buf [unix.PathMax]byte
	n, err := unix.Readlinkat(o.dir, "fd/"+strconv.Itoa(fd), buf[:])
	if errors.Is(err, unix.ENOENT) && unix.Faccessat(o.dir, "fd", unix.F_OK, 0) == nil {
		return file{}, false, nil
	}
	if err != nil {
		return file{}, false, o.fs.failed("looking at the descriptors of", o.pid, err)
	}
	name := string(buf[:n])
	return file{name: name, null: name == "/dev/null"}, true, nil
}

package tree

import (
	"bytes"
	"encoding/binary"
	"strconv"

	"golang.org/x/sys/unix"
)

// Of getdents64(2).
const (
	direntName   = 19 // where the name begins
	direntLength = 16
	direntType   = 18
)

// entries reads the names in the directory, and what they are where it tells.
func (d *dir) entries() ([]entry, error) {
	if _, err := unix.Seek(d.fd, 0, 0); err != nil {
		return nil, err
	}
	var list []entry
	buf := make([]byte, 32<<10)
	for {
		n := 0
		err := again(func() (err error) {
			n, err = unix.Getdents(d.fd, buf)
			return err
		})
		if err != nil {
			return nil, err
		}
		if n <= 0 {
			return list, nil
		}
		for rest := buf[:n]; len(rest) > direntName; {
			length := int(binary.NativeEndian.Uint16(rest[direntLength:]))
			if length <= direntName || length > len(rest) {
				return nil, unix.EIO
			}
			name := rest[direntName:length]
			if end := bytes.IndexByte(name, 0); end >= 0 {
				name = name[:end]
			}
			// What the kernel says is not doubted, but a network file system or FUSE
			// could be asked for the name of another directory.
			if text := string(name); plain(text) {
				list = append(list, entry{text, direntKind(rest[direntType])})
			}
			rest = rest[length:]
		}
	}
}

func direntKind(t byte) kind {
	switch t {
	case unix.DT_UNKNOWN:
		return unknown
	case unix.DT_REG:
		return regular
	case unix.DT_DIR:
		return directory
	case unix.DT_LNK:
		return link
	}
	return other
}

// Identity names a directory itself, whatever path leads to it: its inode with the
// moment at which that was made, or with its device where the file system keeps no
// such moment. Numbers of devices alone may be others after the next start of the
// system. A symbolic link is an error.
func Identity(path string) (string, error) {
	d, err := openDir(path)
	if err != nil {
		return "", err
	}
	defer d.close()
	return d.identity()
}

func (d *dir) identity() (string, error) {
	var st unix.Statx_t
	err := again(func() error {
		return unix.Statx(d.fd, "", unix.AT_EMPTY_PATH, unix.STATX_INO|unix.STATX_BTIME, &st)
	})
	if err == nil && st.Mask&unix.STATX_BTIME != 0 && st.Mask&unix.STATX_INO != 0 && st.Btime.Sec != 0 {
		return "made:" + strconv.FormatInt(st.Btime.Sec, 10) + "." + strconv.FormatUint(uint64(st.Btime.Nsec), 10) +
			":" + strconv.FormatUint(st.Ino, 10), nil
	}
	m, err := d.stat()
	if err != nil {
		return "", err
	}
	return strconv.FormatUint(m.id.dev, 10) + ":" + strconv.FormatUint(m.id.ino, 10), nil
}

// subHere opens a directory on the same file system; unix.EXDEV says that
// another one is mounted there, also by a bind mount.
func (d *dir) subHere(name string, dev uint64) (*dir, error) {
	fd := -1
	err := again(func() (err error) {
		fd, err = unix.Openat2(d.fd, name, &unix.OpenHow{
			Flags: openDirectory, Resolve: unix.RESOLVE_NO_XDEV | unix.RESOLVE_NO_SYMLINKS,
		})
		return err
	})
	if err == nil {
		return &dir{fd}, nil
	}
	if err != unix.ENOSYS && err != unix.EPERM && err != unix.EAGAIN { // before Linux 5.6, and where a container forbids it
		return nil, replaced(err)
	}
	sub, err := d.sub(name)
	if err != nil {
		return nil, err
	}
	m, err := sub.stat()
	if err == nil && m.id.dev != dev {
		err = unix.EXDEV
	}
	if err != nil {
		sub.close()
		return nil, err
	}
	return sub, nil
}

// unlock gives a directory below this one back to us, without following a link
// that has taken its place.
func (d *dir) unlock(name string) error {
	fd, err := openAt(d.fd, name, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return replaced(err)
	}
	defer func() { _ = unix.Close(fd) }()
	// fchmod(2) refuses a descriptor that was opened with O_PATH.
	return again(func() error { return unix.Chmod("/proc/self/fd/"+strconv.Itoa(fd), 0o700) })
}

// clone makes a file with the content of another one, and shares its blocks where
// that works; else the file is empty. never says that it does not between these two
// file systems.
func (d *dir) clone(name string, from *file) (to *file, cloned, never bool, err error) {
	if to, err = d.create(name); err != nil {
		return nil, false, false, err
	}
	switch err := again(func() error { return unix.IoctlFileClone(to.fd, from.fd) }); err {
	case nil:
		return to, true, false, nil
	case unix.EOPNOTSUPP, unix.EXDEV, unix.ENOTTY, unix.ENOSYS:
		return to, false, true, nil
	default: // of this file alone: a file to swap to, or one without copy on write
		return to, false, false, nil
	}
}

// copyRange has the kernel copy a part of a file, and says how much it has copied.
// It may be less than was asked for, also nothing.
func copyRange(from, to *file, offset, length int64) (int64, error) {
	in, out := offset, offset
	n := 0
	err := again(func() (err error) {
		n, err = unix.CopyFileRange(from.fd, &in, to.fd, &out, int(length), 0)
		return err
	})
	return int64(max(n, 0)), err
}

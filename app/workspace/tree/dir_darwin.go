package tree

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// entries reads the names in the directory, and what they are.
func (d *dir) entries() ([]entry, error) {
	fd, err := unix.Openat(d.fd, ".", openDirectory, 0)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), "directory")
	names, err := f.Readdirnames(-1)
	_ = f.Close()
	if err != nil {
		return nil, err
	}
	list := make([]entry, 0, len(names))
	for _, name := range names {
		if plain(name) {
			list = append(list, entry{name, unknown})
		}
	}
	return list, nil
}

// Identity names a directory itself, whatever path leads to it: its inode with the
// moment at which that was made, because numbers of devices may be others after the
// next start of the system. A symbolic link is an error.
func Identity(path string) (string, error) {
	d, err := openDir(path)
	if err != nil {
		return "", err
	}
	defer d.close()
	return d.identity()
}

func (d *dir) identity() (string, error) {
	var st unix.Stat_t
	if err := again(func() error { return unix.Fstat(d.fd, &st) }); err != nil {
		return "", err
	}
	return "made:" + strconv.FormatInt(st.Btim.Sec, 10) + "." + strconv.FormatInt(st.Btim.Nsec, 10) +
		":" + strconv.FormatUint(st.Ino, 10), nil
}

// subHere opens a directory on the same file system; unix.EXDEV says that
// another one is mounted there.
func (d *dir) subHere(name string, dev uint64) (*dir, error) {
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
	return unix.Fchmodat(d.fd, name, 0o700, unix.AT_SYMLINK_NOFOLLOW)
}

// clone makes a file with the content of another one that shares its blocks, whole
// with all that is true of it (clonefile(2)), or none. never says that it does not work
// between these two file systems.
func (d *dir) clone(name string, from *file) (to *file, cloned, never bool, err error) {
	switch err := unix.Fclonefileat(from.fd, d.fd, name, unix.CLONE_NOFOLLOW|unix.CLONE_NOOWNERCOPY); err {
	case nil:
		return nil, true, false, nil
	case unix.ENOTSUP, unix.EXDEV, unix.ENOSYS:
		return nil, false, true, nil
	case unix.EEXIST, unix.ENOSPC, unix.EDQUOT:
		return nil, false, false, err
	}
	return nil, false, false, nil
}

// copyRange is not there on macOS: what cannot be cloned is read and written.
func copyRange(*file, *file, int64, int64) (int64, error) { return 0, unix.ENOTSUP }

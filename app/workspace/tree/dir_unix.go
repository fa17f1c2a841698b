//go:build unix

package tree

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// dir is an open directory. Names are looked up in it, wherever it is moved to.
type dir struct{ fd int }

// file is an open file.
type file struct{ fd int }

const (
	openDirectory = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC
	// A pipe that has taken a file's place does not block.
	openReading = unix.O_RDONLY | unix.O_NOFOLLOW | unix.O_NONBLOCK | unix.O_CLOEXEC
	openNew     = unix.O_RDWR | unix.O_CREAT | unix.O_EXCL | unix.O_NOFOLLOW | unix.O_CLOEXEC
)

// again repeats what a signal has interrupted.
func again(do func() error) error {
	for {
		if err := do(); err != unix.EINTR {
			return err
		}
	}
}

func openAt(at int, name string, flags int, perm uint32) (int, error) {
	fd := -1
	err := again(func() (err error) {
		fd, err = unix.Openat(at, name, flags, perm)
		return err
	})
	return fd, err
}

// openDir opens a directory by its path. What lies before its last name may be links.
func openDir(path string) (*dir, error) {
	fd, err := openAt(unix.AT_FDCWD, path, openDirectory, 0)
	if err == unix.ELOOP || err == unix.ENOTDIR {
		return nil, &fs.PathError{Op: "open", Path: path, Err: fmt.Errorf("it is a link or no directory (%w)", err)}
	}
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return &dir{fd}, nil
}

// isStale reports whether a server of files has forgotten a file.
func isStale(err error) bool { return errors.Is(err, unix.ESTALE) }

// isFull reports whether there is no more room.
func isFull(err error) bool { return errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) }

// replaced is the error of opening a name that was something else a moment before.
func replaced(err error) error {
	switch err {
	case unix.ELOOP, unix.ENOTDIR, unix.ENXIO, unix.EMLINK, unix.EISDIR:
		return errChanged
	}
	return err
}

func (d *dir) sub(name string) (*dir, error) {
	fd, err := openAt(d.fd, name, openDirectory, 0)
	if err != nil {
		return nil, replaced(err)
	}
	return &dir{fd}, nil
}

func (d *dir) close() {
	if d != nil {
		_ = unix.Close(d.fd)
	}
}

func (d *dir) stat() (meta, error) { return statOf(d.fd) }

func statOf(fd int) (meta, error) {
	var st unix.Stat_t
	if err := again(func() error { return unix.Fstat(fd, &st) }); err != nil {
		return meta{}, err
	}
	return metaOf(&st), nil
}

// idOf is which directory a root is.
func idOf(root *os.Root) (fileID, error) {
	f, err := root.Open(".")
	if err != nil {
		return fileID{}, err
	}
	defer func() { _ = f.Close() }()
	m, err := statOf(int(f.Fd()))
	return m.id, err
}

func (d *dir) lstat(name string) (meta, error) {
	var st unix.Stat_t
	if err := again(func() error { return unix.Fstatat(d.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW) }); err != nil {
		return meta{}, err
	}
	return metaOf(&st), nil
}

// metaOf reads what the systems name alike; the sizes of the numbers differ.
func metaOf(st *unix.Stat_t) meta {
	return meta{
		kind: kindOf(uint32(st.Mode)), perm: fs.FileMode(uint32(st.Mode) & 0o777),
		size: st.Size, taken: st.Blocks * 512,
		mtime: moment{int64(st.Mtim.Sec), int64(st.Mtim.Nsec)},
		atime: moment{int64(st.Atim.Sec), int64(st.Atim.Nsec)},
		ctime: moment{int64(st.Ctim.Sec), int64(st.Ctim.Nsec)},
		id:    fileID{uint64(st.Dev), st.Ino}, links: uint64(st.Nlink),
	}
}

func kindOf(mode uint32) kind {
	switch mode & unix.S_IFMT {
	case unix.S_IFREG:
		return regular
	case unix.S_IFDIR:
		return directory
	case unix.S_IFLNK:
		return link
	}
	return other
}

// open opens a regular file for reading.
func (d *dir) open(name string) (*file, meta, error) {
	fd, err := openAt(d.fd, name, openReading, 0)
	if err != nil {
		return nil, meta{}, replaced(err)
	}
	m, err := statOf(fd)
	if err == nil && m.kind != regular {
		err = errChanged
	}
	if err != nil {
		_ = unix.Close(fd)
		return nil, meta{}, err
	}
	return &file{fd}, m, nil
}

// create makes a file that is not there.
func (d *dir) create(name string) (*file, error) {
	fd, err := openAt(d.fd, name, openNew, 0o600)
	if err != nil {
		return nil, err
	}
	return &file{fd}, nil
}

func (d *dir) mkdir(name string) error {
	return again(func() error { return unix.Mkdirat(d.fd, name, 0o700) })
}

func (d *dir) symlink(target, name string) error {
	return again(func() error { return unix.Symlinkat(target, d.fd, name) })
}

func (d *dir) readlink(name string) (string, error) {
	for size := 256; ; size *= 4 {
		buf := make([]byte, size)
		n := 0
		err := again(func() (err error) {
			n, err = unix.Readlinkat(d.fd, name, buf)
			return err
		})
		if err == unix.EINVAL {
			return "", errChanged
		}
		if err != nil {
			return "", err
		}
		if n < size {
			return string(buf[:n]), nil
		}
	}
}

// link gives a file of this directory a name in another one.
func (d *dir) link(name string, to *dir, as string) error {
	return again(func() error { return unix.Linkat(d.fd, name, to.fd, as, 0) })
}

// remove takes a name away, and what it names when that is no directory.
func (d *dir) remove(name string) error {
	return again(func() error { return unix.Unlinkat(d.fd, name, 0) })
}

func (d *dir) rmdir(name string) error {
	return again(func() error { return unix.Unlinkat(d.fd, name, unix.AT_REMOVEDIR) })
}

// move gives an entry of this directory a name in another one.
func (d *dir) move(name string, to *dir, as string) error {
	return again(func() error { return unix.Renameat(d.fd, name, to.fd, as) })
}

// setTimes sets those of a name itself, also of a link.
func (d *dir) setTimes(name string, m meta) error {
	return again(func() error {
		return unix.UtimesNanoAt(d.fd, name, []unix.Timespec{timespec(m.atime), timespec(m.mtime)}, unix.AT_SYMLINK_NOFOLLOW)
	})
}

func timespec(m moment) unix.Timespec {
	ts, err := unix.TimeToTimespec(m.time())
	if err != nil { // of a system with small times
		return unix.Timespec{}
	}
	return ts
}

// setOwnTimes sets those of the directory.
func (d *dir) setOwnTimes(m meta) error { return d.setTimes(".", m) }

// setOwnMode sets the permissions of the directory, and no bits beyond them.
func (d *dir) setOwnMode(perm fs.FileMode) error {
	return again(func() error { return unix.Fchmod(d.fd, uint32(perm)) })
}

func (f *file) close() error        { return unix.Close(f.fd) }
func (f *file) stat() (meta, error) { return statOf(f.fd) }
func (f *file) truncate(n int64) error {
	return again(func() error { return unix.Ftruncate(f.fd, n) })
}

func (f *file) Read(p []byte) (int, error) {
	n := 0
	err := again(func() (err error) {
		n, err = unix.Read(f.fd, p)
		return err
	})
	if err != nil {
		return 0, err
	}
	if n == 0 && len(p) > 0 {
		return 0, io.EOF
	}
	return n, nil
}

func (f *file) Write(p []byte) (int, error) {
	done := 0
	for done < len(p) {
		n := 0
		err := again(func() (err error) {
			n, err = unix.Write(f.fd, p[done:])
			return err
		})
		if err != nil {
			return done, err
		}
		done += n
	}
	return done, nil
}

// seek goes to a place from the beginning.
func (f *file) seek(offset int64) error {
	_, err := unix.Seek(f.fd, offset, io.SeekStart)
	return err
}

// ranges calls do with each part of a file of that size that is no hole. Where a
// file system does not tell there is one part.
func (f *file) ranges(size int64, do func(from, to int64) error) error {
	for at := int64(0); at < size; {
		from, err := unix.Seek(f.fd, at, unix.SEEK_DATA)
		if err == unix.ENXIO { // a hole up to the end
			return nil
		}
		if err != nil {
			return do(at, size)
		}
		to, err := unix.Seek(f.fd, from, unix.SEEK_HOLE)
		if err != nil {
			to = size
		}
		to = min(to, size)
		if from >= to {
			return nil
		}
		if err := do(from, to); err != nil {
			return err
		}
		at = to
	}
	return nil
}

// settle gives a new file the permissions and the times of m.
func (d *dir) settle(name string, f *file, perm fs.FileMode, m meta) error {
	if err := d.setTimes(name, m); err != nil {
		return err
	}
	if f == nil { // a clone was made whole
		return again(func() error { return unix.Fchmodat(d.fd, name, uint32(perm), unix.AT_SYMLINK_NOFOLLOW) })
	}
	return again(func() error { return unix.Fchmod(f.fd, uint32(perm)) })
}

// allow takes away what forbids to remove an entry: here its directory alone may.
func (d *dir) allow(string) error { return nil }

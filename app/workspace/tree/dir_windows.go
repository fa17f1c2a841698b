package tree

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"golang.org/x/sys/windows"
)

// dir is an open directory. Names are looked up in it, wherever it is moved to.
type dir struct{ root *os.Root }

// file is an open file.
type file struct{ *os.File }

// openDir opens a directory by its path. What lies before its last name may be links.
func openDir(path string) (*dir, error) {
	before, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !before.IsDir() {
		return nil, &fs.PathError{Op: "open", Path: path, Err: errors.New("it is a link or no directory")}
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	return checked(root, before)
}

// checked is a directory that was opened when it is the one that was seen before.
func checked(root *os.Root, before fs.FileInfo) (*dir, error) {
	now, err := root.Lstat(".")
	if err == nil && !os.SameFile(before, now) {
		err = errChanged
	}
	if err != nil {
		_ = root.Close()
		return nil, err
	}
	return &dir{root}, nil
}

func isStale(error) bool { return false }

// isFull reports whether there is no more room.
func isFull(err error) bool {
	return errors.Is(err, windows.ERROR_DISK_FULL) || errors.Is(err, windows.ERROR_HANDLE_DISK_FULL) || errors.Is(err, windows.ERROR_DISK_QUOTA_EXCEEDED)
}

func (d *dir) sub(name string) (*dir, error) {
	before, err := d.root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !before.IsDir() {
		return nil, errChanged
	}
	root, err := d.root.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	return checked(root, before)
}

// subHere is sub: what is mounted in a directory is a junction there, and those
// are not entered.
func (d *dir) subHere(name string, _ uint64) (*dir, error) { return d.sub(name) }

func isMounted(error) bool { return false }

func mountedBelow(*dir) error { return nil }

func (d *dir) close() {
	if d != nil {
		_ = d.root.Close()
	}
}

func (d *dir) entries() ([]entry, error) {
	f, err := d.root.Open(".")
	if err != nil {
		return nil, err
	}
	found, err := f.ReadDir(-1)
	_ = f.Close()
	if err != nil {
		return nil, err
	}
	list := make([]entry, 0, len(found))
	for _, e := range found {
		if plain(e.Name()) {
			list = append(list, entry{e.Name(), kindOf(e.Type())})
		}
	}
	return list, nil
}

func kindOf(mode fs.FileMode) kind {
	switch mode.Type() {
	case 0:
		return regular
	case fs.ModeDir:
		return directory
	case fs.ModeSymlink:
		return link
	}
	return other // fs.ModeIrregular: a junction, among others
}

func (d *dir) stat() (meta, error) { return statOfRoot(d.root) }

func statOfRoot(root *os.Root) (meta, error) {
	f, err := root.Open(".")
	if err != nil {
		return meta{}, err
	}
	defer func() { _ = f.Close() }()
	return statOf(f)
}

// idOf is which directory a root is.
func idOf(root *os.Root) (fileID, error) {
	m, err := statOfRoot(root)
	return m.id, err
}

func (d *dir) lstat(name string) (meta, error) {
	info, err := d.root.Lstat(name)
	if err != nil {
		return meta{}, err
	}
	return metaOf(info), nil
}

// metaOf is what is known of a file without opening it: not its id, nor how many
// names it has.
func metaOf(info fs.FileInfo) meta {
	at := momentOf(info.ModTime().UnixNano())
	m := meta{kind: kindOf(info.Mode()), perm: info.Mode().Perm(), size: info.Size(), taken: info.Size(), mtime: at, atime: at, ctime: at, links: 1}
	if m.kind != regular { // directories have no permissions here
		m.perm, m.size, m.taken = 0o777, 0, 0
	}
	if data, ok := info.Sys().(*syscall.Win32FileAttributeData); ok {
		m.atime = momentOf(data.LastAccessTime.Nanoseconds())
	}
	return m
}

func momentOf(nanoseconds int64) moment { return moment{nanoseconds / 1e9, nanoseconds % 1e9} }

func statOf(f *os.File) (meta, error) {
	info, err := f.Stat()
	if err != nil {
		return meta{}, err
	}
	m := metaOf(info)
	var known windows.ByHandleFileInformation
	if err := windows.GetFileInformationByHandle(windows.Handle(f.Fd()), &known); err != nil {
		return meta{}, err
	}
	m.id = fileID{uint64(known.VolumeSerialNumber), uint64(known.FileIndexHigh)<<32 | uint64(known.FileIndexLow)}
	m.links = uint64(known.NumberOfLinks)
	return m, nil
}

// Identity names a directory itself, whatever path leads to it: the serial number
// of its volume and its number there. A symbolic link or a junction is an error.
func Identity(path string) (string, error) {
	d, err := openDir(path)
	if err != nil {
		return "", err
	}
	defer d.close()
	return d.identity()
}

func (d *dir) identity() (string, error) {
	m, err := d.stat()
	if err != nil {
		return "", err
	}
	return strconv.FormatUint(m.id.dev, 16) + ":" + strconv.FormatUint(m.id.ino, 16), nil
}

// open opens a regular file for reading.
func (d *dir) open(name string) (*file, meta, error) {
	before, err := d.root.Lstat(name)
	if err != nil {
		return nil, meta{}, err
	}
	if !before.Mode().IsRegular() {
		return nil, meta{}, errChanged
	}
	f, err := d.root.Open(name)
	if err != nil {
		return nil, meta{}, err
	}
	now, err := f.Stat()
	if err == nil && !os.SameFile(before, now) {
		err = errChanged
	}
	var m meta
	if err == nil {
		m, err = statOf(f)
	}
	if err != nil {
		_ = f.Close()
		return nil, meta{}, err
	}
	return &file{f}, m, nil
}

// create makes a file that is not there.
func (d *dir) create(name string) (*file, error) {
	f, err := d.root.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	return &file{f}, nil
}

func (d *dir) mkdir(name string) error { return d.root.Mkdir(name, 0o700) }

// symlink makes a link, which Windows allows to few.
func (d *dir) symlink(target, name string) error {
	err := d.root.Symlink(target, name)
	if errors.Is(err, windows.ERROR_PRIVILEGE_NOT_HELD) {
		return fmt.Errorf("%w; turn on the Developer Mode of Windows, which lets you make links", err)
	}
	return err
}

func (d *dir) readlink(name string) (string, error) { return d.root.Readlink(name) }

// link gives a file of this directory a name in another one. It goes by paths,
// because there is no other way; the caller looks at what came of it.
func (d *dir) link(name string, to *dir, as string) error {
	return os.Link(filepath.Join(d.root.Name(), name), filepath.Join(to.root.Name(), as))
}

func (d *dir) remove(name string) error { return d.root.Remove(name) }

func (d *dir) rmdir(name string) error { return d.root.Remove(name) }

// move gives an entry of this directory a name in another one.
func (d *dir) move(name string, to *dir, as string) error {
	if d == to {
		return d.root.Rename(name, as)
	}
	return fmt.Errorf("moving %q: %w", name, errors.ErrUnsupported)
}

// setTimes sets those of a file or directory; links keep what they have.
func (d *dir) setTimes(name string, m meta) error {
	if m.kind == link {
		return nil
	}
	return d.root.Chtimes(name, m.atime.time(), m.mtime.time())
}

func (d *dir) setOwnTimes(m meta) error { return d.setTimes(".", m) }

// setOwnMode does nothing: directories have no permissions of this kind.
func (d *dir) setOwnMode(fs.FileMode) error { return nil }

// unlock does nothing, likewise.
func (d *dir) unlock(string) error { return nil }

// allow takes away what forbids to remove an entry: that it is read-only.
func (d *dir) allow(name string) error {
	m, err := d.lstat(name)
	if err != nil || m.kind == link {
		return err
	}
	return d.root.Chmod(name, 0o600)
}

// settle gives a new file the permissions and the times of m.
func (d *dir) settle(name string, f *file, perm fs.FileMode, m meta) error {
	// The times that a handle has written by are set when it is closed.
	if err := f.File.Close(); err != nil {
		return err
	}
	if err := d.setTimes(name, m); err != nil {
		return err
	}
	if perm&0o200 == 0 {
		return d.root.Chmod(name, 0o400)
	}
	return nil
}

func (f *file) close() error { return f.File.Close() }

func (f *file) stat() (meta, error) { return statOf(f.File) }

func (f *file) truncate(n int64) error { return f.File.Truncate(n) }

func (f *file) seek(offset int64) error {
	_, err := f.File.Seek(offset, io.SeekStart)
	return err
}

// ranges calls do with all of a file: holes are not looked for.
func (f *file) ranges(size int64, do func(from, to int64) error) error { return do(0, size) }

// clone makes none: ReFS alone could.
func (d *dir) clone(string, *file) (to *file, cloned, never bool, err error) {
	return nil, false, true, nil
}

func copyRange(*file, *file, int64, int64) (int64, error) { return 0, errors.ErrUnsupported }

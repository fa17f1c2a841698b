// Package foreignfile reads and replaces files that belong to other programs,
// who know nothing of us: it follows symbolic links, keeps owner, mode and, on
// Linux and Windows, the access list, and gives up rather than lose what somebody
// else writes meanwhile. A file is always the old one or the new one, whole.
//
// Files of our own are the business of monitor/statefile.
package foreignfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"lamplighter/monitor"
	"lamplighter/monitor/statefile"
)

// maxSize is how large a file may be, in bytes.
const maxSize = 32 << 20

// Why a file is left as it is.
var (
	errTooLarge = errors.New("it is larger than 32 MiB, which no settings are")
	errNotPlain = errors.New("not a file") // the error says what it is
	errReadOnly = errors.New("it is read-only and is left as it is; make it writable to have it changed")
	errLinked   = errors.New("it has more than one name (hard links), which replacing it would part; change it by hand")
	errOwner    = errors.New("its owner and who may use it could not be kept, so it is left as it is; do this as its owner")
	ErrChanged  = errors.New("another program has changed it meanwhile; try again")
)

// File is a file as it was when it was read. It is not safe for concurrent use.
type File struct {
	Path    string      // absolute
	Target  string      // what Path leads to; Path where there are no links
	Content []byte      // of which there are at most maxSize
	Mode    fs.FileMode // permissions

	info fs.FileInfo // tells it from another at the same place
	kept attributes

	// Replaced by tests of faults.
	write func(*os.File, []byte) error
	link  func(from, to string) error
}

// Read reads the file at path, through links. It waits for no pipe. The error
// names the path once; it Is fs.ErrNotExist, also for a link that leads nowhere,
// says that it is too large or no file, or wraps the system's.
func Read(path string) (*File, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", monitor.Clean(path), statefile.Cause(err))
	}
	f := &File{Path: path, Target: path, write: write, link: os.Link}
	if f.Target, err = filepath.EvalSymlinks(path); err != nil {
		f.Target = path
		if _, why := os.Stat(path); why != nil { // it says more simply that links lead in a circle
			err = why
		}
		if _, lost := os.Lstat(path); lost == nil && errors.Is(err, fs.ErrNotExist) {
			return nil, f.failed(fmt.Errorf("it is a symbolic link that leads nowhere: %w", statefile.Cause(err)))
		}
		return nil, f.failed(statefile.Cause(err))
	}
	if err := f.read(); err != nil {
		return nil, f.failed(err)
	}
	return f, nil
}

// read reads what lies at Target. The error does not name it.
func (f *File) read() error {
	// Opening a device may do something, so it is looked at first.
	if err := f.plain(); err != nil {
		return err
	}
	file, err := statefile.Open(f.Target, os.O_RDONLY, 0)
	if err != nil {
		if err := f.plain(); err != nil { // it was put there just now
			return err
		}
		var errno syscall.Errno
		if errors.As(err, &errno) { // without the path that is said there
			return errno
		}
		return err
	}
	defer file.Close()
	if f.info, err = file.Stat(); err != nil {
		return statefile.Cause(err)
	}
	if f.kept, err = attributesOf(file, f.info); err != nil {
		return statefile.Cause(err)
	}
	f.Mode = f.info.Mode() & (fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky)
	if f.info.Size() > maxSize {
		return errTooLarge
	}
	// The size is that of a moment ago.
	if f.Content, err = io.ReadAll(io.LimitReader(file, maxSize+1)); err != nil {
		return statefile.Cause(err)
	}
	if len(f.Content) > maxSize {
		return errTooLarge
	}
	return nil
}

func (f *File) plain() error {
	info, err := os.Lstat(f.Target)
	if err != nil {
		return statefile.Cause(err)
	}
	switch mode := info.Mode(); {
	case mode.IsRegular():
		return nil
	case mode&fs.ModeSymlink != 0:
		return ErrChanged // links were followed a moment ago
	}
	return fmt.Errorf("it is %s, %w", statefile.Kind(info.Mode()), errNotPlain)
}

// Writable says why Replace would refuse the file, as far as that can be known
// without writing. The error names the path once, and says that the file is
// read-only, has hard links or is another's, or wraps the system's for the
// directory.
func (f *File) Writable() error {
	switch {
	// Whoever takes the right from himself means it, also the superuser, who
	// is not kept from anything.
	case f.Mode&0o222 == 0:
		return f.failed(errReadOnly)
	case f.kept.names > 1:
		return f.failed(errLinked)
	}
	if err := f.permitted(); err != nil {
		return f.failed(err)
	}
	return nil
}

// unchanged reports whether the path still leads to the file that was read, with
// the same content. The error does not name it and Is ErrChanged.
func (f *File) unchanged() error {
	target, err := filepath.EvalSymlinks(f.Path)
	if err != nil || target != f.Target {
		return ErrChanged
	}
	now := &File{Path: f.Path, Target: f.Target}
	switch err := now.read(); {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, errTooLarge), errors.Is(err, errNotPlain), errors.Is(err, ErrChanged):
		return ErrChanged
	case err != nil:
		return fmt.Errorf("%w: %w", ErrChanged, err)
	case !os.SameFile(now.info, f.info), now.Mode != f.Mode, !now.kept.same(f.kept), string(now.Content) != string(f.Content):
		return ErrChanged
	}
	return nil
}

// failed says of which file err is.
func (f *File) failed(err error) error {
	if strings.EqualFold(f.Target, f.Path) { // Windows writes out what is the same
		return fmt.Errorf("%s: %w", monitor.Clean(f.Path), err)
	}
	return fmt.Errorf("%s, which leads to %s: %w", monitor.Clean(f.Path), monitor.Clean(f.Target), err)
}

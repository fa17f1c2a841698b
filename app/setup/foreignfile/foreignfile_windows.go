package foreignfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/windows"

	"lamplighter/monitor/statefile"
)

// attributes are what a file has beside its mode. Its access list comes from its
// directory, so that one beside it has the same, except where it is protected
// from that.
type attributes struct {
	flags  uint32
	names  uint64                       // hard links
	access *windows.SECURITY_DESCRIPTOR // nil unless protected
}

// settable are the flags that a new file is given. It is archived anew, and
// whether it is compressed or encrypted is decided by its directory.
const settable = windows.FILE_ATTRIBUTE_HIDDEN | windows.FILE_ATTRIBUTE_SYSTEM | windows.FILE_ATTRIBUTE_NOT_CONTENT_INDEXED

func attributesOf(file *os.File, _ fs.FileInfo) (attributes, error) {
	var info windows.ByHandleFileInformation
	if err := windows.GetFileInformationByHandle(windows.Handle(file.Fd()), &info); err != nil {
		return attributes{}, err
	}
	a := attributes{flags: info.FileAttributes & settable, names: uint64(info.NumberOfLinks)}
	access, err := windows.GetNamedSecurityInfo(file.Name(), windows.SE_FILE_OBJECT, windows.DACL_SECURITY_INFORMATION)
	if err != nil { // not all kinds of disks have one
		return a, nil
	}
	if control, _, err := access.Control(); err == nil && control&windows.SE_DACL_PROTECTED != 0 {
		a.access = access
	}
	return a, nil
}

func (a attributes) same(b attributes) bool {
	return a.flags == b.flags && a.names == b.names && a.list() == b.list()
}

func (a attributes) list() string {
	if a.access == nil {
		return ""
	}
	return a.access.String()
}

// apply gives them to a new file. Of the mode there is nothing but read-only,
// which is refused before.
func (a attributes) apply(file *os.File, _ fs.FileMode) error {
	if a.access != nil {
		list, _, err := a.access.DACL()
		if err != nil {
			return fmt.Errorf("%w (%w)", errOwner, err)
		}
		const what = windows.DACL_SECURITY_INFORMATION | windows.PROTECTED_DACL_SECURITY_INFORMATION
		if err := windows.SetNamedSecurityInfo(file.Name(), windows.SE_FILE_OBJECT, what, nil, nil, list, nil); err != nil {
			return fmt.Errorf("%w (%w)", errOwner, err)
		}
	}
	if a.flags == 0 {
		return nil
	}
	name, err := windows.UTF16PtrFromString(file.Name())
	if err != nil {
		return err
	}
	return windows.SetFileAttributes(name, a.flags|windows.FILE_ATTRIBUTE_ARCHIVE)
}

// permitted asks the system whether the file may be written. That another
// program has it open is found out by rename.
func (f *File) permitted() error {
	file, err := statefile.Open(f.Target, os.O_WRONLY, 0)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return ErrChanged
	case errors.Is(err, windows.ERROR_ACCESS_DENIED):
		return errReadOnly
	case err == nil:
		return file.Close()
	}
	return nil
}

// How long a file may be held by another program, which may be a virus scanner,
// and how often that is tried.
const (
	heldTime  = time.Second
	heldEvery = 50 * time.Millisecond
)

// rename moves a file to where another lies, if check allows it right before. It
// waits a moment for a program that has it open.
func rename(from, to string, check func() error) error {
	for end := time.Now().Add(heldTime); ; time.Sleep(heldEvery) {
		if err := check(); err != nil {
			return err
		}
		err := os.Rename(from, to)
		held := errors.Is(err, windows.ERROR_SHARING_VIOLATION) || errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_ACCESS_DENIED)
		switch {
		case !held:
			return err
		case time.Now().Before(end):
		case errors.Is(err, windows.ERROR_ACCESS_DENIED) && !isHeld(to):
			return err
		default:
			return fmt.Errorf("another program has it open; close that and try again (%w)", statefile.Cause(err))
		}
	}
}

// isHeld reports whether another program has a file open and does not let it be
// replaced. Renaming calls that an access that is denied, as it does what the
// user has no right to.
func isHeld(path string) bool {
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return false
	}
	const share = windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE | windows.FILE_SHARE_DELETE
	h, err := windows.CreateFile(name, windows.DELETE, share, nil, windows.OPEN_EXISTING, windows.FILE_FLAG_OPEN_REPARSE_POINT, 0)
	if err != nil {
		return errors.Is(err, windows.ERROR_SHARING_VIOLATION) || errors.Is(err, windows.ERROR_LOCK_VIOLATION)
	}
	_ = windows.CloseHandle(h)
	return false
}

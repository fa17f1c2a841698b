package foreignfile

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

const (
	// accessListName is where Linux keeps the access list of a file, see acl(5). Its
	// mask is what the mode says of the group.
	accessListName = "system.posix_acl_access"
	// maxAttribute is how large the system lets an attribute be, in bytes
	// (XATTR_SIZE_MAX).
	maxAttribute = 64 << 10
)

// accessListOf is the access list of a file as the system writes it, "" for one
// that has none beside its mode.
func accessListOf(file *os.File) (string, error) {
	list := make([]byte, maxAttribute)
	n, err := unix.Fgetxattr(int(file.Fd()), accessListName, list)
	switch {
	case errors.Is(err, unix.ENODATA), errors.Is(err, unix.ENOTSUP):
		return "", nil
	case err != nil:
		return "", err
	}
	return string(list[:n]), nil
}

// setAccessList gives a file an access list, or takes it from it.
func setAccessList(file *os.File, list string) error {
	if list == "" {
		return unix.Fremovexattr(int(file.Fd()), accessListName)
	}
	return unix.Fsetxattr(int(file.Fd()), accessListName, []byte(list), 0)
}

package workspace

import (
	"errors"

	"golang.org/x/sys/windows"
)

// diskFull reports whether there was no room to write.
func diskFull(err error) bool {
	return errors.Is(err, windows.ERROR_DISK_FULL) || errors.Is(err, windows.ERROR_HANDLE_DISK_FULL)
}

// sharing reports whether something was not done because a program has it open.
// Renaming a directory in which one has says that access is denied.
func sharing(err error) bool {
	return errors.Is(err, windows.ERROR_SHARING_VIOLATION) || errors.Is(err, windows.ERROR_ACCESS_DENIED)
}

// isNotDir reports whether a path leads through what is no directory.
func isNotDir(err error) bool {
	return errors.Is(err, windows.ERROR_DIRECTORY) || errors.Is(err, windows.ERROR_PATH_NOT_FOUND)
}

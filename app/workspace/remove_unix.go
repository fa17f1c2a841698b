//go:build unix

package workspace

import (
	"errors"
	"syscall"
)

// diskFull reports whether there was no room to write.
func diskFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// sharing reports whether something was not done because a program has it open,
// which is in the way on Windows only.
func sharing(error) bool { return false }

// isNotDir reports whether a path leads through what is no directory.
func isNotDir(err error) bool { return errors.Is(err, syscall.ENOTDIR) }

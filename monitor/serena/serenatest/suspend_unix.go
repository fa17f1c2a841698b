//go:build unix

package serenatest

import (
	"os"
	"syscall"
)

// suspends tells a signal after which a process stands still.
func suspends(sig os.Signal) bool { return sig == syscall.SIGSTOP }

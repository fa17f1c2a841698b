//go:build unix

package gitwork

import "syscall"

// apart is nothing special: an interrupt of the terminal is git's too.
func apart() *syscall.SysProcAttr { return nil }

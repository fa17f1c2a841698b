//go:build unix

package cli

import "syscall"

// detached has a program outlive the terminal that it was started from.
func detached() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

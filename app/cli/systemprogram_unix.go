//go:build unix

package cli

import "syscall"

// windowless is nothing to ask for here.
func windowless() *syscall.SysProcAttr { return nil }

// detached has a program outlive the terminal that it was started from.
func detached() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

//go:build unix

package daemon

import "syscall"

// windowless is nothing to ask for here.
func windowless() *syscall.SysProcAttr { return nil }

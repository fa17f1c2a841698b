//go:build unix && !linux

package gitwork

import (
	"os/exec"
	"syscall"
)

// apart is nothing special: an interrupt of the terminal is git's too.
func apart() *syscall.SysProcAttr { return nil }

// tie does nothing: the system has nothing to end git with when we are killed.
// Whoever takes back what it has begun waits for it, see AwaitGit.
func tie(*exec.Cmd) (untie func()) { return func() {} }

package gitwork

import (
	"context"
	"os/exec"
	"syscall"

	"golang.org/x/sys/windows"
)

// apart gives git no window.
func apart() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: windows.CREATE_NO_WINDOW, HideWindow: true}
}

// tie does nothing: git is a process like any other.
func tie(*exec.Cmd) (untie func()) { return func() {} }

// hold does nothing: files that git has open cannot be removed from under it.
func hold(string, *exec.Cmd) (letGo func()) { return func() {} }

// AwaitGit does nothing: what git works in cannot be removed until it has ended.
func AwaitGit(context.Context, string) error { return nil }

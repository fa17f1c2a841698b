package cli

import (
	"syscall"

	"golang.org/x/sys/windows"
)

// detached has a program outlive the console that it was started from.
func detached() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP | windows.CREATE_NO_WINDOW, HideWindow: true}
}

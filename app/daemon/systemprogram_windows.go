package daemon

import (
	"syscall"

	"golang.org/x/sys/windows"
)

// windowless keeps a program from opening a console.
func windowless() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: windows.CREATE_NO_WINDOW, HideWindow: true}
}

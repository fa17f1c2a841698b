package gitwork

import (
	"syscall"

	"golang.org/x/sys/windows"
)

// apart gives git no window.
func apart() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: windows.CREATE_NO_WINDOW, HideWindow: true}
}

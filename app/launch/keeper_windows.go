package launch

import (
	"syscall"

	"golang.org/x/sys/windows"
)

// keeperName is the file name of the program above each server.
const keeperName = "lamplighter-connect.exe"

// apart keeps Ctrl-C in our console from a keeper, and gives it no window.
func apart() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP | windows.CREATE_NO_WINDOW, HideWindow: true}
}

package windows

import (
	"testing"
	"unsafe"

	"golang.org/x/sys/windows"
)

var (
	user32              = windows.NewLazySystemDLL("user32.dll")
	procFindWindowEx    = user32.NewProc("FindWindowExW")
	procPostMessage     = user32.NewProc("PostMessageW")
	procSendMessage     = user32.NewProc("SendMessageW")
	procIsWindowVisible = user32.NewProc("IsWindowVisible")
)

// Messages and keys of winuser.h, and the message by which the tray library
// hears of clicks on its icon.
const (
	messageClose    = 0x0010
	messageGetText  = 0x000d
	keyDown         = 0x0100
	rightButtonUp   = 0x0205
	trayMessage     = 0x0401
	keyReturn       = 0x0d
	keyUp           = 0x26
	longestText     = 1024
	theWholeDesktop = 0
)

// children are the windows of a class directly below another, or below the
// desktop.
func children(parent uintptr, class string) []uintptr {
	name, err := windows.UTF16PtrFromString(class)
	if err != nil {
		return nil
	}
	var list []uintptr
	for last := uintptr(0); ; list = append(list, last) {
		if last, _, _ = procFindWindowEx.Call(parent, last, uintptr(unsafe.Pointer(name)), 0); last == 0 {
			return list
		}
	}
}

// windowOf is the first window of a class that a process has, 0 when it has
// none.
func windowOf(t *testing.T, pid int, class string) uintptr {
	t.Helper()
	for _, window := range children(theWholeDesktop, class) {
		var owner uint32
		if _, err := windows.GetWindowThreadProcessId(windows.HWND(window), &owner); err == nil && int(owner) == pid {
			return window
		}
	}
	return 0
}

// icons are those in Wine's tray. Windows draws its own without a window, so
// that there only the eye can tell.
func icons(t *testing.T) []uintptr {
	t.Helper()
	var list []uintptr
	for _, bar := range children(theWholeDesktop, "Shell_TrayWnd") {
		for _, icon := range children(bar, "__wine_tray_icon") {
			if visible, _, _ := procIsWindowVisible.Call(icon); visible != 0 {
				list = append(list, icon)
			}
		}
	}
	return list
}

// textOf is the title of a window, or what it says.
func textOf(window uintptr) string {
	var text [longestText]uint16
	_, _, _ = procSendMessage.Call(window, messageGetText, longestText, uintptr(unsafe.Pointer(&text[0]))) // empty on failure
	return windows.UTF16ToString(text[:])
}

// post sends a message to a window; one that has gone gets none.
func post(window uintptr, message, first, second uintptr) {
	_, _, _ = procPostMessage.Call(window, message, first, second)
}

package cli

import (
	"os"

	"golang.org/x/sys/windows"
)

// newAlert returns what shows a failure to a user who would see nothing of it
// otherwise: the program for the tray has no console. It is nil where standard
// error is something.
func newAlert() func(text string) {
	kind, err := windows.GetFileType(windows.Handle(os.Stderr.Fd()))
	if err == nil && kind != windows.FILE_TYPE_UNKNOWN {
		return nil
	}
	return func(text string) {
		words, err := windows.UTF16PtrFromString(text)
		title, titleErr := windows.UTF16PtrFromString("Lamplighter")
		if err != nil || titleErr != nil {
			return
		}
		_, _ = windows.MessageBox(0, words, title, windows.MB_OK|windows.MB_ICONERROR|windows.MB_SETFOREGROUND)
	}
}

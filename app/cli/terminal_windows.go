package cli

import (
	"os"

	"golang.org/x/sys/windows"
)

// typed reports whether somebody types what f reads.
func typed(f *os.File) bool {
	var mode uint32
	return windows.GetConsoleMode(windows.Handle(f.Fd()), &mode) == nil
}

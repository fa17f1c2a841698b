//go:build unix

package cli

import (
	"os"

	"golang.org/x/sys/unix"
)

// windowSize is the size of the terminal behind f; not ok when f is none.
func windowSize(f *os.File) (columns, lines int, ok bool) {
	ws, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0, 0, false
	}
	return int(ws.Col), int(ws.Row), true
}

package doctor

import (
	"os"
	"syscall"
)

// runnable is nil when there is a file at path: whether it can be run is told
// by its name here.
func runnable(path string) error {
	info, err := os.Stat(path)
	if err == nil && info.IsDir() {
		err = syscall.EISDIR
	}
	return err
}

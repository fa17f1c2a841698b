package workspace

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"lamplighter/monitor"
)

// flush has all that was written below dir reach the disk. One call for the whole
// file system takes less than one for each of thousands of files.
func flush(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := unix.Syncfs(int(f.Fd())); err != nil {
		return fmt.Errorf("writing %s to the disk: %w", monitor.Clean(dir), err)
	}
	return nil
}

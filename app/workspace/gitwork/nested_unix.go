//go:build unix

package gitwork

import (
	"fmt"
	"os"
	"syscall"
)

// systemOf tells the file systems of directories apart.
func systemOf(path string) (uint64, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return 0, err
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, fmt.Errorf("the system does not say on which file system %s is", path)
	}
	return uint64(stat.Dev), nil // its type is another one elsewhere
}

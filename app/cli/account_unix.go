//go:build unix

package cli

import (
	"os"
	"syscall"
)

// accountOf looks whose account this process has, and whose home is.
func accountOf(home string) account {
	a := account{uid: os.Geteuid(), owner: -1}
	if home == "" {
		return a
	}
	info, err := os.Stat(home)
	if err != nil {
		return a // what is wrong there shows when it is used
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		a.owner = int(stat.Uid)
	}
	return a
}

//go:build unix

package cli

import (
	"os"
	"syscall"
)

// become runs a program in our place: our process is its process from then on.
// It returns only when that is not possible. args begins with the program's name.
func become(path string, args []string) (status int, err error) {
	return statusFailed, os.NewSyscallError("exec", syscall.Exec(path, args, os.Environ()))
}

package cli

import (
	"os"
	"strconv"
)

// runsOther reports whether a process runs another file than the one at path, also
// where that took the place of its own; known is false where nobody can tell.
//
// Source: proc_pid_exe(5).
func runsOther(pid int, path string) (other, known bool) {
	runs, err := os.Stat("/proc/" + strconv.Itoa(pid) + "/exe")
	if err != nil {
		return false, false
	}
	lies, err := os.Stat(path)
	if err != nil {
		return false, false
	}
	return !os.SameFile(runs, lies), true
}

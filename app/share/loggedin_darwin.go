package share

import (
	"os"
	"os/user"
	"strconv"

	"golang.org/x/sys/unix"
)

// firstPerson is the user id of the first person on macOS; what lies above
// lastPerson is nobody's.
const (
	firstPerson = 501
	lastPerson  = 1<<31 - 1
)

// otherUsers are those who have a process: who is logged in has one.
func otherUsers() (map[string]bool, error) {
	processes, err := unix.SysctlKinfoProcSlice("kern.proc.all")
	if err != nil {
		return nil, os.NewSyscallError("kern.proc.all", err)
	}
	uids := map[uint32]bool{}
	for i := range processes {
		uids[processes[i].Eproc.Ucred.Uid] = true
	}
	found := map[string]bool{}
	for uid := range uids {
		if int(uid) == os.Getuid() || uid < firstPerson || uid > lastPerson {
			continue
		}
		name := "user id " + strconv.Itoa(int(uid))
		if u, err := user.LookupId(strconv.Itoa(int(uid))); err == nil {
			name = u.Username
		}
		found[name] = true
	}
	return found, nil
}

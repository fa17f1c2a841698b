package launch

import "golang.org/x/sys/unix"

// badCPU: Linux says ENOEXEC for programs of other processors, too.
const badCPU = unix.ENOEXEC

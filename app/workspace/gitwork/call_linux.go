package gitwork

import (
	"os/exec"
	"runtime"
	"syscall"
)

// apart has git asked to end when we have ended, however that came: then it takes
// back what it has begun.
func apart() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM} }

// tie keeps the thread that starts git until git has ended: to the system it is
// that thread whose end counts, prctl(2), PR_SET_PDEATHSIG.
func tie(*exec.Cmd) (untie func()) {
	runtime.LockOSThread()
	return runtime.UnlockOSThread
}

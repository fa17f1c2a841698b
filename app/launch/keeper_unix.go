//go:build unix

package launch

import "syscall"

// keeperName is the file name of the program above each server.
const keeperName = "lamplighter-connect"

// apart puts a keeper into a session of its own: a signal to our process group,
// such as Ctrl-C in a terminal, is not for it.
func apart() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

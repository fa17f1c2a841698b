//go:build unix

package main

import (
	"os"
	"syscall"
)

// leaveDrain starts a process that reads on until nobody writes any more. What
// goes on without us, such as an editor, often holds the server's output, and
// would die of SIGPIPE at the next thing that it says. That it fails is no
// matter: many programs ignore that signal.
func leaveDrain(output *os.File) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return
	}
	defer null.Close()
	program, err := os.Executable()
	if _, gone := os.Stat("/proc/self/exe"); gone == nil {
		program, err = "/proc/self/exe", nil // there also after an update
	}
	if err != nil {
		return
	}
	// Without our environment, which has the mark of the launch: it is no part of
	// that any more.
	_, _ = syscall.ForkExec(program, []string{"lamplighter-connect", drainMode}, &syscall.ProcAttr{
		Dir: "/", Files: []uintptr{output.Fd(), null.Fd(), null.Fd()}, Sys: &syscall.SysProcAttr{Setsid: true},
	})
}

//go:build unix

package main

import (
	"errors"
	"os"
	"strconv"
	"syscall"
)

// fork runs the command with our own standard input, and our output where none
// is given.
func fork(c child, how *syscall.SysProcAttr) (int, error) {
	files := []uintptr{0, 1, 2}
	if c.out != nil {
		files[1], files[2] = c.out.Fd(), c.out.Fd()
	}
	if c.report != nil {
		files = append(files, c.report.Fd())
	}
	pid, err := syscall.ForkExec(c.path, c.command, &syscall.ProcAttr{Env: os.Environ(), Files: files, Sys: how})
	if err != nil {
		return 0, cannotStart(c.path, err)
	}
	return pid, nil
}

// cannotStart says why a program was not started, where the system's own words
// mislead.
func cannotStart(program string, err error) error {
	failed := cannot("start", program, err)
	info, unseen := os.Stat(program)
	switch {
	case unseen != nil:
	case info.IsDir():
		return errors.New(failed.Error() + ": it is a directory")
	case errors.Is(err, syscall.ENOENT):
		return errors.New(failed.Error() + ": the file is there, but not the interpreter that it names")
	case errors.Is(err, syscall.EACCES):
		return errors.New(failed.Error() + ": the file, or the interpreter that it names, must be executable")
	case errors.Is(err, syscall.ENOEXEC):
		return errors.New(failed.Error() + ": it is not a program for this machine, nor a script with an interpreter")
	}
	return failed
}

// statusOf is how a process has ended, for the launcher.
func statusOf(status syscall.WaitStatus) string {
	if status.Signaled() {
		return "signal " + strconv.Itoa(int(status.Signal()))
	}
	return "code " + strconv.Itoa(status.ExitStatus())
}

// reap waits for the end of a child, with what wait4 takes for options. The pid
// is 0 when none has ended yet, and the error ECHILD when there is none.
func reap(options int) (pid int, status syscall.WaitStatus, err error) {
	for {
		pid, err = syscall.Wait4(-1, &status, options, nil)
		if err != syscall.EINTR {
			return pid, status, err
		}
	}
}

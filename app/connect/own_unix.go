//go:build unix

package main

import (
	"errors"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// onStop has a signal call what is set, at first do.
func onStop(do func()) *stopper {
	s := &stopper{do: do}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	if !signal.Ignored(syscall.SIGHUP) { // as nohup wants
		signal.Notify(signals, syscall.SIGHUP)
	}
	go func() {
		for range signals {
			s.stop()
		}
	}()
	return s
}

// direct becomes the command. It returns only the exit status of a failure.
func direct(command []string) int {
	path, err := lookPath(command[0])
	if err != nil {
		complain(err.Error())
		return exitNotFound
	}
	err = syscall.Exec(path, command, os.Environ())
	complain(cannotStart(path, err).Error())
	return exitCannotRun
}

// lookPath finds a program as execvp(3) does. Package os/exec would add much to
// our size.
func lookPath(name string) (string, error) {
	if strings.Contains(name, "/") {
		if _, err := os.Stat(name); err != nil {
			return "", cannotStart(name, err)
		}
		return name, nil
	}
	for dir := range strings.SplitSeq(os.Getenv("PATH"), ":") {
		if dir == "" {
			dir = "."
		}
		path := dir + "/" + name
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && unix.Access(path, unix.X_OK) == nil {
			return path, nil
		}
	}
	return "", cannot("find", name, errors.New("there is no such program on the PATH"))
}

// watchClient calls gone when the client has: its process has ended, and nobody
// else writes to what is the command's standard input. Where that is no pipe and
// no socket, its process alone counts. It calls unread when nobody writes there
// any more, whether the client's process has ended or not.
func watchClient(gone, unread func()) {
	closed := make(chan struct{})
	var s unix.Stat_t
	if unix.Fstat(0, &s) == nil && (s.Mode&unix.S_IFMT == unix.S_IFIFO || s.Mode&unix.S_IFMT == unix.S_IFSOCK) {
		go func() {
			waitFor(0, hungUp)
			close(closed)
			unread()
		}()
	} else {
		close(closed)
	}
	if waitProcess(os.Getppid()) {
		<-closed
		gone()
	}
}

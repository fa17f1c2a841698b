//go:build unix

package main

import (
	"errors"
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// reportFD is the keeper's end of the pipe on which it tells the shim once which
// process runs the command, or why none does.
const reportFD = 3

// startOwn starts a keeper, which starts the command. Clients kill a shim that
// does not end soon enough, often with its whole process group, so that what
// ends the command and all that came of it must neither be the shim nor be in
// its group. With an error comes our exit status.
func startOwn(command []string) (t *tree, identity string, status int, err error) {
	self, err := ourProgram()
	if err != nil {
		return nil, "", exitCannotRun, err
	}
	read, write, err := os.Pipe()
	if err != nil {
		return nil, "", exitCannotRun, err
	}
	defer read.Close()
	// Only the foreground group may read from a terminal.
	_, notTerminal := unix.IoctlGetInt(0, unix.TIOCGPGRP)
	t, err = start(child{
		path: self, command: append([]string{"lamplighter-connect", ownMode, "--"}, command...),
		report: write, apart: notTerminal != nil, spare: isSerena(command),
		server: func() proc { return parseServer(identity) },
	})
	write.Close() // the keeper has its own
	if err != nil {
		return nil, "", exitCannotRun, err
	}
	text := readReport(read)
	if parseServer(text) != (proc{}) {
		return t, text, 0, nil
	}
	if text == "" {
		text = "it was ended before it had started " + command[0]
	}
	t.wait(func(how string) { status = statusNumber(how) })
	return nil, "", status, errors.New(text)
}

// ourProgram is the path to start ourselves again: the one that we were started
// by, which names the process, if it is still the same program.
func ourProgram() (string, error) {
	path, err := os.Executable()
	if running, unknown := os.Stat("/proc/self/exe"); unknown == nil {
		if named, gone := os.Stat(path); err != nil || gone != nil || !os.SameFile(running, named) {
			return "/proc/self/exe", nil
		}
	}
	return path, err
}

func readReport(from *os.File) string {
	var text []byte
	var chunk [512]byte
	for {
		n, err := from.Read(chunk[:])
		text = append(text, chunk[:n]...)
		if err != nil {
			return string(text)
		}
	}
}

// keepOwn runs the command to the end of everything that came of it, and returns
// its status. It ends all that when it is told to, or when the shim has died:
// the system sends SIGTERM then, and a SIGTERM from before we take it ends us
// before anything was started.
func keepOwn(command []string) int {
	shim := os.Getppid()
	reasons, order := endOrders(func() reason {
		if os.Getppid() != shim {
			return orphaned
		}
		return askedOwn
	})
	onStop(order)
	unix.CloseOnExec(reportFD)
	t, status, err := startCommand(command)
	if err != nil {
		report(err.Error())
		return status
	}
	report(t.identity())
	go watchShim(shim, order)
	return t.follow(reasons, order)
}

// report tells the shim, which may have died.
func report(text string) {
	_ = writeTo(reportFD, []byte(strings.ToValidUTF8(text, "?")))
	syscall.Close(reportFD)
}

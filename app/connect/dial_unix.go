//go:build unix

package main

import (
	"errors"
	"io"
	"os"
	"strconv"
	"syscall"
)

// socket is a link, without what package net would add to our size.
type socket struct{ fd int }

// dialSocket connects to the background process of our own user, at once or not
// at all.
func dialSocket(path string) (link, error) {
	syscall.ForkLock.RLock() // a program that starts now must not get it
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err == nil {
		syscall.CloseOnExec(fd)
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, err
	}
	s := socket{fd}
	// It would wait for a background process that accepts nobody.
	err = syscall.SetNonblock(fd, true)
	if err == nil {
		if err = syscall.Connect(fd, &syscall.SockaddrUnix{Name: path}); err != nil {
			err = whyNot(path, err)
		}
	}
	if err == nil {
		err = syscall.SetNonblock(fd, false)
	}
	if err == nil {
		err = checkPeer(fd)
	}
	if err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// whyNot is the error of a path that can be none of a socket; the system's own
// words do not say so.
func whyNot(path string, err error) error {
	limit := len(syscall.RawSockaddrUnix{}.Path) - 1
	if len(path) > limit {
		return errors.New("the path of a socket has at most " + strconv.Itoa(limit) + " bytes, this one has " + strconv.Itoa(len(path)))
	}
	if info, unseen := os.Stat(path); unseen == nil && info.Mode()&os.ModeSocket == 0 {
		return errors.New("it is no socket")
	}
	return err
}

func (s socket) read(p []byte) (int, error) { return readFrom(s.fd, p) }

func (s socket) write(p []byte) error { return writeTo(s.fd, p) }

func (s socket) endWriting() { _ = syscall.Shutdown(s.fd, syscall.SHUT_WR) }

func (s socket) hangUp() { _ = syscall.Shutdown(s.fd, syscall.SHUT_RDWR) }

func (s socket) close() { syscall.Close(s.fd) }

// readFrom reads what is there, and waits for something. Our own standard input
// may be one that does not wait, when somebody else who has it wants that.
func readFrom(fd int, p []byte) (int, error) {
	for {
		n, err := syscall.Read(fd, p)
		switch {
		case n > 0:
			return n, nil
		case err == nil:
			return 0, io.EOF
		case err == syscall.EAGAIN:
			waitFor(fd, readable)
		case err != syscall.EINTR:
			return 0, err
		}
	}
}

// writeTo writes all of p.
func writeTo(fd int, p []byte) error {
	for len(p) > 0 {
		n, err := syscall.Write(fd, p)
		if n > 0 {
			p = p[n:]
		}
		switch err {
		case nil, syscall.EINTR:
		case syscall.EAGAIN:
			waitFor(fd, writable)
		default:
			return err
		}
	}
	return nil
}

// checkUID is for the user at the other end: ourselves, or the administrator,
// who can be us anyway.
func checkUID(uid uint32) error {
	if int(uid) == syscall.Geteuid() || uid == 0 {
		return nil
	}
	return errors.New("another user listens there (" + strconv.Itoa(int(uid)) + ")")
}

func readInput(p []byte) (int, error) { return readFrom(0, p) }

func printOutput(p []byte) error { return writeTo(1, p) }

func writeErrors(text string) { _ = writeTo(2, []byte(text)) }

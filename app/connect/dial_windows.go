package main

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// socket is a link: a pipe.
type socket struct{ file *os.File }

// dialSocket connects to the background process of our own user, at once or not
// at all. Anybody may make a pipe of that name while there is none, so its owner
// is looked at first.
func dialSocket(path string) (link, error) {
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return nil, err
	}
	const how = windows.FILE_FLAG_OVERLAPPED | windows.SECURITY_SQOS_PRESENT | windows.SECURITY_ANONYMOUS
	h, err := windows.CreateFile(name, windows.GENERIC_READ|windows.GENERIC_WRITE, 0, nil, windows.OPEN_EXISTING, how, 0)
	if err != nil {
		return nil, err
	}
	if err := ownedByUs(h); err != nil {
		windows.CloseHandle(h)
		return nil, err
	}
	return socket{os.NewFile(uintptr(h), path)}, nil
}

func ownedByUs(h windows.Handle) error {
	descriptor, err := windows.GetSecurityInfo(h, windows.SE_FILE_OBJECT, windows.OWNER_SECURITY_INFORMATION)
	if err != nil {
		return err
	}
	owner, _, err := descriptor.Owner()
	if err != nil {
		return err
	}
	user, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		return err
	}
	if owner == nil || !owner.Equals(user.User.Sid) {
		return errors.New("another user listens there")
	}
	return nil
}

func (s socket) read(p []byte) (int, error) { return s.file.Read(p) }

func (s socket) write(p []byte) error {
	_, err := s.file.Write(p)
	return err
}

// endWriting does nothing: a pipe has no such end, and one that cannot be written
// to has nobody at the other end.
func (s socket) endWriting() {}

// hangUp closes it, which is the only way to end what waits.
func (s socket) hangUp() { s.file.Close() }

func (s socket) close() {}

func readInput(p []byte) (int, error) { return os.Stdin.Read(p) }

func printOutput(p []byte) error {
	_, err := os.Stdout.Write(p)
	return err
}

func writeErrors(text string) { _, _ = os.Stderr.WriteString(text) }

// inputClosed is never known here without reading.
func inputClosed() bool { return false }

// watchOutput does nothing: a write tells in time.
func watchOutput(func()) {}

package main

import (
	"crypto/rand"
	"net"
	"testing"

	"github.com/Microsoft/go-winio"
	"golang.org/x/sys/windows"
)

// manyLines are far more than any buffer holds. Wine takes 0.4 s for a thousand,
// and the shim waits for 39 s after its client.
const manyLines = 20_000

func fakePath(testing.TB) string { return `\\.\pipe\lamplighter-test-` + rand.Text() }

// listenFake makes a pipe that is ours, as the background process does: what an
// administrator makes is its group's otherwise.
func listenFake(path string) (net.Listener, error) {
	user, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		return nil, err
	}
	sid := user.User.Sid.String()
	listener, err := winio.ListenPipe(path, &winio.PipeConfig{
		SecurityDescriptor: "O:" + sid + "D:P(A;;GA;;;" + sid + ")",
		// Without, a shim that writes waits until the test reads.
		InputBufferSize:  64 << 10,
		OutputBufferSize: 64 << 10,
	})
	if err != nil {
		return nil, err
	}
	return listener, occupyFirst(path)
}

// occupyFirst connects to the pipe's first instance, with which winio only holds
// the name and which nobody serves. Wine would give it to the first shim; Windows
// keeps it from clients, and refuses this too.
func occupyFirst(path string) error {
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return err
	}
	const how = windows.SECURITY_SQOS_PRESENT | windows.SECURITY_ANONYMOUS
	if h, err := windows.CreateFile(name, 0, 0, nil, windows.OPEN_EXISTING, how, 0); err == nil {
		windows.CloseHandle(h)
	}
	return nil
}

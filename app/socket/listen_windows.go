package socket

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"

	"github.com/Microsoft/go-winio"
	"golang.org/x/sys/windows"
)

// pathBegin is what the name of a pipe of this machine begins with. winio would
// take other paths as well, and open whatever file is there.
const pathBegin = `\\.\pipe\`

// kind is what is made here.
const kind = "pipe"

func checkPath(p Place) error {
	if len(p.Path) <= len(pathBegin) || !strings.EqualFold(p.Path[:len(pathBegin)], pathBegin) {
		return fmt.Errorf("%w; set %s to a name that does", ErrNotAbsolute, p.Env)
	}
	return nil
}

func hungUp(err error) bool {
	return errors.Is(err, windows.ERROR_BROKEN_PIPE) || errors.Is(err, windows.ERROR_NO_DATA) ||
		errors.Is(err, windows.ERROR_PIPE_NOT_CONNECTED)
}

// listen makes a named pipe whose security descriptor admits this user alone:
// protected from inheritance, owned by the user, full access for the user.
// Windows has no stale pipes and checks the caller itself, so neither the lock
// nor a guard in Accept is needed.
func listen(p Place, _ bool, _ *slog.Logger) (Listener, error) {
	if err := checkPath(p); err != nil {
		return nil, err
	}
	user, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		return nil, fmt.Errorf("the current user is not known: %w", err)
	}
	sid := user.User.Sid.String()
	inner, err := winio.ListenPipe(p.Path, &winio.PipeConfig{
		SecurityDescriptor: fmt.Sprintf("O:%sD:P(A;;GA;;;%s)", sid, sid),
		InputBufferSize:    64 << 10,
		OutputBufferSize:   64 << 10,
	})
	if errors.Is(err, windows.ERROR_ACCESS_DENIED) {
		return nil, fmt.Errorf("%w; stop that process or set %s to another name", ErrInUse, p.Env)
	}
	if err != nil {
		return nil, err
	}
	occupyFirst(p.Path)
	return pipe{inner}, nil
}

// occupyFirst connects to the pipe's first instance, with which winio only
// holds the name and which nobody serves. Windows 10 and newer keep it from
// clients and refuse this too; Windows 7 and Wine would give it to the first
// client, who would wait in vain.
func occupyFirst(path string) {
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return
	}
	const identity = 0x00100000 // SECURITY_SQOS_PRESENT | SECURITY_ANONYMOUS
	if h, err := windows.CreateFile(name, 0, 0, nil, windows.OPEN_EXISTING, identity, 0); err == nil {
		windows.CloseHandle(h)
	}
}

type pipe struct{ net.Listener }

// Gone is never true: a pipe's name cannot be taken away from its server.
func (pipe) Gone() bool { return false }

// dial connects to a pipe of our own user. Anybody may make a pipe of
// that name while we do not run, so its owner is looked at first.
func dial(ctx context.Context, path string) (net.Conn, error) {
	conn, err := winio.DialPipeContext(ctx, path)
	if err != nil {
		return nil, err
	}
	if err := ownedByUs(conn); err != nil {
		conn.Close()
		return nil, err
	}
	return conn, nil
}

func peerPID(conn net.Conn) (int, error) {
	file, ok := conn.(interface{ Fd() uintptr })
	if !ok {
		return 0, errors.ErrUnsupported
	}
	var pid uint32
	err := windows.GetNamedPipeClientProcessId(windows.Handle(file.Fd()), &pid)
	return int(pid), err
}

// ownedByUs is nil when the other end of a pipe was made by our own user.
func ownedByUs(conn net.Conn) error {
	file, ok := conn.(interface{ Fd() uintptr })
	if !ok {
		return fmt.Errorf("%w: the pipe's owner is not known", ErrUnsafe)
	}
	descriptor, err := windows.GetSecurityInfo(windows.Handle(file.Fd()), windows.SE_FILE_OBJECT, windows.OWNER_SECURITY_INFORMATION)
	if err != nil {
		return fmt.Errorf("%w: the pipe's owner is not known: %w", ErrUnsafe, err)
	}
	owner, _, err := descriptor.Owner()
	if err != nil {
		return fmt.Errorf("%w: the pipe's owner is not known: %w", ErrUnsafe, err)
	}
	user, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		return fmt.Errorf("the current user is not known: %w", err)
	}
	if owner == nil || !owner.Equals(user.User.Sid) {
		return fmt.Errorf("%w: %s serves it", ErrUnsafe, owner)
	}
	return nil
}

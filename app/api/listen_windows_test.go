package api

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/Microsoft/go-winio"
	"golang.org/x/sys/windows"

	"lamplighter/app/socket"
)

// What needs a second user cannot be shown under Wine, where there is one: that
// he is refused by the pipe. What decides it is shown: who owns our pipe and
// whom it admits.

func mySID(t *testing.T) *windows.SID {
	t.Helper()
	user, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		t.Fatal(err)
	}
	return user.User.Sid
}

func TestPipeIsForThisUserAlone(t *testing.T) {
	s := serve(t, newModel(), nil, nil)
	conn, err := winio.DialPipeContext(t.Context(), s.path)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	descriptor, err := windows.GetSecurityInfo(windows.Handle(conn.(interface{ Fd() uintptr }).Fd()), windows.SE_FILE_OBJECT,
		windows.OWNER_SECURITY_INFORMATION|windows.DACL_SECURITY_INFORMATION)
	if err != nil {
		t.Fatal(err)
	}
	sid := mySID(t)
	if owner, _, err := descriptor.Owner(); err != nil || !owner.Equals(sid) {
		t.Errorf("owned by %v, %v; we are %v", owner, err, sid)
	}
	text := descriptor.String()
	list := text[strings.Index(text, "D:"):]
	if strings.Count(list, "(") != 1 || !strings.Contains(list, ";;;"+sid.String()+")") {
		t.Errorf("it admits %s, not %s alone", list, sid)
	}
}

func TestPipeServedTwice(t *testing.T) {
	s := serve(t, newModel(), nil, nil)
	for _, lockHeld := range []bool{false, true} {
		if l, err := socket.Listen(socket.Control(s.path), lockHeld, quiet()); !errors.Is(err, socket.ErrInUse) {
			t.Errorf("lock held: %v: %v, %v", lockHeld, l, err)
		}
	}
	if _, _, err := Dial(t.Context(), s.path); err != nil {
		t.Errorf("the first one no longer answers: %v", err)
	}
	s.stop(t)
	if _, _, err := Dial(t.Context(), s.path); !errors.Is(err, ErrUnreachable) || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("nobody serves it: %v", err)
	}
	l, err := socket.Listen(socket.Control(s.path), false, quiet())
	if err != nil {
		t.Fatalf("after the end of the first: %v", err)
	}
	if l.Gone() {
		t.Error("a pipe that is served is not gone")
	}
	l.Close()
}

func TestNotThePlaceOfAPipe(t *testing.T) {
	for _, path := range []string{`C:\lamplighter`, "lamplighter", `\\.\pipe`, `\\.\pipe\`, `\\server\pipe\x`} {
		if l, err := socket.Listen(socket.Control(path), true, quiet()); !errors.Is(err, socket.ErrNotAbsolute) {
			t.Errorf("%s: %v, %v", path, l, err)
		}
		if _, _, err := Dial(t.Context(), path); !errors.Is(err, ErrUnreachable) {
			t.Errorf("Dial %s: %v", path, err)
		}
	}
}

// Anybody may make a pipe of our name while we do not run. Windows lets nobody
// but the user himself make him its owner; Wine does, so that such a pipe can
// be had there without another user.
func TestPipeOfAnotherUser(t *testing.T) {
	path := controlPath(t)
	everybody := "S-1-1-0"
	l, err := winio.ListenPipe(path, &winio.PipeConfig{SecurityDescriptor: "O:" + everybody + "D:(A;;GA;;;WD)"})
	if errors.Is(err, windows.ERROR_INVALID_OWNER) {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if _, _, err := Dial(t.Context(), path); !errors.Is(err, ErrUnreachable) || !errors.Is(err, socket.ErrUnsafe) || !strings.Contains(err.Error(), everybody) {
		t.Errorf("%v", err)
	}
}

// A pipe of our name that another program of ours serves.
func TestPipeOfAnotherProgram(t *testing.T) {
	path := controlPath(t)
	l, err := socket.Listen(socket.Control(path), true, quiet())
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: http.NotFoundHandler()}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	defer func() { server.Close(); <-ended }()
	if _, _, err := Dial(t.Context(), path); !errors.Is(err, ErrUnreachable) {
		t.Errorf("%v", err)
	}
	if _, err := socket.Listen(socket.Control(path), true, quiet()); !errors.Is(err, socket.ErrInUse) {
		t.Errorf("Listen: %v", err)
	}
}

// A program that takes calls and closes them is no lamplighter, and no reason
// to hang or to blame somebody else.
func TestPipeThatIsClosedAtOnce(t *testing.T) {
	path := controlPath(t)
	l, err := socket.Listen(socket.Control(path), true, quiet())
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			conn.Close()
		}
	}()
	defer func() { l.Close(); <-ended }()
	_, _, err = Dial(t.Context(), path)
	if !errors.Is(err, ErrUnreachable) || !strings.Contains(err.Error(), "closed before it answered") {
		t.Errorf("%v", err)
	}
}

func TestManyClientsOfOnePipe(t *testing.T) {
	m := newModel()
	s := serve(t, m, nil, nil)
	stop := errors.New("enough")
	done := make(chan error)
	const readers = 8
	for range readers {
		c := s.dial(t)
		go func() { done <- c.Stream(context.WithoutCancel(t.Context()), func(Instances) error { return stop }) }()
	}
	var got []error
	for range readers {
		got = append(got, <-done)
	}
	if slices.ContainsFunc(got, func(err error) bool { return !errors.Is(err, stop) }) {
		t.Errorf("%v", got)
	}
}

package loopback

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"
)

// limit is how long a test waits before it gives up; no test measures time.
const limit = time.Minute

func listen(t *testing.T, o Options) *Listener {
	t.Helper()
	inner, err := Listen(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	if o.Refused == nil {
		o.Refused = func(error) {}
	}
	l := Guard(inner, o)
	t.Cleanup(func() {
		l.Close()
		l.Wait()
	})
	return l
}

func dial(t *testing.T, l net.Listener) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp4", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if err := c.SetDeadline(time.Now().Add(limit)); err != nil {
		t.Fatal(err)
	}
	return c
}

func closed(t *testing.T, c net.Conn) {
	t.Helper()
	if n, err := c.Read(make([]byte, 1)); n != 0 || errors.Is(err, context.DeadlineExceeded) || err == nil {
		t.Errorf("read %d, %v; want a closed connection", n, err)
	}
}

func welcome(c net.Conn) (net.Conn, error) { return c, nil }

func TestTaken(t *testing.T) {
	l, err := Listen(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if !strings.HasPrefix(l.Addr().String(), "127.0.0.1:") {
		t.Errorf("listens on %s", l.Addr())
	}
	_, err = Listen(t.Context(), l.Addr().(*net.TCPAddr).Port)
	if !Taken(err) {
		t.Errorf("a second time: %v", err)
	}
	if Taken(io.EOF) || Taken(nil) {
		t.Error("another error counts as taken")
	}
}

// wrapped is what Welcome may put in a connection's place.
type wrapped struct{ net.Conn }

func TestWelcome(t *testing.T) {
	reason := errors.New("not today")
	told := make(chan error, 2)
	first := true
	l := listen(t, Options{
		Connections: 4, Checks: 1,
		Welcome: func(c net.Conn) (net.Conn, error) {
			if first {
				first = false
				return nil, reason
			}
			return wrapped{c}, nil
		},
		Refused: func(err error) { told <- err },
	})
	closed(t, dial(t, l))
	second := dial(t, l)
	conn, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, ok := conn.(*Conn).NetConn().(wrapped); !ok {
		t.Errorf("accepted %T", conn.(*Conn).NetConn())
	}
	local, remote, err := Ends(conn)
	if err != nil || remote.String() != second.LocalAddr().String() || local.String() != second.RemoteAddr().String() {
		t.Errorf("ends %v and %v, %v", local, remote, err)
	}
	// It may be told when the next is welcome already.
	if err := <-told; !errors.Is(err, reason) {
		t.Errorf("told of %v", err)
	}
	l.Close()
	l.Wait()
	if len(told) > 0 {
		t.Errorf("told of %v too", <-told)
	}
}

func TestPlaces(t *testing.T) {
	told := make(chan error, 1)
	l := listen(t, Options{Connections: 1, Checks: 2, Welcome: welcome, Refused: func(err error) { told <- err }})
	dial(t, l)
	conn, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	closed(t, dial(t, l))
	select {
	case err := <-told:
		if err.Error() != "1 connections are open, which is the most" {
			t.Errorf("told %v", err)
		}
	case <-time.After(limit):
		t.Error("nobody is told why")
	}
	conn.Close()
	conn.Close()
	third := dial(t, l)
	again, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if again.RemoteAddr().String() != third.LocalAddr().String() {
		t.Errorf("accepted %v", again.RemoteAddr())
	}
}

func TestCloseEndsAccept(t *testing.T) {
	l := listen(t, Options{Connections: 1, Checks: 1, Welcome: welcome})
	failed := make(chan error, 1)
	go func() {
		_, err := l.Accept()
		failed <- err
	}()
	l.Close()
	if err := <-failed; !errors.Is(err, net.ErrClosed) {
		t.Errorf("Accept gave %v", err)
	}
}

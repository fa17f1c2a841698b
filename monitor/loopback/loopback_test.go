package loopback

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// limit is how long a test waits before it gives up; no test measures time.
const limit = time.Minute

func listen(t *testing.T, welcome func(net.Conn) (net.Conn, error), refused func(error)) *Listener {
	t.Helper()
	inner, err := Listen(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	l := Guard(inner, welcome, refused)
	t.Cleanup(func() {
		l.Close()
		l.Wait()
	})
	return l
}

func dial(t *testing.T, address string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", address)
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

// wrapped is what welcome may put in a connection's place.
type wrapped struct{ net.Conn }

func TestWelcome(t *testing.T) {
	reason := errors.New("not today")
	told := make(chan error, 2)
	var first atomic.Bool
	l := listen(t, func(c net.Conn) (net.Conn, error) {
		if first.CompareAndSwap(false, true) {
			return nil, reason
		}
		return wrapped{c}, nil
	}, func(err error) { told <- err })
	closed(t, dial(t, l.Addr().String()))
	second := dial(t, l.Addr().String())
	conn, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, ok := conn.(wrapped); !ok {
		t.Errorf("accepted %T", conn)
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

// Whoever asks at either address reaches the one listener, and nobody else can
// have either.
func TestListen(t *testing.T) {
	l := listen(t, welcome, func(error) {})
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil || !strings.HasPrefix(l.Addr().String(), "127.0.0.1:") {
		t.Fatalf("listens on %s, %v", l.Addr(), err)
	}
	for _, host := range []string{"127.0.0.1", "::1", "127.0.0.1"} {
		theirs := dial(t, net.JoinHostPort(host, port))
		ours, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		defer ours.Close()
		if ours.RemoteAddr().String() != theirs.LocalAddr().String() {
			t.Errorf("%s: accepted %v, not %v", host, ours.RemoteAddr(), theirs.LocalAddr())
		}
		if again, err := net.Listen("tcp", net.JoinHostPort(host, port)); err == nil {
			again.Close()
			t.Errorf("another has %s too", again.Addr())
		}
	}
	_, err = Listen(t.Context(), l.Addr().(*net.TCPAddr).Port)
	if !Taken(err) || Taken(io.EOF) || Taken(nil) {
		t.Errorf("a second time: %v", err)
	}
	waiting := dial(t, net.JoinHostPort("::1", port)) // which nobody accepts
	if err := errors.Join(l.Close(), l.Close()); err != nil {
		t.Error(err)
	}
	closed(t, waiting)
	if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("accepting after the end: %v", err)
	}
	for _, host := range []string{"127.0.0.1", "::1"} {
		if c, err := net.Dial("tcp", net.JoinHostPort(host, port)); err == nil {
			c.Close()
			t.Errorf("%s still answers", host)
		}
	}
}

// A port that somebody has at either address is taken, and nothing of it is
// kept.
func TestListenTaken(t *testing.T) {
	for _, at := range []string{"127.0.0.1:0", "[::1]:0", "0.0.0.0:0", "[::]:0"} {
		l, err := net.Listen("tcp", at)
		if err != nil {
			t.Fatal(err)
		}
		port := l.Addr().(*net.TCPAddr).Port
		if _, err := Listen(t.Context(), port); !Taken(err) {
			t.Errorf("%s: %v", at, err)
		}
		l.Close()
		both, err := Listen(t.Context(), port)
		if err != nil {
			t.Errorf("%s, free again: %v", at, err)
		}
		for _, one := range both {
			one.Close()
		}
	}
}

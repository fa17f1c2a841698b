package loopback

import (
	"errors"
	"net"
	"strings"
	"testing"
)

func dialAt(t *testing.T, address string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// Whoever asks at either address reaches the one listener, and nobody else can
// have either.
func TestListenBoth(t *testing.T) {
	l, err := ListenBoth(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil || !strings.HasPrefix(l.Addr().String(), "127.0.0.1:") {
		t.Fatalf("listens on %s, %v", l.Addr(), err)
	}
	for _, host := range []string{"127.0.0.1", "::1", "127.0.0.1"} {
		theirs := dialAt(t, net.JoinHostPort(host, port))
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
	_, err = ListenBoth(t.Context(), l.Addr().(*net.TCPAddr).Port)
	if !Taken(err) {
		t.Errorf("a second time: %v", err)
	}
	waiting := dialAt(t, net.JoinHostPort("::1", port)) // which nobody accepts
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
func TestListenBothTaken(t *testing.T) {
	for _, at := range []string{"127.0.0.1:0", "[::1]:0", "0.0.0.0:0", "[::]:0"} {
		l, err := net.Listen("tcp", at)
		if err != nil {
			t.Fatal(err)
		}
		port := l.Addr().(*net.TCPAddr).Port
		if _, err := ListenBoth(t.Context(), port); !Taken(err) {
			t.Errorf("%s: %v", at, err)
		}
		l.Close()
		both, err := ListenBoth(t.Context(), port)
		if err != nil {
			t.Errorf("%s, free again: %v", at, err)
			continue
		}
		both.Close()
	}
}

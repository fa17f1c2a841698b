//go:build unix

package loopback

import (
	"errors"
	"net"
	"testing"
	"time"
)

// Who has sent something and reset the connection before it was looked at is not
// let in, whoever has its address then.
func TestSevered(t *testing.T) {
	clients, told := make(chan *net.TCPConn, 1), make(chan error, 1)
	l := listen(t, func(conn net.Conn) (net.Conn, error) {
		client := <-clients
		if _, err := client.Write([]byte("GET / HTTP/1.1\r\n\r\n")); err != nil {
			t.Error(err)
		}
		if severed(conn) {
			t.Error("a connection counts as reset while it is open")
		}
		if err := errors.Join(client.SetLinger(0), client.Close()); err != nil {
			t.Error(err)
		}
		for began := time.Now(); !severed(conn) && time.Since(began) < limit; time.Sleep(time.Millisecond) {
		}
		return conn, nil
	}, func(err error) { told <- err })
	clients <- dial(t, l.Addr().String()).(*net.TCPConn)
	select {
	case err := <-told:
		if !errors.Is(err, errSevered) {
			t.Errorf("told %v", err)
		}
	case <-time.After(limit):
		t.Error("it was let in")
	}
}

// Who has closed its end in order may still read.
func TestHalfClosedIsNotSevered(t *testing.T) {
	l := listen(t, welcome, func(error) {})
	client := dial(t, l.Addr().String())
	if err := client.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	conn, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if severed(conn) {
		t.Error("it counts as reset")
	}
}

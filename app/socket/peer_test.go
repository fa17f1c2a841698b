package socket

import (
	"crypto/rand"
	"net"
	"path/filepath"
	"runtime"
	"testing"

	"lamplighter/app/apptest"
)

func TestPeerGoneIsSeenWithoutReading(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	if runtime.GOOS == "windows" {
		path = pathBegin + "lamplighter-test-" + rand.Text()
	}
	l, err := Listen(Share(path), true, quiet())
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	accepted := make(chan net.Conn, 1)
	go func() {
		conn, err := l.Accept()
		if err != nil {
			t.Error(err)
		}
		accepted <- conn
	}()
	theirs, err := Dial(t.Context(), Share(path))
	if err != nil {
		t.Fatal(err)
	}
	ours := <-accepted
	if ours == nil {
		t.Fatal("it was not accepted")
	}
	defer ours.Close()
	if PeerGone(ours) {
		t.Error("it counts as gone while it is there")
	}
	theirs.Close()
	apptest.Eventually(t, "it is seen", func() bool { return PeerGone(ours) })
}

package process

import (
	"encoding/binary"
	"errors"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

func dial(t testing.TB, network, addr string) (net.Conn, netip.AddrPort) {
	t.Helper()
	c, err := net.Dial(network, addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c, c.LocalAddr().(*net.TCPAddr).AddrPort()
}

// waitForConnections asks until the answer is the wanted one: a handshake may
// still be under way.
func waitForConnections(t testing.TB, port uint16, want ...Connection) {
	t.Helper()
	want = sortConnections(want)
	var got []Connection
	defer func() {
		if t.Failed() {
			t.Logf("connections %v, want %v", got, want)
		}
	}()
	eventually(t, "the connections are as expected", func() bool {
		var err error
		if got, err = Connections(int(port)); err != nil {
			t.Fatal(err)
		}
		return slices.Equal(got, want)
	})
}

func TestConnections(t *testing.T) {
	me := os.Getpid()
	for _, addr := range []string{"127.0.0.1:0", "[::1]:0", "0.0.0.0:0", "[::]:0"} {
		l, at := listen(t, "tcp", addr)
		_, elsewhere := listen(t, "tcp", "127.0.0.1:0")
		dial(t, "tcp", elsewhere.String())
		waitForConnections(t, at.Port())
		target := netip.AddrPortFrom(at.Addr(), at.Port())
		switch addr {
		case "0.0.0.0:0", "[::]:0":
			target = netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), at.Port())
		}
		c, from := dial(t, "tcp", target.String())
		waitForConnections(t, at.Port(), Connection{me, from}) // before anybody accepts it
		accepted, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		_, second := dial(t, "tcp", target.String())
		waitForConnections(t, at.Port(), Connection{me, from}, Connection{me, second})
		// What another process has as well is listed for both.
		f, err := c.(*net.TCPConn).File()
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("sleep", "600")
		cmd.ExtraFiles = []*os.File{f}
		other := start(t, cmd)
		f.Close()
		waitForConnections(t, at.Port(), Connection{me, from}, Connection{other, from}, Connection{me, second})
		c.Close()
		waitForConnections(t, at.Port(), Connection{other, from}, Connection{me, second})
		kill(t, other, syscall.SIGKILL)
		waitForConnections(t, at.Port(), Connection{me, second})
		accepted.Close()
	}
}

func TestConnectionsToNoPort(t *testing.T) {
	for _, port := range []int{-1, 0, 1 << 16} {
		if got, err := Connections(port); err == nil {
			t.Errorf("%d: %v", port, got)
		}
	}
}

func TestConnectionsFromText(t *testing.T) {
	_, at := listen(t, "tcp6", "[::1]:0")
	_, from := dial(t, "tcp6", at.String())
	buf := make([]byte, 4096)
	var near, far []tcpSocket
	eventually(t, "both ends are connected", func() bool {
		near, far = nil, nil
		for _, name := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
			b, err := readWhole(name, &buf)
			if err != nil {
				t.Fatal(err)
			}
			parseNetTCP(b, func(s tcpSocket) {
				if s.state == tcpEstablished && s.local == at {
					near = append(near, s)
				}
				if s.state == tcpEstablished && s.remote == at {
					far = append(far, s)
				}
			})
		}
		return len(near) > 0 && len(far) > 0
	})
	if len(near) != 1 || len(far) != 1 || near[0].remote != from || far[0].local != from || far[0].inode == 0 || far[0].uid != uint32(os.Getuid()) {
		t.Errorf("near %v, far %v", near, far)
	}
	askedNear, askedFar, err := system().established(at.Port())
	if err != nil || !slices.Equal(askedNear, near) || !slices.Equal(askedFar, far) {
		t.Errorf("asked: near %v, far %v, %v; read: near %v, far %v", askedNear, askedFar, err, near, far)
	}
}

func TestPeerUser(t *testing.T) {
	for _, c := range []struct{ listen, dial string }{
		{"127.0.0.1:0", "127.0.0.1"}, {"[::1]:0", "::1"}, {"[::]:0", "127.0.0.1"}, {"[::]:0", "::1"},
	} {
		l, at := listen(t, "tcp", c.listen)
		client, _ := dial(t, "tcp", net.JoinHostPort(c.dial, netPort(at)))
		server, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		defer server.Close()
		local, remote := server.LocalAddr().(*net.TCPAddr).AddrPort(), server.RemoteAddr().(*net.TCPAddr).AddrPort()
		uid, inode, err := peerUser(local, remote)
		if err != nil || uid != os.Getuid() || inode == 0 {
			t.Errorf("%v: uid %d, inode %d, %v", c, uid, inode, err)
		}
		if ours, err := PeerIsOurs(local, remote); !ours || err != nil {
			t.Errorf("%v: ours %v, %v", c, ours, err)
		}
		// Nobody is at an address that does not take part, and the listener
		// there is not meant.
		for _, not := range [][2]netip.AddrPort{
			{local, netip.AddrPortFrom(remote.Addr(), 1)},
			{netip.AddrPortFrom(local.Addr(), 1), remote},
			{netip.AddrPortFrom(remote.Addr(), 1), local},
		} {
			if uid, inode, err := peerUser(not[0], not[1]); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%v: %d %d %v", not, uid, inode, err)
			}
		}
		// Closed by its owner, it is nobody's although the kernel still has it.
		client.Close()
		eventually(t, "the closed end proves nothing", func() bool {
			ours, err := PeerIsOurs(local, remote)
			return !ours && (errors.Is(err, ErrGone) || errors.Is(err, fs.ErrNotExist))
		})
	}
}

func netPort(a netip.AddrPort) string {
	_, port, _ := net.SplitHostPort(a.String())
	return port
}

func TestPeerOfAnotherProcess(t *testing.T) {
	l, at := listen(t, "tcp", "127.0.0.1:0")
	_, user := startAsAnother(t, func() *exec.Cmd {
		cmd := helper("dial", at.String())
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { in.Close() })
		return cmd
	})
	c, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	local, remote := c.LocalAddr().(*net.TCPAddr).AddrPort(), c.RemoteAddr().(*net.TCPAddr).AddrPort()
	if uid, inode, err := peerUser(local, remote); err != nil || uid != user || inode == 0 {
		t.Error(uid, inode, err)
	}
	if ours, err := PeerIsOurs(local, remote); ours != (user == os.Getuid()) || err != nil {
		t.Error(ours, err)
	}
}

func TestParseTCPDiag(t *testing.T) {
	b := diag(unix.AF_INET6, 1, netip.MustParseAddrPort("[::ffff:127.0.0.1]:80"), 0, 7)
	copy(b[diagRemote:], netip.MustParseAddr("::ffff:127.0.0.2").AsSlice())
	binary.BigEndian.PutUint16(b[diagRemoteEnd:], 81)
	binary.NativeEndian.PutUint32(b[diagUID:], 1000)
	want := tcpSocket{netip.MustParseAddrPort("127.0.0.1:80"), netip.MustParseAddrPort("127.0.0.2:81"), 1, 1000, 7}
	if got, ok := parseTCPDiag(b); !ok || got != want {
		t.Errorf("%+v, %v", got, ok)
	}
	for _, bad := range [][]byte{nil, b[:71], diag(unix.AF_UNIX, 1, netip.MustParseAddrPort("127.0.0.1:80"), 0, 7)} {
		if got, ok := parseTCPDiag(bad); ok {
			t.Errorf("%x: %+v", bad, got)
		}
	}
}

func FuzzParseTCPDiag(f *testing.F) {
	f.Add(diag(unix.AF_INET, 1, netip.MustParseAddrPort("127.0.0.1:5"), 0, 4))
	f.Add(diag(unix.AF_INET6, 1, netip.MustParseAddrPort("[fe80::1]:5"), 2, 4))
	f.Fuzz(func(t *testing.T, b []byte) {
		if s, ok := parseTCPDiag(b); ok && (!s.local.IsValid() || !s.remote.IsValid()) {
			t.Errorf("%x: %+v", b, s)
		}
	})
}

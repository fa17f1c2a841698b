package process

import (
	"bufio"
	"cmp"
	"errors"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

func listen(t testing.TB, network, addr string) (*net.TCPListener, netip.AddrPort) {
	t.Helper()
	l, err := net.Listen(network, addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l.(*net.TCPListener), l.Addr().(*net.TCPAddr).AddrPort()
}

func listenUnix(t testing.TB, network, name string) *net.UnixListener {
	t.Helper()
	l, err := net.ListenUnix(network, &net.UnixAddr{Name: name, Net: network})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// join connects with a listener, which accepts that.
func join(t testing.TB, l net.Listener) (client, server net.Conn) {
	t.Helper()
	client, err := net.Dial(l.Addr().Network(), l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	if server, err = l.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	return client, server
}

// fileOf is a descriptor of its own for a socket.
func fileOf(t testing.TB, socket any) *os.File {
	t.Helper()
	f, err := socket.(interface{ File() (*os.File, error) }).File()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// holder runs a sleep that holds a listening socket as we do.
func holder(t testing.TB, l *net.TCPListener) int {
	t.Helper()
	f := fileOf(t, l)
	defer f.Close()
	cmd := exec.Command("sleep", "600")
	cmd.ExtraFiles = []*os.File{f}
	pid := start(t, cmd)
	waitForName(t, pid, "sleep")
	return pid
}

func listeners(t testing.TB, pids ...int) []Listener {
	t.Helper()
	got, err := Listeners(pids)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func want(list ...Listener) []Listener { return sortListeners(list) }

func TestListenersOfBothFamilies(t *testing.T) {
	me := os.Getpid()
	_, four := listen(t, "tcp4", "127.0.0.1:0")
	_, six := listen(t, "tcp6", "[::1]:0")
	_, any4 := listen(t, "tcp4", "0.0.0.0:0")
	_, any6 := listen(t, "tcp", "[::]:0")
	client, err := net.Dial("tcp", four.String()) // connected sockets are no listeners
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	other := sleeper(t)
	expected := want(Listener{me, four}, Listener{me, six}, Listener{me, any4}, Listener{me, any6})
	if got := listeners(t, me, other.PID, me); !slices.Equal(got, expected) {
		t.Errorf("%v, want %v", got, expected)
	}
	if !any4.Addr().IsUnspecified() || !any6.Addr().IsUnspecified() || !any6.Addr().Is6() {
		t.Errorf("wildcards %v %v", any4, any6)
	}
}

func TestListenersOfTheDead(t *testing.T) {
	l, addr := listen(t, "tcp4", "127.0.0.1:0")
	a := holder(t, l)
	me, idle := os.Getpid(), sleeper(t).PID
	if got := listeners(t, me, a, idle); !slices.Equal(got, want(Listener{me, addr}, Listener{a, addr})) {
		t.Errorf("what two have is %v", got)
	}
	l.Close()
	if got := listeners(t, me, a, idle, unused(t)); !slices.Equal(got, want(Listener{a, addr})) {
		t.Fatalf("%v", got)
	}
	kill(t, a, syscall.SIGKILL)
	waitForState(t, a, Unreaped)
	if got := listeners(t, a, idle); len(got) > 0 {
		t.Errorf("of a dead process: %v", got)
	}
	if got := listeners(t); len(got) > 0 {
		t.Errorf("nobody: %v", got)
	}
}

func TestAnotherNetworkNamespaceHasNoListeners(t *testing.T) {
	cmd := helper("listen")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
	if os.Geteuid() != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
	}
	in, out := pipes(t, cmd)
	defer in.Close()
	pid := start(t, cmd)
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	if _, err := strconv.Atoi(strings.TrimSpace(line)); err != nil {
		t.Fatalf("the helper says %q", line)
	}
	if got := listeners(t, pid); len(got) > 0 {
		t.Errorf("%v", got)
	}
}

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
	slices.SortFunc(want, byPeer)
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
		slices.SortFunc(got, byPeer)
		return slices.Equal(got, want)
	})
}

func byPeer(a, b Connection) int { return cmp.Or(a.Peer.Compare(b.Peer), cmp.Compare(a.PID, b.PID)) }

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
		f := fileOf(t, c)
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

func TestPeer(t *testing.T) {
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
		if peer, err := peerOf(plain(local), plain(remote)); err != nil || int(peer.uid) != os.Getuid() || peer.inode == 0 {
			t.Errorf("%v: %+v, %v", c, peer, err)
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
			if ours, err := PeerIsOurs(not[0], not[1]); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%v: %v, %v", not, ours, err)
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
		cmd := helper("link", "dial", at.String())
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
	if peer, err := peerOf(plain(local), plain(remote)); err != nil || int(peer.uid) != user || peer.inode == 0 {
		t.Error(peer, err)
	}
	if ours, err := PeerIsOurs(local, remote); ours != (user == os.Getuid()) || err != nil {
		t.Error(ours, err)
	}
}

func TestParseTCPDiag(t *testing.T) {
	a := inetAnswer{Family: unix.AF_INET6, State: 1, UID: 1000, Inode: 7}
	a.ID.Port, a.ID.RemotePort = [2]byte{0, 80}, [2]byte{0, 81}
	a.ID.Addr, a.ID.RemoteAddr = netip.MustParseAddr("::ffff:127.0.0.1").As16(), netip.MustParseAddr("::ffff:127.0.0.2").As16()
	want := tcpEnd{
		local: netip.MustParseAddrPort("127.0.0.1:80"), remote: netip.MustParseAddrPort("127.0.0.2:81"),
		status: established, uid: 1000, inode: 7,
	}
	if got, ok := parseTCPDiag(encode(a)); !ok || got != want {
		t.Errorf("%+v, %v", got, ok)
	}
	for _, bad := range [][]byte{nil, encode(a)[:71], diag(unix.AF_UNIX, 1, netip.MustParseAddrPort("127.0.0.1:80"), 7)} {
		if got, ok := parseTCPDiag(bad); ok {
			t.Errorf("%x: %+v", bad, got)
		}
	}
}

func TestHears(t *testing.T) {
	for at, want := range map[string]bool{
		"127.0.0.1:80": true, "0.0.0.0:80": true, "[::]:80": true,
		"127.0.0.2:80": false, "[::1]:80": false, "10.0.0.1:80": false, "127.0.0.1:81": false,
	} {
		if got := (Listener{PID: 1, Addr: netip.MustParseAddrPort(at)}).Hears(80); got != want {
			t.Errorf("%s: %v", at, got)
		}
	}
}

// A port is believed to be a process's own only when it is.
func TestListensOn(t *testing.T) {
	listener, at := listen(t, "tcp4", "127.0.0.1:0")
	defer listener.Close()
	port, me, parent := int(at.Port()), os.Getpid(), os.Getppid()
	for _, pids := range [][]int{{me}, {parent, me}} {
		if err := ListensOn(Local(), port, pids...); err != nil {
			t.Error(err)
		}
	}
	for _, pids := range [][]int{{parent}, {}} {
		if err := ListensOn(Local(), port, pids...); !errors.Is(err, ErrNotListening) {
			t.Errorf("%v: %v", pids, err)
		}
	}
	if err := ListensOn(Local(), port^1, me); !errors.Is(err, ErrNotListening) {
		t.Errorf("another port: %v", err)
	}
}

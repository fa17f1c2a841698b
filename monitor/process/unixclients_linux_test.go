package process

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"testing"

	"golang.org/x/sys/unix"

	"lamplighter/monitor"
)

func TestWaysInOverUnixSockets(t *testing.T) {
	for _, c := range []struct {
		name            string
		s               unixSocket
		takes, accepted bool
	}{
		{"listens", unixSocket{inode: 7, named: true, listens: true}, true, false},
		{"takes datagrams", unixSocket{inode: 7, named: true, datagram: true}, true, false},
		{"sends datagrams", unixSocket{inode: 7, datagram: true}, false, false},
		{"sends datagrams to one", unixSocket{inode: 7, named: true, datagram: true, paired: true, peer: 8}, false, false},
		{"one of a pair", unixSocket{inode: 7, stream: true, paired: true, peer: 8}, false, false},
		{"accepted", unixSocket{inode: 7, stream: true, named: true, paired: true, peer: 8}, false, true},
		{"accepted packets", unixSocket{inode: 7, named: true, paired: true, peer: 8}, false, true},
		{"hung up", unixSocket{inode: 7, stream: true, named: true, paired: true}, false, false},
		{"bound to a name only", unixSocket{inode: 7, named: true}, false, false},
	} {
		if c.s.takesClients() != c.takes || c.s.accepted() != c.accepted {
			t.Errorf("%s: takes clients %v, accepted %v", c.name, c.s.takesClients(), c.s.accepted())
		}
	}
}

func TestHasUnixClients(t *testing.T) {
	type socket interface{ File() (*os.File, error) }
	file := func(s socket) *os.File {
		f, err := s.File()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		return f
	}
	dir := t.TempDir()
	listener := func(network, name string) *net.UnixListener {
		l, err := net.ListenUnix(network, &net.UnixAddr{Name: name, Net: network})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		return l
	}
	connect := func(l *net.UnixListener) (client, server *net.UnixConn) {
		client, err := net.DialUnix(l.Addr().Network(), nil, l.Addr().(*net.UnixAddr))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { client.Close() })
		if server, err = l.AcceptUnix(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { server.Close() })
		return client, server
	}
	stream, packets := listener("unix", dir+"/stream"), listener("unixpacket", dir+"/packets")
	client, accepted := connect(stream)
	_, acceptedPackets := connect(packets)
	left, hungUp := connect(stream)
	left.Close()
	datagrams, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: dir + "/datagrams", Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer datagrams.Close()
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(pair[1])
	half := os.NewFile(uintptr(pair[0]), "pair")
	defer half.Close()
	tcp, _ := listen(t, "tcp4", "127.0.0.1:0")

	self := identityOf(t, os.Getpid())
	for _, c := range []struct {
		name   string
		holds  *os.File
		ours   bool // the other end is in its tree
		wanted bool
	}{
		{"listens", file(stream), true, true},
		{"listens for packets", file(packets), true, true},
		{"listens on an abstract socket", file(listener("unix", fmt.Sprintf("@lamplighter-test-%d", os.Getpid()))), true, true},
		{"takes datagrams", file(datagrams), true, true},
		{"has accepted", file(accepted), false, true},
		{"has accepted packets", file(acceptedPackets), false, true},
		{"has accepted one of its own", file(accepted), true, false},
		{"its client has hung up", file(hungUp), false, false},
		{"has connected", file(client), false, false},
		{"one of a pair", half, false, false},
		{"listens on TCP", file(tcp), false, false},
	} {
		cmd := exec.Command("sleep", "600")
		cmd.ExtraFiles = []*os.File{c.holds}
		id := identityOf(t, start(t, cmd))
		tree := []monitor.Identity{id}
		if c.ours {
			tree = append(tree, self)
		}
		if got, err := HasUnixClients([]monitor.Identity{id}, tree); got != c.wanted || err != nil {
			t.Errorf("%s: %v, %v", c.name, got, err)
		}
	}

	id := sleeper(t)
	ended := monitor.Identity{PID: id.PID, Start: id.Start + 1}
	if got, err := HasUnixClients([]monitor.Identity{ended, id}, nil); got || err != nil {
		t.Errorf("one has ended: %v, %v", got, err)
	}
}

// The kernel tells about the sockets of our own network only, and what it does
// not tell about may listen.
func TestUnixClientsInAnotherNetwork(t *testing.T) {
	flags := []string{"--net"}
	if os.Geteuid() != 0 {
		flags = []string{"--user", "--map-root-user", "--net"}
	}
	cmd := exec.Command("unshare", append(flags, "python3", "-c",
		"import socket, time\ns = socket.socket(socket.AF_UNIX)\ns.bind('\\0x')\ns.listen()\nprint(flush=True)\ntime.sleep(600)")...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	id := identityOf(t, start(t, cmd))
	if _, err := out.Read(make([]byte, 1)); err != nil {
		t.Fatalf("it does not listen: %v", err)
	}
	if got, err := HasUnixClients([]monitor.Identity{id}, nil); got || !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("%v, %v", got, err)
	}
}

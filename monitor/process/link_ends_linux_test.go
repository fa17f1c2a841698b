package process

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"testing"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"
)

func TestParseEndLink(t *testing.T) {
	for in, want := range map[string]string{
		"pipe:[123]":                     "pipe 123",
		"socket:[4294967296]":            "socket 4294967296",
		"socket:[0]":                     "",
		"pipe:[]":                        "",
		"pipe:[12":                       "",
		"pipe:[1x]":                      "",
		"pipe:[18446744073709551616]":    "",
		"/tmp/pipe:[12]":                 "",
		"anon_inode:[eventpoll]":         "",
		"/dev/null":                      "",
		"/tmp/fifo":                      "",
		"":                               "",
		"socket:[12] (deleted)":          "",
		"pipe:[18446744073709551615]":    "pipe 18446744073709551615",
		"pipe:[99999999999999999999999]": "",
	} {
		socket, inode, ok := parseEndLink([]byte(in))
		got := ""
		if ok {
			got = fmt.Sprintf("pipe %d", inode)
		}
		if ok && socket {
			got = fmt.Sprintf("socket %d", inode)
		}
		if want == "" != !ok || ok && got != want {
			t.Errorf("%q: %s", in, got)
		}
	}
}

// answerOf is one struct unix_diag_msg with attributes.
func answerOf(kind, state byte, inode uint32, attributes ...[]byte) []byte {
	b := encode(unixAnswer{Family: unix.AF_UNIX, Type: kind, State: state, Inode: inode})
	return append(b, slices.Concat(attributes...)...)
}

func attribute(kind uint16, value ...byte) []byte {
	b := binary.NativeEndian.AppendUint16(nil, uint16(4+len(value)))
	b = append(binary.NativeEndian.AppendUint16(b, kind), value...)
	for len(b)%4 != 0 {
		b = append(b, 0)
	}
	return b
}

func TestParseUnixDiag(t *testing.T) {
	peer := func(n uint32) []byte { return attribute(unixPeer, binary.NativeEndian.AppendUint32(nil, n)...) }
	for _, c := range []struct {
		name   string
		in     []byte
		want   unixSocket
		closed bool
		ok     bool
	}{
		{"a pair", answerOf(unix.SOCK_STREAM, tcpEstablished, 7, peer(8), attribute(unixShutdown, 0)),
			unixSocket{inode: 7, stream: true, paired: true, peer: 8}, false, true},
		{"its peer is closed", answerOf(unix.SOCK_STREAM, tcpEstablished, 7, peer(0), attribute(unixShutdown, 3)),
			unixSocket{inode: 7, stream: true, paired: true, shutdown: 3}, true, true},
		{"nobody has accepted it", answerOf(unix.SOCK_STREAM, tcpEstablished, 7, peer(0), attribute(unixShutdown, 0)),
			unixSocket{inode: 7, stream: true, paired: true}, false, true},
		{"a kernel that does not tell", answerOf(unix.SOCK_STREAM, tcpEstablished, 7, peer(0)),
			unixSocket{inode: 7, stream: true, paired: true}, false, true},
		{"shut down by itself", answerOf(unix.SOCK_STREAM, tcpEstablished, 7, peer(8), attribute(unixShutdown, 3)),
			unixSocket{inode: 7, stream: true, paired: true, peer: 8, shutdown: 3}, false, true},
		{"listening", answerOf(unix.SOCK_STREAM, 10, 7, attribute(unixName, []byte("/run/x")...), attribute(9, 1, 2, 3)),
			unixSocket{inode: 7, named: true}, false, true},
		{"datagrams", answerOf(unix.SOCK_DGRAM, 7, 7, attribute(unixName, 0, 'x')),
			unixSocket{inode: 7, named: true}, false, true},
		{"packets", answerOf(unix.SOCK_SEQPACKET, tcpEstablished, 7, peer(8)),
			unixSocket{inode: 7, paired: true, peer: 8}, false, true},
		{"no inode", answerOf(unix.SOCK_STREAM, tcpEstablished, 0), unixSocket{stream: true}, false, false},
		{"short", []byte{unix.AF_UNIX, 1, 1}, unixSocket{}, false, false},
		{"of the internet", append([]byte{unix.AF_INET}, make([]byte, 71)...), unixSocket{}, false, false},
		{"an attribute too long", append(answerOf(unix.SOCK_STREAM, tcpEstablished, 7), 9, 0, 2, 0), unixSocket{}, false, false},
	} {
		got, ok := parseUnixDiag(c.in)
		if got != c.want || ok != c.ok || got.closed() != c.closed {
			t.Errorf("%s: %+v, %v", c.name, got, ok)
		}
	}
}

// TestUnixSockets asks the kernel about sockets of every kind.
func TestUnixSockets(t *testing.T) {
	inodeOf := func(fd int) uint64 {
		var st unix.Stat_t
		if err := unix.Fstat(fd, &st); err != nil {
			t.Fatal(err)
		}
		return st.Ino
	}
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(pair[0])
	tcp, _ := listen(t, "tcp4", "127.0.0.1:0")
	named := listenUnix(t, "unix", t.TempDir()+"/s")
	waiting, err := net.Dial("unix", named.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer waiting.Close()
	socketInode := func(socket any) uint64 {
		f := fileOf(t, socket)
		defer f.Close()
		return inodeOf(int(f.Fd()))
	}

	before := openDescriptors(t)
	s, ok, err := unixSocketOf(inodeOf(pair[0]))
	if !ok || err != nil || !s.stream || s.named || s.closed() || uint64(s.peer) != inodeOf(pair[1]) {
		t.Errorf("a pair: %+v, %v, %v", s, ok, err)
	}
	if s, ok, err := unixSocketOf(socketInode(tcp)); ok || err != nil {
		t.Errorf("of the internet: %+v, %v", s, err)
	}
	if s, ok, err := unixSocketOf(socketInode(waiting)); !ok || err != nil || s.closed() || s.peer != 0 {
		t.Errorf("connected, not accepted: %+v, %v, %v", s, ok, err)
	}
	if s, ok, err := unixSocketOf(socketInode(named)); !ok || err != nil || !s.named || s.stream {
		t.Errorf("listening: %+v, %v, %v", s, ok, err)
	}
	for _, none := range []uint64{0, 1 << 40} {
		if _, ok, err := unixSocketOf(none); ok || err != nil {
			t.Errorf("inode %d: %v, %v", none, ok, err)
		}
	}
	unix.Close(pair[1])
	if s, ok, err := unixSocketOf(inodeOf(pair[0])); !ok || err != nil || !s.closed() {
		t.Errorf("its peer is closed: %+v, %v, %v", s, ok, err)
	}
	if after := openDescriptors(t); after != before-1 {
		t.Errorf("%d descriptors, before %d", after, before)
	}
}

func TestChooseStreams(t *testing.T) {
	r := func(fd int, inode uint64) end { return end{fd: fd, inode: inode, access: unix.O_RDONLY} }
	w := func(fd int, inode uint64) end { return end{fd: fd, inode: inode, access: unix.O_WRONLY} }
	s := func(fd int, inode uint64) end {
		return end{fd: fd, socket: true, inode: inode, access: unix.O_RDWR}
	}
	for _, c := range []struct {
		name    string
		all     []end
		null    bool
		in, out []int
		moved   bool
		shared  bool
	}{
		{"pipes in place", []end{r(0, 1), w(1, 2), w(2, 3), w(7, 8), r(9, 9)}, false, []int{0}, []int{1}, false, false},
		{"sockets in place", []end{s(0, 1), s(1, 2), s(2, 3), s(5, 5)}, false, []int{0}, []int{1}, false, false},
		{"one socket for all", []end{s(0, 1), s(1, 1), s(2, 1)}, false, []int{0}, []int{1}, false, true},
		{"both moved, output to standard error", []end{w(1, 3), w(2, 3), r(9, 1), w(10, 2)}, true, []int{9}, []int{10}, true, false},
		{"output moved", []end{r(0, 1), w(1, 3), w(2, 3), w(10, 2), r(11, 7)}, false, []int{0}, []int{10}, true, false},
		{"sockets moved", []end{s(1, 3), s(2, 3), s(9, 1), s(10, 2)}, true, []int{9, 10}, []int{9, 10}, true, false},
		{"twice", []end{r(9, 1), w(10, 2), r(11, 1), w(12, 2)}, true, []int{9, 11}, []int{10, 12}, true, false},
		{"to itself", []end{r(3, 5), w(4, 5), r(9, 1), w(10, 2), {fd: 6, inode: 6, access: unix.O_RDWR}}, true, []int{9}, []int{10}, true, false},
		{"only an output was given", []end{w(1, 2), w(2, 3), r(9, 1), w(10, 4)}, true, nil, nil, false, false},
		{"a terminal", []end{r(9, 1), w(10, 2)}, false, nil, nil, false, false},
		{"a writing end as input", []end{w(0, 1), w(1, 2)}, false, nil, nil, false, false},
		{"nothing", nil, true, nil, nil, true, false},
	} {
		got := chooseStreams(c.all, c.null)
		fds := func(list []end) (fds []int) {
			for _, e := range list {
				fds = append(fds, e.fd)
			}
			return fds
		}
		if !slices.Equal(fds(got.in), c.in) || !slices.Equal(fds(got.out), c.out) || got.moved != c.moved || got.shared != c.shared {
			t.Errorf("%s: in %v, out %v, moved %v, shared %v", c.name, fds(got.in), fds(got.out), got.moved, got.shared)
		}
	}
}

// TestChooseStreamsNeverOffersAForbiddenEnd: whatever a process has open, an
// end that is opened for writing is never of a pipe that the process reads.
func TestChooseStreamsNeverOffersAForbiddenEnd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := rapid.SliceOfDistinct(rapid.Custom(func(t *rapid.T) end {
			e := end{
				fd:     rapid.IntRange(0, 12).Draw(t, "fd"),
				socket: rapid.Bool().Draw(t, "socket"),
				inode:  rapid.Uint64Range(1, 5).Draw(t, "inode"),
				access: rapid.SampledFrom([]int{unix.O_RDONLY, unix.O_WRONLY, unix.O_RDWR}).Draw(t, "access"),
			}
			if e.socket {
				e.inode, e.access = e.inode+100, unix.O_RDWR
			}
			return e
		}), func(e end) int { return e.fd }).Draw(t, "ends")
		s := chooseStreams(all, rapid.Bool().Draw(t, "null"))
		for _, e := range append(slices.Clone(s.in), s.out...) {
			if !slices.Contains(all, e) {
				t.Fatalf("made up: %+v", e)
			}
		}
		for _, in := range s.in {
			if !in.reads() || !in.socket && in.writes() {
				t.Fatalf("reads from %+v", in)
			}
		}
		for _, out := range s.out {
			if !out.writes() {
				t.Fatalf("writes to %+v", out)
			}
			if !out.socket && slices.ContainsFunc(all, func(e end) bool {
				return !e.socket && e.inode == out.inode && e.reads()
			}) {
				t.Fatalf("%+v is the writing end of a pipe that it reads", out)
			}
		}
	})
}

func TestDesertedRefusesWhatIsNoPipe(t *testing.T) {
	o, err := system().openAs(identityOf(t, os.Getpid()))
	if err != nil {
		t.Fatal(err)
	}
	defer o.close()
	p, err := os.Open("/dev/null")
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	named := t.TempDir() + "/pipe"
	if err := unix.Mkfifo(named, 0o600); err != nil {
		t.Fatal(err)
	}
	fifo, err := os.OpenFile(named, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer fifo.Close()
	var st unix.Stat_t
	if err := unix.Stat(named, &st); err != nil {
		t.Fatal(err)
	}
	for _, e := range []end{
		{fd: int(fifo.Fd()), inode: st.Ino, access: unix.O_RDONLY},
		{fd: int(p.Fd()), inode: 5, access: unix.O_RDONLY},
		{fd: int(r.Fd()), inode: 5, access: unix.O_RDONLY},
		{fd: 9999, inode: 5, access: unix.O_RDONLY},
	} {
		if _, err := o.deserted(e); !errors.Is(err, errMoved) {
			t.Errorf("%+v: %v", e, err)
		}
	}
	for _, e := range []end{{socket: true}, {access: unix.O_RDWR}} {
		if _, err := o.deserted(e); err == nil {
			t.Errorf("%+v was opened", e)
		}
	}
}

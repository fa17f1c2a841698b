package process

import (
	"encoding/binary"
	"errors"
	"maps"
	"net/netip"
	"testing"

	"golang.org/x/sys/unix"
)

// nlmsg is one netlink message.
func nlmsg(kind, flags uint16, seq uint32, body []byte) []byte {
	order := binary.NativeEndian
	b := order.AppendUint32(nil, uint32(nlHeader+len(body)))
	b = order.AppendUint16(b, kind)
	b = order.AppendUint16(b, flags)
	b = order.AppendUint32(b, seq)
	b = order.AppendUint32(b, 0)
	b = append(b, body...)
	for len(b)%4 != 0 {
		b = append(b, 0)
	}
	return b
}

// diag is one struct inet_diag_msg.
func diag(family, state byte, addr netip.AddrPort, iface, inode uint32) []byte {
	b := make([]byte, diagMessage)
	b[0], b[1] = family, state
	binary.BigEndian.PutUint16(b[diagPort:], addr.Port())
	copy(b[diagAddr:], addr.Addr().AsSlice())
	binary.NativeEndian.PutUint32(b[diagIface:], iface)
	binary.NativeEndian.PutUint32(b[diagInode:], inode)
	return b
}

// parseListening reads listening sockets out of one datagram.
func parseListening(b []byte, add func(tcpSocket)) (done bool, err error) {
	return parseNetlink(b, 5, func(message []byte) {
		if s, ok := parseTCPDiag(message); ok && s.listens() {
			add(s)
		}
	})
}

func TestParseDiag(t *testing.T) {
	answers := func(parts ...[]byte) (all []byte) {
		for _, p := range parts {
			all = append(all, p...)
		}
		return all
	}
	socket := func(addr string, family byte, iface, inode uint32) []byte {
		return nlmsg(unix.SOCK_DIAG_BY_FAMILY, unix.NLM_F_MULTI, 5, diag(family, tcpListen, netip.MustParseAddrPort(addr), iface, inode))
	}
	done := nlmsg(unix.NLMSG_DONE, unix.NLM_F_MULTI, 5, make([]byte, 4))
	refused := binary.NativeEndian.AppendUint32(nil, ^uint32(unix.ENOENT)+1)
	for _, c := range []struct {
		name string
		in   []byte
		want map[uint32]string
		done bool
		err  error
	}{
		{"v4", answers(socket("127.0.0.1:24282", unix.AF_INET, 0, 11), done), map[uint32]string{11: "127.0.0.1:24282"}, true, nil},
		{"v6", socket("[::1]:80", unix.AF_INET6, 0, 12), map[uint32]string{12: "[::1]:80"}, false, nil},
		{"wildcards stay", answers(socket("0.0.0.0:1", unix.AF_INET, 0, 1), socket("[::]:2", unix.AF_INET6, 0, 2)),
			map[uint32]string{1: "0.0.0.0:1", 2: "[::]:2"}, false, nil},
		{"v4 in v6", socket("[::ffff:127.0.0.1]:80", unix.AF_INET6, 0, 12), map[uint32]string{12: "127.0.0.1:80"}, false, nil},
		{"link local", socket("[fe80::1]:80", unix.AF_INET6, 3, 12), map[uint32]string{12: "[fe80::1%3]:80"}, false, nil},
		{"no inode, no port, other state, short", answers(socket("127.0.0.1:1", unix.AF_INET, 0, 0), socket("127.0.0.1:0", unix.AF_INET, 0, 9),
			nlmsg(unix.SOCK_DIAG_BY_FAMILY, 0, 5, diag(unix.AF_INET, 1, netip.MustParseAddrPort("127.0.0.1:5"), 0, 4)),
			nlmsg(unix.SOCK_DIAG_BY_FAMILY, 0, 5, []byte{2, 10, 0})), nil, false, nil},
		{"another question", nlmsg(unix.NLMSG_DONE, 0, 4, nil), nil, false, nil},
		{"refused", nlmsg(unix.NLMSG_ERROR, 0, 5, refused), nil, true, unix.ENOENT},
		{"refused at the end", nlmsg(unix.NLMSG_DONE, 0, 5, refused), nil, true, unix.ENOENT},
		{"interrupted", answers(nlmsg(unix.SOCK_DIAG_BY_FAMILY, unix.NLM_F_DUMP_INTR, 5, nil), done), nil, true, errInterrupted},
	} {
		got := map[uint32]string{}
		done, err := parseListening(c.in, func(s tcpSocket) { got[s.inode] = s.local.String() })
		if done != c.done || !errors.Is(err, c.err) || !maps.Equal(got, c.want) {
			t.Errorf("%s: %v, done %v, %v", c.name, got, done, err)
		}
	}
	for _, bad := range [][]byte{make([]byte, 16), nlmsg(3, 0, 5, nil)[:15:15]} {
		if done, err := parseListening(bad, func(tcpSocket) { t.Error("a socket") }); done || (err == nil && len(bad) >= nlHeader) {
			t.Errorf("%x: done %v, %v", bad, done, err)
		}
	}
}

func TestParseNetTCP(t *testing.T) {
	if binary.NativeEndian.Uint16([]byte{1, 0}) != 1 {
		t.Log("the lines below are those of a little-endian machine")
		return
	}
	const text = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:5EDA 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 41 1 ffff 100 0 0 10 0
   1: 00000000:07E8 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 42 1 ffff 100 0 0 10 0
   2: 0100007F:5EDA 0100007F:9999 01 00000000:00000000 00:00000000 00000000  1000        0 43 1 ffff 100 0 0 10 0
   3: 00000000000000000000000001000000:0050 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 44 1 ffff
   4: 0000000000000000FFFF00000100007F:0051 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 45 1 ffff
   5: 00X00000:07E8 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 46 1
   6: 00000000:07E8
`
	got := map[uint32]string{}
	connected := tcpSocket{netip.MustParseAddrPort("127.0.0.1:24282"), netip.MustParseAddrPort("127.0.0.1:39321"), tcpEstablished, 1000, 43}
	parseNetTCP([]byte(text), func(s tcpSocket) {
		if s.listens() {
			got[s.inode] = s.local.String()
		} else if s != connected {
			t.Errorf("%+v", s)
		}
	})
	want := map[uint32]string{41: "127.0.0.1:24282", 42: "0.0.0.0:2024", 44: "[::1]:80", 45: "127.0.0.1:81"}
	if !maps.Equal(got, want) {
		t.Error(got)
	}
}

func FuzzParseDiag(f *testing.F) {
	f.Add(nlmsg(unix.SOCK_DIAG_BY_FAMILY, 0, 5, diag(unix.AF_INET, tcpListen, netip.MustParseAddrPort("127.0.0.1:5"), 0, 4)))
	f.Add(nlmsg(unix.SOCK_DIAG_BY_FAMILY, 0, 5, diag(unix.AF_INET6, tcpListen, netip.MustParseAddrPort("[fe80::1]:5"), 2, 4)))
	f.Add(nlmsg(unix.NLMSG_ERROR, 0, 5, []byte{1, 2, 3, 4}))
	f.Add(nlmsg(unix.NLMSG_DONE, 0, 5, nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		parseListening(b, func(s tcpSocket) {
			if !s.local.IsValid() {
				t.Errorf("%x: %+v", b, s)
			}
		})
	})
}

func FuzzParseNetTCP(f *testing.F) {
	f.Add([]byte("   0: 0100007F:5EDA 00000000:0000 0A 0:0 00:0 0  1000        0 41 1\n"))
	f.Add([]byte("   0: 0100007F:5EDA 0100007F:9999 01 0:0 00:0 0  1000        0 41 1\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		parseNetTCP(b, func(s tcpSocket) {
			if !s.local.IsValid() || !s.remote.IsValid() {
				t.Errorf("%q: %+v", b, s)
			}
		})
	})
}

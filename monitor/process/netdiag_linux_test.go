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
func nlmsg(kind, flags uint16, body []byte) []byte {
	order := binary.NativeEndian
	b := order.AppendUint32(nil, uint32(unix.SizeofNlMsghdr+len(body)))
	b = order.AppendUint16(b, kind)
	b = order.AppendUint16(b, flags)
	b = append(b, make([]byte, 8)...) // number and sender
	b = append(b, body...)
	for len(b)%4 != 0 {
		b = append(b, 0)
	}
	return b
}

// diag is one struct inet_diag_msg.
func diag(family, state byte, addr netip.AddrPort, inode uint32) []byte {
	a := inetAnswer{Family: family, State: state, Inode: inode}
	binary.BigEndian.PutUint16(a.ID.Port[:], addr.Port())
	copy(a.ID.Addr[:], addr.Addr().AsSlice())
	return encode(a)
}

func encode(answer any) []byte {
	b, err := binary.Append(nil, binary.NativeEndian, answer)
	if err != nil {
		panic(err)
	}
	return b
}

func TestParseDiag(t *testing.T) {
	answers := func(parts ...[]byte) (all []byte) {
		for _, p := range parts {
			all = append(all, p...)
		}
		return all
	}
	socket := func(addr string, family byte, inode uint32) []byte {
		return nlmsg(unix.SOCK_DIAG_BY_FAMILY, unix.NLM_F_MULTI, diag(family, tcpListen, netip.MustParseAddrPort(addr), inode))
	}
	done := nlmsg(unix.NLMSG_DONE, unix.NLM_F_MULTI, make([]byte, 4))
	refused := binary.NativeEndian.AppendUint32(nil, ^uint32(unix.ENOENT)+1)
	for _, c := range []struct {
		name string
		in   []byte
		want map[uint32]string
		done bool
		err  error
	}{
		{"v4", answers(socket("127.0.0.1:24282", unix.AF_INET, 11), done), map[uint32]string{11: "127.0.0.1:24282"}, true, nil},
		{"v6", socket("[::1]:80", unix.AF_INET6, 12), map[uint32]string{12: "[::1]:80"}, false, nil},
		{"wildcards stay", answers(socket("0.0.0.0:1", unix.AF_INET, 1), socket("[::]:2", unix.AF_INET6, 2)),
			map[uint32]string{1: "0.0.0.0:1", 2: "[::]:2"}, false, nil},
		{"v4 in v6", socket("[::ffff:127.0.0.1]:80", unix.AF_INET6, 12), map[uint32]string{12: "127.0.0.1:80"}, false, nil},
		{"other state, short", answers(
			nlmsg(unix.SOCK_DIAG_BY_FAMILY, 0, diag(unix.AF_INET, 1, netip.MustParseAddrPort("127.0.0.1:5"), 4)),
			nlmsg(unix.SOCK_DIAG_BY_FAMILY, 0, []byte{2, 10, 0})), nil, false, nil},
		{"refused", nlmsg(unix.NLMSG_ERROR, 0, refused), nil, true, unix.ENOENT},
		{"refused at the end", nlmsg(unix.NLMSG_DONE, 0, refused), nil, true, unix.ENOENT},
	} {
		got := map[uint32]string{}
		answers, done, err := parseAnswers(c.in)
		for _, b := range answers {
			if s, ok := parseTCPDiag(b); ok && s.status == listening {
				got[s.inode] = s.local.String()
			}
		}
		if done != c.done || !errors.Is(err, c.err) || !maps.Equal(got, c.want) {
			t.Errorf("%s: %v, done %v, %v", c.name, got, done, err)
		}
	}
	for _, bad := range [][]byte{make([]byte, 16), nlmsg(3, 0, nil)[:15:15]} {
		if answers, done, err := parseAnswers(bad); len(answers) > 0 || done || (err == nil && len(bad) >= unix.SizeofNlMsghdr) {
			t.Errorf("%x: %v, done %v, %v", bad, answers, done, err)
		}
	}
}

// A kernel that does not list the sockets of a family is not one that has none.
func TestSocketsThatTheKernelDoesNotList(t *testing.T) {
	if err := lists(unix.AF_UNIX); err != nil {
		t.Error(err)
	}
	if err := lists(unix.AF_UNSPEC); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("of a family that nobody lists: %v", err)
	}
}

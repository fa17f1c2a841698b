package process

import (
	"encoding/binary"
	"net/netip"
	"slices"
	"strings"
	"testing"
)

func procArgs(n uint32, rest string) []byte {
	return append(binary.NativeEndian.AppendUint32(nil, n), rest...)
}

func TestParseProcArgs(t *testing.T) {
	for _, c := range []struct {
		in   []byte
		exe  string
		args []string
	}{
		{nil, "", nil},
		{procArgs(1, ""), "", nil},
		{procArgs(1, "/bin/sleep"), "", nil},
		{procArgs(2, "/bin/sleep\x00\x00\x00\x00sleep\x00600\x00HOME=/\x00"), "/bin/sleep", []string{"sleep", "600"}},
		{procArgs(3, "/bin/sh\x00sh\x00\x00x\x00A=b\x00"), "/bin/sh", []string{"sh", "", "x"}},
		{procArgs(4000000000, "/bin/x\x00x\x00y"), "/bin/x", []string{"x", "y"}},
		{procArgs(0, "/bin/x\x00x\x00"), "/bin/x", nil},
	} {
		exe, args := parseProcArgs(c.in)
		if exe != c.exe || !slices.Equal(args, c.args) {
			t.Errorf("%q: %q %q", c.in, exe, args)
		}
	}
}

func FuzzParseProcArgs(f *testing.F) {
	f.Add(procArgs(2, "/bin/sleep\x00\x00\x00\x00sleep\x00600\x00HOME=/\x00"))
	f.Fuzz(func(t *testing.T, b []byte) {
		exe, args := parseProcArgs(b)
		if len(exe)+len(strings.Join(args, "")) > len(b) {
			t.Errorf("%q: %q %q", b, exe, args)
		}
	})
}

// record is one record of the list that macOS gives, filled up as it does.
func record(kind uint32, size int, fill func(b []byte)) []byte {
	b := make([]byte, (size+7)&^7)
	binary.NativeEndian.PutUint32(b, uint32(size))
	binary.NativeEndian.PutUint32(b[4:], kind)
	if fill != nil {
		fill(b)
	}
	return b
}

// pcb is all records of one socket, in the order of the kernel.
func pcb(local, remote string, state, pid uint32) []byte {
	from, to := netip.MustParseAddrPort(local), netip.MustParseAddrPort(remote)
	put := func(b []byte, addrAt, portAt int, a netip.AddrPort) {
		raw := a.Addr().AsSlice()
		copy(b[addrAt+16-len(raw):], raw)
		binary.BigEndian.PutUint16(b[portAt:], a.Port())
	}
	return slices.Concat(
		record(pcbInet, 104, func(b []byte) {
			put(b, inetLocal, inetLocalPort, from)
			put(b, inetRemote, inetRemotePort, to)
			b[inetVersion] = 2
			if from.Addr().Is4() {
				b[inetVersion] = inetIPv4
			}
		}),
		record(pcbSocket, 76, func(b []byte) {
			binary.NativeEndian.PutUint32(b[socketLastPID:], pid)
		}),
		record(0x002, 44, nil), record(0x004, 44, nil), record(0x008, 136, nil),
		record(pcbTCP, 204, func(b []byte) { binary.NativeEndian.PutUint32(b[tcpState:], state) }),
	)
}

func TestParsePCBList(t *testing.T) {
	at := netip.MustParseAddrPort
	header := record(2, 24, nil)
	list := slices.Concat(header,
		pcb("127.0.0.1:24282", "127.0.0.1:50000", pcbEstablished, 70),
		pcb("127.0.0.1:50000", "127.0.0.1:24282", pcbEstablished, 71),
		pcb("[::1]:24282", "[::1]:50001", 5, 70),
		pcb("[::ffff:127.0.0.1]:24282", "[::ffff:10.0.0.1]:50001", pcbEstablished, 70),
		header)
	want := []tcpEnd{
		{local: at("127.0.0.1:24282"), remote: at("127.0.0.1:50000"), status: established, pid: 70},
		{local: at("127.0.0.1:50000"), remote: at("127.0.0.1:24282"), status: established, pid: 71},
		{local: at("[::1]:24282"), remote: at("[::1]:50001"), status: "", pid: 70},
		{local: at("127.0.0.1:24282"), remote: at("10.0.0.1:50001"), status: established, pid: 70},
	}
	if got := parsePCBList(list); !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
	for cut := range list {
		if got := parsePCBList(list[:cut]); len(got) > len(want) || !slices.Equal(got, want[:len(got)]) {
			t.Fatalf("cut at %d: %v", cut, got)
		}
	}
}

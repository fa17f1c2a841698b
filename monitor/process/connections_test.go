package process

import (
	"encoding/binary"
	"net/netip"
	"slices"
	"testing"
)

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
func pcb(local, remote string, state, uid, pid uint32) []byte {
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
			binary.NativeEndian.PutUint32(b[socketUID:], uid)
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
		pcb("127.0.0.1:24282", "127.0.0.1:50000", pcbEstablished, 501, 70),
		pcb("127.0.0.1:50000", "127.0.0.1:24282", pcbEstablished, 502, 71),
		pcb("[::1]:24282", "[::1]:50001", 5, 501, 70),
		pcb("[::ffff:127.0.0.1]:24282", "[::ffff:10.0.0.1]:50001", pcbEstablished, 501, 70),
		header)
	want := []tcpEnd{
		{at("127.0.0.1:24282"), at("127.0.0.1:50000"), true, 70, 501},
		{at("127.0.0.1:50000"), at("127.0.0.1:24282"), true, 71, 502},
		{at("[::1]:24282"), at("[::1]:50001"), false, 70, 501},
		{at("127.0.0.1:24282"), at("10.0.0.1:50001"), true, 70, 501},
	}
	if got := parsePCBList(list); !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
	wantTo := []Connection{{0, at("10.0.0.1:50001")}, {71, at("127.0.0.1:50000")}}
	if got := connectionsIn(parsePCBList(list), 24282); !slices.Equal(got, wantTo) {
		t.Errorf("%v", got)
	}
	for cut := range list {
		if got := parsePCBList(list[:cut]); len(got) > len(want) || !slices.Equal(got, want[:len(got)]) {
			t.Fatalf("cut at %d: %v", cut, got)
		}
	}
}

func FuzzParsePCBList(f *testing.F) {
	f.Add(slices.Concat(record(1, 24, nil), pcb("127.0.0.1:1", "[::1]:2", 4, 5, 6)))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, e := range parsePCBList(b) {
			if !e.local.IsValid() || !e.remote.IsValid() {
				t.Errorf("%x: %+v", b, e)
			}
		}
	})
}

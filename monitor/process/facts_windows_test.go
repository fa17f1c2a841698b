package process

import (
	"errors"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"lamplighter/monitor"
)

// That another user's process is not ours cannot be shown under Wine, which has
// one user.
func TestAncestorsAndUser(t *testing.T) {
	h := start(t, "parent")
	pid := h.number(t)
	want := []monitor.Identity{h.Identity, identityOf(t, os.Getpid())}
	if above, err := Above(Local(), pid); err != nil || len(above) < 2 || !slices.Equal(above[:2], want) {
		t.Errorf("%v, %v, want %v first", above, err, want)
	}
	if ours, err := SameUser(pid); err != nil || !ours {
		t.Errorf("%v, %v", ours, err)
	}
}

// A process whose parent has ended has none: its pid may be another's by now.
func TestAncestorsOfAnOrphan(t *testing.T) {
	h := start(t, "parent")
	pid := h.number(t)
	orphan := identityOf(t, pid)
	if err := h.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "its parent is gone", func() bool { _, err := ReadStat(h.PID); return errors.Is(err, ErrGone) })
	if now, err := ReadStat(pid); err != nil || now.Identity != orphan {
		t.Fatalf("the orphan is %+v, %v", now, err)
	}
	if above, err := Above(Local(), pid); err != nil || len(above) > 0 {
		t.Errorf("%v, %v", above, err)
	}
}

func TestConnections(t *testing.T) {
	h := start(t, "listen", "127.0.0.1:0", "[::1]:0")
	for i, host := range []string{"127.0.0.1", "::1"} {
		text := strings.Fields(h.said)[i]
		port, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(h.said)
		}
		if none, err := Connections(port); err != nil || len(none) > 0 {
			t.Errorf("%s: nobody is connected, %v, %v", host, none, err)
		}
		conn, err := net.Dial("tcp", net.JoinHostPort(host, text))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		want := []Connection{{PID: os.Getpid(), Peer: conn.LocalAddr().(*net.TCPAddr).AddrPort()}}
		eventually(t, "the connection to "+host+" is listed as ours", func() bool {
			got, err := Connections(port)
			return err == nil && slices.Equal(got, want)
		})
		if ours, err := PeerIsOurs(addrOf(conn.RemoteAddr()), addrOf(conn.LocalAddr())); err != nil || !ours {
			t.Errorf("%s: our own end: %v, %v", host, ours, err)
		}
		// A port of ours on which nobody has connected to that one.
		nobody := netip.AddrPortFrom(addrOf(conn.LocalAddr()).Addr(), 1)
		if ours, err := PeerIsOurs(addrOf(conn.RemoteAddr()), nobody); ours || !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v: %v, %v", host, nobody, ours, err)
		}
	}
}

func addrOf(a net.Addr) netip.AddrPort { return a.(*net.TCPAddr).AddrPort() }

// Windows and Wine run services in processes of this name.
func TestServiceOf(t *testing.T) {
	if unit, err := serviceOf(t.Context(), []monitor.Identity{identityOf(t, os.Getpid())}); err != nil || unit != "" {
		t.Errorf("we are %q, %v", unit, err)
	}
	all, err := everyone()
	if err != nil {
		t.Fatal(err)
	}
	var names, services []string
	for _, l := range all {
		names = append(names, l.name)
		if !strings.EqualFold(l.name, "svchost.exe") {
			continue
		}
		unit, err := serviceOf(t.Context(), []monitor.Identity{{PID: os.Getpid()}, {PID: l.pid}})
		if err != nil {
			t.Fatal(err)
		}
		services = append(services, unit)
	}
	// Under Wine some of them may be about to end, and have none any more.
	if strings.Join(services, "") == "" {
		t.Errorf("services %q in %q", services, names)
	}
}

package launch

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lamplighter/monitor"
	"lamplighter/monitor/process"
)

func TestWhoHasAPort(t *testing.T) {
	stat := func(pid int, state process.RunState) process.Stat {
		return process.Stat{Identity: monitor.Identity{PID: pid, Start: 1}, State: state}
	}
	listener := func(pid int, addr string) process.Listener {
		return process.Listener{PID: pid, Addr: netip.MustParseAddrPort(addr)}
	}
	s := sight{
		// The keeper, a wrapper that has ended, the server and its worker.
		tree: []process.Stat{stat(1, process.Running), stat(2, process.Unreaped), stat(4, process.Running), stat(3, process.Running)},
		listeners: []process.Listener{
			listener(3, "127.0.0.1:80"), listener(4, "127.0.0.1:80"), listener(2, "127.0.0.1:80"),
			listener(3, "0.0.0.0:81"), listener(3, "[::]:82"), listener(3, "[::1]:83"), listener(3, "127.0.0.2:84"), listener(3, "10.0.0.1:85"),
			listener(9, "127.0.0.1:86"),
		},
	}
	for port, want := range map[int]int{80: 4, 81: 3, 82: 3, 83: 0, 84: 0, 85: 0, 86: 0, 87: 0} {
		if id, ok := s.owner(port); id.PID != want || ok != (want != 0) {
			t.Errorf("port %d belongs to %v", port, id)
		}
	}
	if got := s.ports(); !slices.Equal(got, []int{80, 81, 82, 86}) {
		t.Error(got)
	}
	if got := fmt.Sprint(s.elsewhere()); got != "[10.0.0.1:85 127.0.0.2:84 [::1]:83]" {
		t.Error(got)
	}
	if got := (&search{port: 81}).wanted(s); !slices.Equal(got, []int{81}) {
		t.Error(got)
	}
	if got := (&search{portFile: filepath.Join(t.TempDir(), "none")}).wanted(s); len(got) != 0 {
		t.Error(got)
	}
}

func TestLateServersAreToldWhereTheyListen(t *testing.T) {
	late := errors.New("late")
	at := func(addrs ...string) sight {
		var s sight
		for _, addr := range addrs {
			s.listeners = append(s.listeners, process.Listener{PID: 1, Addr: netip.MustParseAddrPort(addr)})
		}
		return s
	}
	const reach = ", which 127.0.0.1 does not reach: make it listen on 127.0.0.1"
	for _, test := range []struct {
		search search
		last   sight
		want   string
	}{
		{search{}, at(), "late; it listened on no port"},
		{search{}, at("[::1]:80", "[::1]:80"), "late; it listened on [::1]:80" + reach},
		{search{}, at("[::1]:80", "10.0.0.1:81"), "late; it listened on 10.0.0.1:81, [::1]:80" + reach},
		{search{port: 80}, at("[::1]:80", "[::1]:81"), "late; it listened on [::1]:80" + reach},
		{search{port: 82}, at("[::1]:80"), "late; it did not listen on port 82, which it was given"},
		{search{portFile: "x"}, at("[::1]:80"), "late; it listened on [::1]:80" + reach},
		{search{portFile: "x"}, at("127.0.0.1:80"), "late; it listened on no port that it has written to {port_file}"},
	} {
		if got := test.search.late(late, nil, test.last); got.Error() != test.want {
			t.Errorf("%v: got %q, want %q", test.last.listeners, got, test.want)
		}
	}
}

func TestPortFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "port")
	for text, want := range map[string]int{
		"8080": 8080, " 8080\n": 8080, "65535": 65535, "65536": 0, "-1": 0, "": 0, "http": 0, "0": 0, "80 81": 0, strings.Repeat("1", 1000): 0,
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := readPort(path); got != want {
			t.Errorf("%q: %d", text, got)
		}
	}
}

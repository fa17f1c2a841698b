package launch

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"lamplighter/monitor/process"
)

// TestFullDisks start nothing, and say so.
func TestFullDisks(t *testing.T) {
	state := t.TempDir()
	// The tests run where that is allowed: see build/isolated.sh.
	if err := unix.Mount("tmpfs", state, "tmpfs", 0, "size=1m"); err != nil {
		t.Fatalf("making a small disk: %v; run the tests through build/isolated.sh", err)
	}
	defer func() {
		if err := unix.Unmount(state, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	}()
	l, stop := running(t, state, nil)
	s, err := l.Launch(t.Context(), order("--flood", "300000")) // its log only loses lines
	if err != nil {
		t.Fatal(err)
	}
	if err := s.End(t.Context(), "the test"); err != nil {
		t.Error(err)
	}
	filler := filepath.Join(state, "filler")
	if err := os.WriteFile(filler, make([]byte, 2<<20), 0o600); err == nil {
		t.Fatal("the disk is not full")
	}
	if _, err := l.Launch(t.Context(), order()); err == nil || !strings.Contains(err.Error(), "its record cannot be written, so it is not started") {
		t.Error(err)
	}
	nothingLeft(t, state)
	nobody(t)
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Launch(t.Context(), order()); err != nil {
		t.Error(err)
	}
	stop()
	nobody(t)
}

// TestFreePort: the system hands out no port of servers by itself.
func TestFreePort(t *testing.T) {
	text, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range")
	if err != nil {
		t.Fatal(err)
	}
	var first, last int
	if _, err := fmt.Sscan(string(text), &first, &last); err != nil {
		t.Fatal(err)
	}
	if port, err := freePort(); err != nil || port >= first && port <= last {
		t.Errorf("%d is one of %d to %d: %v", port, first, last, err)
	}
}

// TestPortsThatAreTaken: somebody else takes the port that a server was given
// before the server does. That is tried once more, with another port.
func TestPortsThatAreTaken(t *testing.T) {
	taken, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for _, times := range []int{1, 2} {
		state := t.TempDir()
		given := 0
		l, stop := running(t, state, func(l *Launcher) {
			l.freePort = func() (int, error) {
				if given++; given <= times {
					return taken.Addr().(*net.TCPAddr).Port, nil
				}
				return freePort()
			}
		})
		s, err := l.Launch(t.Context(), order("--port", portMark))
		switch {
		case times == 1 && err != nil:
			t.Error(err)
		case times == 1:
			allGone := s.End(t.Context(), "the test")
			if allGone != nil {
				t.Error(allGone)
			}
		case err == nil || !strings.Contains(err.Error(), errPortTaken.Error()) || !strings.Contains(err.Error(), "address already in use"):
			t.Error(err)
		}
		stop()
		nothingLeft(t, state)
		nobody(t)
	}
}

// TestServersThatFork: the process that was started ends, and a child of it
// serves. Elsewhere than on Linux nothing tells whose child that was.
func TestServersThatFork(t *testing.T) {
	state := t.TempDir()
	l, _ := running(t, state, nil)
	s, err := l.Launch(t.Context(), order("--fork", "--late", "50ms", "--child"))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.End(t.Context(), "the test"); err != nil {
		t.Error(err)
	}
	allGone(t, state, s.ID(), s.ids.keeper, s.Identity())
	nobody(t)
}

// TestKeepersThatDie take their servers with them, and these say why.
func TestKeepersThatDie(t *testing.T) {
	state := t.TempDir()
	l, _ := running(t, state, nil)
	s, err := l.Launch(t.Context(), order("--ignore"))
	if err != nil {
		t.Fatal(err)
	}
	killed(t, s.ids.keeper)
	<-s.Done()
	if s.Ending() != "ended because its keeper had died" {
		t.Error(s.Ending())
	}
	allGone(t, state, s.ID(), s.Identity())
	nobody(t)
}

// TestKeepersThatAreSlow say only when they are ended how their server did.
func TestKeepersThatAreSlow(t *testing.T) {
	state := t.TempDir()
	l, _ := running(t, state, nil)
	s, err := l.Launch(t.Context(), order())
	if err != nil {
		t.Fatal(err)
	}
	h, err := process.Hold(s.ids.keeper)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	if err := h.Suspend(); err != nil {
		t.Fatal(err)
	}
	server, err := process.Hold(s.Identity())
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	if err := server.Kill(); err != nil { // nobody reaps it before the keeper goes on
		t.Fatal(err)
	}
	<-s.Done()
	if s.Ending() != "was ended by signal 9" {
		t.Error(s.Ending())
	}
	allGone(t, state, s.ID(), s.ids.keeper, s.Identity())
}

// TestServersThatDieWhenReady: either Launch fails, or their end is told. The
// helper ends when the session that was tried is let go.
func TestServersThatDieWhenReady(t *testing.T) {
	state := t.TempDir()
	l, _ := running(t, state, nil)
	for range 5 {
		s, err := l.Launch(t.Context(), order("--die"))
		if err == nil {
			<-s.Done()
			if s.Ending() != "exited with status 3" {
				t.Error(s.Ending())
			}
		} else if !strings.Contains(err.Error(), "accepted MCP") {
			t.Error(err)
		}
		nothingLeft(t, state)
		nobody(t)
	}
}

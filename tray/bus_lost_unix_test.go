//go:build !windows && !darwin

package tray

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lamplighter/monitor"
	"lamplighter/tray/traytest"

	"github.com/godbus/dbus/v5"
)

func TestHostThatRestartsOrComesLate(t *testing.T) {
	address, _ := traytest.StartBus(t)
	h := traytest.NewHost(t, address)
	c := startChild(t, address, snapshot())
	waitFor(t, "a word about the missing host", func() bool { return strings.Contains(c.said(), "no place for tray icons") })
	h.Appear(t)
	h.AwaitItem(t)
	h.Vanish(t)
	h.Appear(t)
	h.AwaitItem(t)
	if n := strings.Count(c.said(), "no place for tray icons"); n != 1 {
		t.Errorf("said %d times that there is no place", n)
	}
}

func TestForgottenItemRegistersAgain(t *testing.T) {
	address, _ := traytest.StartBus(t)
	h := traytest.NewHost(t, address)
	h.Forget()
	h.Appear(t)
	startChild(t, address, snapshot())
	if first, again := h.AwaitItem(t), h.AwaitItem(t); first != again {
		t.Errorf("registered as %s, then %s", first, again)
	}
}

func TestHostListsAnItem(t *testing.T) {
	names := []string{":1.4", "org.kde.StatusNotifierItem-7-1"}
	for item, want := range map[string]bool{
		":1.4/StatusNotifierItem": true, ":1.4@/StatusNotifierItem": true, "org.kde.StatusNotifierItem-7-1": true, ":1.42/StatusNotifierItem": false, "org.kde.StatusNotifierItem-7-12": false,
	} {
		if got := lists([]string{":1.3/StatusNotifierItem", item}, names); got != want {
			t.Errorf("%s: %v", item, got)
		}
	}
}

// A panic of the menu is not the end of the session.
func TestPanicIsNotTheEndOfTheBus(t *testing.T) {
	_, c, _ := served(t, snapshot())
	broken := snapshot()
	broken.Recent = make([]monitor.Event, monitor.RecentEvents+1) // for which there is no room
	c.send(t, broken)
	if code := c.ends(t); code != 2 || !strings.Contains(c.said(), "panic") {
		t.Errorf("exit status %d, want 2", code)
	}
}

func TestNoBus(t *testing.T) {
	dir := t.TempDir()
	cases := map[string]string{"missing": "unix:path=" + filepath.Join(dir, "none"), "nonsense": "what"}
	for name, address := range cases {
		t.Run(name, func(t *testing.T) {
			t.Setenv("DBUS_SESSION_BUS_ADDRESS", address)
			if err := available(); err == nil || !strings.Contains(err.Error(), "no session bus") {
				t.Errorf("available: %v", err)
			}
			if code := startChild(t, address, snapshot()).ends(t); code != 3 {
				t.Errorf("exit status %d, want 3", code)
			}
		})
	}
}

func TestBusThatDoesNotAnswer(t *testing.T) {
	dir, err := os.MkdirTemp("", "bus")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	mute, err := net.Listen("unix", filepath.Join(dir, "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer mute.Close()
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path="+filepath.Join(dir, "s"))
	if err := available(); !errors.Is(err, ErrNoBus) || !strings.Contains(err.Error(), "the session bus does not answer within 3 s") {
		t.Errorf("available: %v", err)
	}
}

func TestBusDies(t *testing.T) {
	address, kill := traytest.StartBus(t)
	h := traytest.NewHost(t, address)
	h.Appear(t)
	c := startChild(t, address, states())
	h.AwaitItem(t)
	kill()
	if code := c.ends(t); code != 4 {
		t.Errorf("exit status %d, want 4", code)
	}
	if strings.Contains(c.said(), "panic") {
		t.Error("it panicked")
	}
}

// A panel may call at any moment, also while the tray is ending.
func TestEndsWhileThePanelCalls(t *testing.T) {
	for range 8 {
		h, c, sender := served(t, states())
		menu := h.Conn.Object(sender, menuPath)
		waitFor(t, "the menu", func() bool { return strings.Contains(h.Labels(t, sender), "Quit") })
		quit := h.Find(t, sender, "Quit").ID
		for i := range 400 {
			if i == 200 {
				menu.Call(menuIface+".Event", dbus.FlagNoReplyExpected, quit, "clicked", dbus.MakeVariant(int32(0)), uint32(0))
			}
			menu.Call(menuIface+".AboutToShow", dbus.FlagNoReplyExpected, int32(0))
		}
		if code := c.ends(t); code != 0 {
			t.Fatalf("exit status %d: %s", code, c.said())
		}
	}
}

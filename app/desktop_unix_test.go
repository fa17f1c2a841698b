//go:build unix && !darwin

package main

import (
	"slices"
	"strings"
	"syscall"
	"testing"

	"lamplighter/app/apptest"
	"lamplighter/tray/traytest"
)

func TestEndsCleanlyOnADesktop(t *testing.T) {
	h := newHome(t)
	address, _ := traytest.StartBus(t)
	h.env = append(h.env, "DBUS_SESSION_BUS_ADDRESS="+address)
	p := h.background(t)
	p.signal(t, syscall.SIGTERM)
	if got := p.status(t); got != 0 || strings.Contains(p.err.String(), "headless") {
		t.Errorf("%d, said %q", got, p.err.String())
	}
	if log := h.log(t); strings.Contains(log, "in time") || !strings.Contains(log, "msg=stopped") {
		t.Errorf("not clean: %s", log)
	}
}

// A background process that outlived its session would hold the lock, and the
// next session would get no icon.
func TestEndsWithItsSession(t *testing.T) {
	h := newHome(t)
	plain := h.env
	session := func() (run *process, logout func()) {
		address, kill := traytest.StartBus(t)
		h.env = append(slices.Clip(plain), "DBUS_SESSION_BUS_ADDRESS="+address)
		panel := traytest.NewHost(t, address)
		panel.Appear(t)
		run = h.background(t, "run")
		sender := panel.AwaitItem(t)
		apptest.Eventually(t, "the menu is there", func() bool { return strings.Contains(panel.Labels(t, sender), "Quit Lamplighter") })
		return run, kill
	}
	for range 2 {
		run, logout := session()
		logout()
		if got := run.status(t); got != 0 || run.err.String() != "" {
			t.Errorf("exit status %d, said %q", got, run.err.String())
		}
	}
	log := h.log(t)
	if strings.Contains(log, "in time") || strings.Count(log, "msg=stopped") != 2 {
		t.Errorf("not clean: %s", log)
	}
}

// The user of a desktop that shows no tray icons would look for one in vain.
func TestSaysThatTheDesktopShowsNoIcons(t *testing.T) {
	h := newHome(t)
	address, _ := traytest.StartBus(t)
	h.env = append(h.env, "DBUS_SESSION_BUS_ADDRESS="+address)
	p := h.background(t)
	const want = "lamplighter: this desktop has no place for tray icons now"
	apptest.Eventually(t, "it says so", func() bool { return strings.Contains(p.err.String(), want) })
	panel := traytest.NewHost(t, address)
	panel.Appear(t)
	panel.AwaitItem(t)
	p.signal(t, syscall.SIGTERM)
	if got := p.status(t); got != 0 || strings.Count(p.err.String(), "\n") != 1 {
		t.Errorf("%d, said %q", got, p.err.String())
	}
	apptest.Contains(t, h.log(t), "this desktop has no place for tray icons now")
}

// Without a session from the beginning nothing ends.
func TestAHeadlessOneHasNoSession(t *testing.T) {
	h := newHome(t)
	h.env = append(h.env, "DBUS_SESSION_BUS_ADDRESS=unix:path="+h.path("none"))
	p := h.background(t)
	apptest.Eventually(t, "it says so", func() bool { return strings.Contains(p.err.String(), "headless") })
	if status, _, said := h.does(t, "run"); status != 0 || !strings.Contains(said, "it already runs "+pidOf(p)) {
		t.Errorf("%d, %q", status, said)
	}
}

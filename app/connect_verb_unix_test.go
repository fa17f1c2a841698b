//go:build unix

package main

import (
	"net"
	"path/filepath"
	"strings"
	"testing"

	"lamplighter/app/apptest"
)

// takesClients waits until lamplighter listens on the share socket, which it does
// some time after it listens on the control socket.
func (h *home) takesClients(t *testing.T) {
	t.Helper()
	apptest.Eventually(t, "clients can connect", func() bool {
		conn, err := net.Dial("unix", filepath.Join(filepath.Dir(h.socket()), "share.sock"))
		if err == nil {
			conn.Close()
		}
		return err == nil
	})
}

// The verb becomes lamplighter-connect, with the place of the socket and the
// words of the command as they are.
func TestConnectVerb(t *testing.T) {
	h := newHome(t)
	socket := filepath.Join(filepath.Dir(h.socket()), "share.sock")
	status, out, errs := h.does(t, "connect", "--", "/bin/echo", "never")
	if status != 69 || out != "" {
		t.Errorf("without lamplighter: %d, %q, %q", status, out, errs)
	}
	apptest.Contains(t, errs, "lamplighter-connect: ", socket, "--or-direct")

	status, out, errs = h.does(t, "connect", "--or-direct", "--web-dashboard-global-port", "3000", "--", "/bin/echo", "a  b", "--or-direct", "--")
	if status != 0 || out != "a  b --or-direct --\n" || !strings.Contains(errs, "lamplighter-connect: ") {
		t.Errorf("with --or-direct: %d, %q, %q", status, out, errs)
	}
	if status, _, errs = h.does(t, "connect", "--or-direct", "--", "/bin/sh", "-c", "exit 7"); status != 7 {
		t.Errorf("its status is not that of the command: %d, %q", status, errs)
	}
}

// What a client was started with counts until lamplighter ends, and others are
// told of it.
func TestFlagsOfClients(t *testing.T) {
	h := newHome(t)
	h.background(t)
	h.takesClients(t)
	direct := func(port string) string {
		t.Helper()
		// A command that cannot be shared, so that it runs here.
		status, out, errs := h.does(t, "connect", "--web-dashboard-global-port="+port, "--", "/bin/echo", "alone")
		if status != 0 || out != "alone\n" {
			t.Errorf("%d, %q, %q", status, out, errs)
		}
		return errs
	}
	apptest.Contains(t, direct("25301"), "--web-dashboard-global-port=25301: the global dashboard is served there now")
	if said := direct("25301"); strings.Contains(said, "25301") {
		t.Errorf("who wants what holds is told %q", said)
	}
	apptest.Contains(t, direct("25302"), "--web-dashboard-global-port=25302 is not used: this lamplighter runs with 25301; the first wins")
	apptest.Eventually(t, "the page is served where the first client wants it", func() bool {
		conn, err := net.Dial("tcp", "127.0.0.1:25301")
		if err == nil {
			conn.Close()
		}
		return err == nil
	})
}

//go:build unix

package api

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	"lamplighter/app/apptest"
	"lamplighter/monitor/stop"
)

// Another user may send an order and break the connection off before anybody has
// looked whose it is: its address is then free for the next program of ours that
// connects. What was sent is not ours by that. On Windows nothing can be read after
// a reset.
func TestAddressOfAConnectionThatWasReset(t *testing.T) {
	l := &ladder{result: stop.Result{Outcome: stop.Ended}}
	m := newModel()
	m.set(snapshot(instance(7, "alpha")))
	p := parts(m, shower{})
	p.Stop = l
	var armed atomic.Bool
	sent, ours := make(chan *net.TCPConn, 1), make(chan net.Conn, 1)
	s := serveWeb(t, Handler(p), func(w *Web) {
		real := w.ours
		w.ours = func(local, remote netip.AddrPort) (bool, error) {
			if armed.CompareAndSwap(true, false) {
				theirs := <-sent
				if err := errors.Join(theirs.SetLinger(0), theirs.Close()); err != nil {
					t.Error(err)
				}
				dialer := net.Dialer{LocalAddr: net.TCPAddrFromAddrPort(remote)}
				apptest.Eventually(t, "a program of ours has the address", func() bool {
					conn, err := dialer.Dial("tcp4", local.String())
					if err == nil {
						ours <- conn
					}
					return err == nil
				})
			}
			return real(local, remote)
		}
	})
	address := s.at(t)
	armed.Store(true)
	theirs := connect(t, address)
	if _, err := fmt.Fprintf(theirs, "POST /global-dashboard/instance/7/kill HTTP/1.1\r\nHost: %s\r\n\r\n", address); err != nil {
		t.Fatal(err)
	}
	sent <- theirs.(*net.TCPConn)
	defer (<-ours).Close()
	apptest.Eventually(t, "it was refused", func() bool { return strings.Contains(s.log.String(), "has broken the connection off") })
	if resp, _ := s.send(t, get("/health")); resp.StatusCode != 200 || len(l.orders) != 0 {
		t.Errorf("%d; %d orders", resp.StatusCode, len(l.orders))
	}
}

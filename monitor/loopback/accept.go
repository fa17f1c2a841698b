package loopback

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
)

// mostChecks is how many connections to one address are asked about at once.
const mostChecks = 4

// Listener accepts connections that are welcome. Each is asked about before anybody
// reads from it, so that nothing that somebody else sends, or does not send, keeps
// ours out.
//
// The questions are asked beside Accept, few at once. While those few are at
// work the rest waits in the system's queue, in its order.
type Listener struct {
	inner   []net.Listener
	welcome func(net.Conn) (net.Conn, error)
	refused func(error)

	passed chan accepted
	closed chan struct{}
	close  func() error
	work   sync.WaitGroup
}

type accepted struct {
	conn net.Conn
	err  error
}

// Guard puts a Listener before others. Closing it closes them.
//
// welcome decides about a connection that was just opened, before anything
// is read. It returns the connection to go on with, or the reason why it is
// to be closed, which refused is told. Several may be asked about, and told, at once.
func Guard(inner []net.Listener, welcome func(net.Conn) (net.Conn, error), refused func(error)) *Listener {
	l := &Listener{inner: inner, welcome: welcome, refused: refused, passed: make(chan accepted), closed: make(chan struct{})}
	l.close = sync.OnceValue(func() error {
		close(l.closed)
		var failed error
		for _, one := range inner {
			failed = errors.Join(failed, one.Close())
		}
		return failed
	})
	for _, one := range inner {
		l.work.Go(func() { l.acceptFrom(one) })
	}
	return l
}

// acceptFrom takes connections from the system until the listener is closed.
func (l *Listener) acceptFrom(inner net.Listener) {
	asking := make(chan struct{}, mostChecks) // one for each question that is asked
	for {
		select {
		case asking <- struct{}{}:
		case <-l.closed:
			return
		}
		conn, err := inner.Accept()
		if err != nil {
			<-asking
			if !l.pass(accepted{err: err}) {
				return
			}
			continue // Accept is called again only if that may help
		}
		l.work.Go(func() {
			welcome, err := l.welcome(conn)
			if err == nil && severed(conn) {
				err = errSevered
			}
			<-asking
			if err != nil {
				_ = conn.Close() // whoever it is will see it
				l.refused(err)
				return
			}
			l.pass(accepted{conn: welcome})
		})
	}
}

// errSevered is why a connection is closed about which nothing is known.
//
// Its other end has reset it. What that has sent can be read all the same, and
// its address was free from then on: who had it when welcome looked may be
// another user's program that came later, or one of ours, whose port is easily
// foreseen.
var errSevered = errors.New("who connected has broken the connection off")

// pass gives something to Accept, unless nobody takes it any more.
func (l *Listener) pass(a accepted) bool {
	select {
	case l.passed <- a:
		return true
	case <-l.closed:
		if a.conn != nil {
			_ = a.conn.Close()
		}
		return false
	}
}

// Accept returns the next connection that is welcome, as welcome has returned it.
func (l *Listener) Accept() (net.Conn, error) {
	select {
	case a := <-l.passed:
		return a.conn, a.err
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close gives the port back; it may be called more than once. Connections that
// Accept has returned stay open.
func (l *Listener) Close() error { return l.close() }

// Addr is the address of the first listener.
func (l *Listener) Addr() net.Addr { return l.inner[0].Addr() }

// Wait returns when nothing of a closed listener is at work any more.
func (l *Listener) Wait() { l.work.Wait() }

// Ends are the addresses of a connection's two ends, ours first.
func Ends(conn net.Conn) (local, remote netip.AddrPort, err error) {
	if local, err = netip.ParseAddrPort(conn.LocalAddr().String()); err == nil {
		remote, err = netip.ParseAddrPort(conn.RemoteAddr().String())
	}
	if err != nil {
		err = fmt.Errorf("a connection has no addresses of TCP: %w", err)
	}
	return local, remote, err
}

package loopback

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
)

// Options of a Listener. All fields are needed.
type Options struct {
	// Welcome decides about a connection that was just opened, before anything
	// is read. It returns the connection to go on with, or the reason why it is
	// to be closed. Several may be asked about at once.
	Welcome func(net.Conn) (net.Conn, error)
	// Refused is told why, for each that is closed: Welcome refuses it, or too
	// many are open. Several may be told at once.
	Refused func(error)
	// Connections is how many may be open at once; more are closed.
	Connections int
	// Checks is how many may be asked about at once.
	Checks int
}

// Listener accepts connections that are welcome, a few at a time. Each is asked
// about before it takes a place, so that nothing that somebody else sends, or
// does not send, keeps ours out.
//
// The questions are asked beside Accept, few at once. While those few are at
// work the rest waits in the system's queue, in its order.
type Listener struct {
	net.Listener
	options Options

	passed chan net.Conn
	failed chan error
	places chan struct{} // one for each connection that is open
	asking chan struct{} // one for each question that is asked
	closed chan struct{}
	once   sync.Once
	work   sync.WaitGroup
}

// Guard puts a Listener before l. Closing it closes l.
func Guard(l net.Listener, o Options) *Listener {
	guarded := &Listener{
		Listener: l,
		options:  o,
		passed:   make(chan net.Conn),
		failed:   make(chan error),
		places:   make(chan struct{}, o.Connections),
		asking:   make(chan struct{}, o.Checks),
		closed:   make(chan struct{}),
	}
	guarded.work.Go(guarded.accept)
	return guarded
}

// accept takes connections from the system until the listener is closed.
func (l *Listener) accept() {
	for {
		select {
		case l.asking <- struct{}{}:
		case <-l.closed:
			return
		}
		conn, err := l.Listener.Accept()
		if err != nil {
			<-l.asking
			select {
			case l.failed <- err:
				continue // Accept is called again only if that may help
			case <-l.closed:
				return
			}
		}
		l.work.Go(func() {
			welcome, err := l.options.Welcome(conn)
			if err == nil && severed(conn) {
				err = errSevered
			}
			if err == nil {
				<-l.asking
				l.hand(welcome)
				return
			}
			_ = conn.Close() // whoever it is will see it
			<-l.asking
			l.options.Refused(err)
		})
	}
}

// errSevered is why a connection is closed about which nothing is known.
//
// Its other end has reset it. What that has sent can be read all the same, and
// its address was free from then on: who had it when Welcome looked may be
// another user's program that came later, or one of ours, whose port is easily
// foreseen.
var errSevered = errors.New("who connected has broken the connection off")

// hand gives a connection to Accept, if there is a place for it.
func (l *Listener) hand(conn net.Conn) {
	select {
	case l.places <- struct{}{}:
	default:
		_ = conn.Close()
		l.options.Refused(fmt.Errorf("%d connections are open, which is the most", cap(l.places)))
		return
	}
	placed := &Conn{Conn: conn, places: l.places}
	select {
	case l.passed <- placed:
	case <-l.closed:
		_ = placed.Close()
	}
}

// Accept returns the next connection that is welcome, as a *Conn.
func (l *Listener) Accept() (net.Conn, error) {
	select {
	case conn := <-l.passed:
		return conn, nil
	case err := <-l.failed:
		return nil, err
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close gives the port back. Connections that Accept has returned stay open.
func (l *Listener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

// Wait returns when nothing of a closed listener is at work any more.
func (l *Listener) Wait() { l.work.Wait() }

// Conn is a connection of a Listener. It gives its place back when it is
// closed.
type Conn struct {
	net.Conn
	places chan struct{}
	once   sync.Once
}

// Close closes the connection; it may be called more than once.
func (c *Conn) Close() error {
	c.once.Do(func() { <-c.places })
	return c.Conn.Close()
}

// NetConn is what Welcome returned.
func (c *Conn) NetConn() net.Conn { return c.Conn }

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

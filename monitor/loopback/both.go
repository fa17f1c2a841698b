package loopback

import (
	"context"
	"errors"
	"net"
	"sync"
)

// triesForBoth is how many free ports of 127.0.0.1 are tried until one is free
// at [::1] too.
const triesForBoth = 8

// ListenBoth takes a port of 127.0.0.1 and of [::1], if nobody has either; 0
// means any that is free at both. A browser that is sent to localhost asks at
// one and, if nobody answers, at the other: whoever had only one of them would
// share our origin. Where the system has no [::1] nobody else has it either,
// and 127.0.0.1 is taken alone.
//
// Addr of the listener is the one at 127.0.0.1.
func ListenBoth(ctx context.Context, port int) (net.Listener, error) {
	for try := 1; ; try++ {
		four, err := Listen(ctx, port)
		if err != nil {
			return nil, err
		}
		six, err := take(ctx, "tcp6", "::1", four.Addr().(*net.TCPAddr).Port)
		switch {
		case err == nil:
			return join(four, six), nil
		case errors.Is(err, errNoFamily) || errors.Is(err, errNoAddress):
			return four, nil
		}
		if failed := four.Close(); failed != nil || port != 0 || try == triesForBoth || !Taken(err) {
			return nil, errors.Join(err, failed)
		}
	}
}

// joined are several listeners as one. Its address is that of the first.
type joined struct {
	all      []net.Listener
	accepted chan accepted
	closed   chan struct{}
	work     sync.WaitGroup
	close    func() error
}

type accepted struct {
	conn net.Conn
	err  error
}

func join(all ...net.Listener) *joined {
	j := &joined{all: all, accepted: make(chan accepted), closed: make(chan struct{})}
	j.close = sync.OnceValue(func() error {
		close(j.closed)
		var failed error
		for _, l := range j.all {
			failed = errors.Join(failed, l.Close())
		}
		j.work.Wait()
		return failed
	})
	for _, l := range all {
		j.work.Go(func() { j.accept(l) })
	}
	return j
}

func (j *joined) accept(l net.Listener) {
	for {
		conn, err := l.Accept()
		select {
		case j.accepted <- accepted{conn, err}: // Accept is called again only if that may help
		case <-j.closed:
			if err == nil {
				_ = conn.Close() // nobody takes it any more
			}
			return
		}
	}
}

// Accept returns the next connection to any of them, or what one fails with.
func (j *joined) Accept() (net.Conn, error) {
	select {
	case a := <-j.accepted:
		return a.conn, a.err
	case <-j.closed:
		return nil, net.ErrClosed
	}
}

// Close closes all of them; it may be called more than once.
func (j *joined) Close() error { return j.close() }

// Addr is the address of the first.
func (j *joined) Addr() net.Addr { return j.all[0].Addr() }

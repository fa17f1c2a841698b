// Package loopback serves a TCP port of the loopback interface for one user. Any user of the
// machine can connect to such a port, and on some systems take it away from the
// one who has it.
//
// Who is let in is decided by those who use this package, usually by
// process.PeerIsOurs, and what requests may do by the guards of their servers.
package loopback

import (
	"context"
	"errors"
	"fmt"
	"net"
	"runtime"
	"strconv"
	"time"
)

// tries is how many free ports of 127.0.0.1 are tried until one is free at [::1]
// too.
const tries = 8

// Listen takes a port of 127.0.0.1 and of [::1], if nobody has either, so that nobody
// else can have them; 0 means any that is free at both. A browser that is sent to
// localhost asks at one and, if nobody answers, at the other: whoever had only one of
// them would share our origin. Where the system has no [::1] nobody else has it
// either, and 127.0.0.1 is taken alone. It is the first of the listeners.
func Listen(ctx context.Context, port int) ([]net.Listener, error) {
	for try := 1; ; try++ {
		four, err := take(ctx, "tcp4", "127.0.0.1", port)
		if err != nil {
			return nil, err
		}
		six, err := take(ctx, "tcp6", "::1", four.Addr().(*net.TCPAddr).Port)
		switch {
		case err == nil:
			return []net.Listener{four, six}, nil
		case errors.Is(err, errNoFamily) || errors.Is(err, errNoAddress):
			return []net.Listener{four}, nil
		}
		if failed := four.Close(); failed != nil || port != 0 || try == tries || !Taken(err) {
			return nil, errors.Join(err, failed)
		}
	}
}

func take(ctx context.Context, network, host string, port int) (net.Listener, error) {
	address := net.JoinHostPort(host, strconv.Itoa(port))
	if runtime.GOOS == "darwin" && port != 0 {
		// There, one who listens on all interfaces does not keep us from
		// taking the more exact address away from him.
		dialer := net.Dialer{Timeout: time.Second}
		if conn, err := dialer.DialContext(ctx, network, address); err == nil {
			return nil, errors.Join(fmt.Errorf("%w: somebody answers on %s", errTaken, address), conn.Close())
		}
	}
	config := net.ListenConfig{Control: exclusive}
	return config.Listen(ctx, network, address)
}

// Taken reports whether an error of Listen says that somebody has the port.
func Taken(err error) bool { return errors.Is(err, errTaken) }

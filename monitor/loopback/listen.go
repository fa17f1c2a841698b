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

// Listen takes a port of 127.0.0.1 if nobody has it, so that nobody else can
// have it either; 0 means any that is free.
func Listen(ctx context.Context, port int) (net.Listener, error) {
	return take(ctx, "tcp4", "127.0.0.1", port)
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

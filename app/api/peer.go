package api

import (
	"context"
	"errors"
	"net"

	"lamplighter/app/socket"
)

// peerKey finds the peer of a connection in the context of its requests.
type peerKey struct{}

// peer is the other end of a connection.
type peer interface {
	// askers are the processes that hold it, in our own counting of processes
	// and by the system's word; none for one that is not on this system. The
	// error says that they cannot be told.
	askers() ([]int, error)
}

// socketPeer is the process that connected to the control socket, 0 when it
// cannot be told.
type socketPeer int

func (p socketPeer) askers() ([]int, error) {
	if p <= 0 {
		return nil, errUnseen
	}
	return []int{int(p)}, nil
}

var errUnseen = errors.New("who asks cannot be seen")

// withPeer is the ConnContext of the server of the control socket.
func withPeer(ctx context.Context, conn net.Conn) context.Context {
	pid, err := socket.PeerPID(conn)
	if err != nil {
		pid = 0
	}
	return context.WithValue(ctx, peerKey{}, socketPeer(pid))
}

// peerOf is who sent a request, and whether it came over a connection that
// tells.
func peerOf(ctx context.Context) (peer, bool) {
	p, ok := ctx.Value(peerKey{}).(peer)
	return p, ok
}

// webConnOf is the connection of a request that came by TCP.
func webConnOf(ctx context.Context) (*webConn, bool) {
	c, ok := ctx.Value(peerKey{}).(*webConn)
	return c, ok
}

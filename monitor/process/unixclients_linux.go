package process

import (
	"errors"
	"slices"

	"lamplighter/monitor"
)

// HasUnixClients tells whether clients may have come to a server, or may still
// come, over unix sockets. servers are the processes whose sockets count: one of
// them listens on such a socket, in the file system or abstract, takes datagrams
// under a name, or holds a connection that it has accepted and whose other end
// none of tree has. Pairs without a name and connections to services are nobody's
// way in.
//
// Processes that have ended hold nothing. The error is fs.ErrPermission when one
// of servers may not be looked at, errors.ErrUnsupported where the kernel does not
// tell about its sockets. With an error nothing is known.
func HasUnixClients(servers, tree []monitor.Identity) (bool, error) {
	var sockets unixSockets
	defer sockets.close()
	var own []end // of the tree, read when it matters
	inTree := false
	var unknown error
	for _, id := range servers {
		held, blind, err := socketsOf(id, &sockets)
		if err != nil {
			return false, err
		}
		if blind != nil {
			unknown = blind
		}
		for _, s := range held {
			if s.takesClients() {
				return true, nil
			}
			if !s.accepted() {
				continue
			}
			if !inTree {
				inTree, own = true, endsOf(tree)
			}
			if !slices.ContainsFunc(own, func(e end) bool { return e.kind == SocketPair && e.inode == uint64(s.peer) }) {
				return true, nil
			}
		}
	}
	return false, unknown
}

// takesClients tells a socket by which anybody may reach who holds it.
func (s unixSocket) takesClients() bool { return s.listens || s.datagram && s.named && !s.paired }

// accepted tells a connection to a socket that has a name, of which somebody
// still has the other end. One that was bound before it connected looks the same.
func (s unixSocket) accepted() bool { return s.named && s.paired && s.peer != 0 && !s.datagram }

// socketsOf lists the unix sockets of a process. blind says that it has others
// about which the kernel does not tell us.
func socketsOf(id monitor.Identity, sockets *unixSockets) (held []unixSocket, blind, err error) {
	o, err := system().openAs(id)
	if errors.Is(err, ErrGone) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	defer o.close()
	ends, err := o.ends()
	if errors.Is(err, ErrGone) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	foreign := false // of another kind, or of another network namespace
	for _, e := range ends {
		if e.kind != SocketPair {
			continue
		}
		s, ok, err := sockets.lookup(e.inode)
		if err != nil {
			return nil, nil, err
		}
		if ok {
			held = append(held, s)
		}
		foreign = foreign || !ok
	}
	if foreign {
		blind = o.sameNetwork()
	}
	return held, blind, nil
}

// endsOf lists the ends of all of these processes that we may look at.
func endsOf(tree []monitor.Identity) []end {
	var all []end
	for _, id := range tree {
		o, err := system().openAs(id)
		if err != nil {
			continue
		}
		ends, err := o.ends()
		o.close()
		if err == nil {
			all = append(all, ends...)
		}
	}
	return all
}

package process

import (
	"slices"

	"lamplighter/monitor"
)

// Abandoned tells whether a server seems to have lost a client that was never
// seen, so that no link was recorded. It is meant for servers that speak MCP
// over standard input and output: one that listens has no client link, and the
// question means nothing. It is a suspicion, no evidence: a language server
// that has died leaves the same picture as a client.
//
//   - Descriptors 0 and 1 are pipes or socket pairs: they are the conversation,
//     and both must be closed at the other end.
//   - Descriptor 0 is the null device, or only descriptor 1 is no end: the
//     server may have moved its ends, and they cannot be told from others. So
//     every pipe and socket pair that it has in the direction that is missing
//     must be closed at the other end, at least one in each direction.
//     Those that a living descendant has the other end of do not count (a
//     language server that runs), nor do its own, standard error and
//     connections to services that have a name. An end that it has inherited
//     from who knows where and that is open keeps the answer false.
//   - Descriptor 0 is a terminal, a file or anything else: never.
//
// The error is ErrGone when the server has ended, fs.ErrPermission when it may
// not be looked at.
func Abandoned(server monitor.Identity) (bool, error) {
	return lookAt(server, func(o opened, sockets *unixSockets) (bool, error) { return o.abandoned(server, sockets) })
}

func (o opened) abandoned(server monitor.Identity, sockets *unixSockets) (bool, error) {
	s, err := o.streams()
	if err != nil || len(s.in) == 0 || len(s.out) == 0 {
		return false, err
	}
	if s.moved || s.sockets() {
		// A socket that we cannot ask about may be the client's.
		if err := o.sameNetwork(); err != nil {
			return false, err
		}
	}
	var tree []end // of the descendants, read when it matters
	inTree := false
	count := func(list []end) (deserted []end, open bool, err error) {
		for _, e := range list {
			state, err := o.state(e, s.all, sockets)
			if err != nil {
				return nil, false, err
			}
			switch state {
			case endClosed:
				deserted = append(deserted, e)
			case endOpen:
				if !s.moved {
					return nil, true, nil
				}
				if !inTree {
					inTree = true
					if tree, err = descendantEnds(server); err != nil {
						return nil, false, err
					}
				}
				ours, err := withDescendant(e, tree, sockets)
				if !ours || err != nil {
					return nil, true, err
				}
			}
		}
		return deserted, false, nil
	}
	in, open, err := count(s.in)
	if open || err != nil {
		return false, err
	}
	out, open, err := count(s.out)
	if open || err != nil {
		return false, err
	}
	return aPair(in, out, s.shared), nil
}

// aPair tells whether two different ends make a conversation, or one socket
// where it is known to serve both ways.
func aPair(in, out []end, shared bool) bool {
	for _, a := range in {
		for _, b := range out {
			if shared || a.kind != b.kind || a.inode != b.inode {
				return true
			}
		}
	}
	return false
}

// endState is what the other end of a pipe or socket tells.
type endState int

const (
	endNone   endState = iota // nobody's: a listening or internet socket, a service, the process's own
	endOpen                   // somebody holds it
	endClosed                 // everybody has closed it
)

func (o opened) state(e end, all []end, sockets *unixSockets) (endState, error) {
	if e.kind == Pipe {
		closed, err := o.deserted(e)
		if closed {
			return endClosed, err
		}
		return endOpen, err
	}
	s, ok, err := sockets.pair(e.inode)
	if !ok || err != nil {
		return endNone, err
	}
	if s.closed() {
		return endClosed, nil
	}
	if slices.ContainsFunc(all, func(o end) bool { return o.kind == SocketPair && o.inode == uint64(s.peer) }) {
		return endNone, nil
	}
	peer, ok, err := sockets.lookup(uint64(s.peer))
	if ok && peer.named {
		return endNone, nil
	}
	return endOpen, err
}

// withDescendant tells whether a descendant has the other end.
func withDescendant(e end, tree []end, sockets *unixSockets) (bool, error) {
	if e.kind == Pipe {
		return slices.ContainsFunc(tree, func(o end) bool {
			return o.kind == Pipe && o.inode == e.inode && o.access != e.access
		}), nil
	}
	s, ok, err := sockets.lookup(e.inode)
	return ok && slices.ContainsFunc(tree, func(o end) bool {
		return o.kind == SocketPair && o.inode == uint64(s.peer)
	}), err
}

// descendantEnds lists the ends of all descendants that we may look at.
func descendantEnds(server monitor.Identity) ([]end, error) {
	tree, err := Tree(server)
	if err != nil {
		return nil, err
	}
	var all []end
	for _, p := range tree[1:] {
		o, err := system().openAs(p.Identity)
		if err != nil {
			continue
		}
		ends, err := o.ends()
		o.close()
		if err == nil {
			all = append(all, ends...)
		}
	}
	return all, nil
}

package process

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"golang.org/x/sys/unix"

	"lamplighter/monitor"
)

// maxAbove is how far above a supposed client its link is looked for.
const maxAbove = 3

// Holder finds who holds the other ends of the conversation over standard
// input and output of a server: the process that is thought to be its client
// or, where that is a script of the user's which handed its own ends down, one
// of the nearest above it; false when none of them does.
//
// A link is a pipe that the server reads and the holder writes and another one
// the other way, or pairs of unix sockets, or one of each. Standard error,
// named pipes, terminals, files and sockets of other kinds are none. The
// server's standard streams count where they are; a server whose standard input
// is the null device may have moved its ends to any descriptor.
//
// The error is ErrGone when the server or the supposed client has ended,
// fs.ErrPermission when either may not be looked at. The search goes no further
// than what may be looked at above them.
func (e localEnds) Holder(client monitor.Identity) (holder Info, link monitor.Pipe, found bool, err error) {
	o, err := system().openAs(e.server)
	if err != nil {
		return Info{}, monitor.Pipe{}, false, err
	}
	defer o.close()
	own, err := o.streams()
	if err != nil {
		return Info{}, monitor.Pipe{}, false, err
	}
	candidate, err := Read(client.PID)
	if err == nil && candidate.Identity != client {
		err = gone(client.PID)
	}
	if err != nil {
		return Info{}, monitor.Pipe{}, false, err
	}
	if (len(own.in) == 0 || len(own.out) == 0) && !own.sockets() {
		return Info{}, monitor.Pipe{}, false, nil // so that none is read who may have thousands of descriptors
	}
	for above := 0; ; above++ {
		theirs, err := endsHeldBy(candidate.Identity)
		if above > 0 && (errors.Is(err, ErrGone) || errors.Is(err, fs.ErrPermission)) {
			break
		}
		if err == nil {
			link, found, err = own.linkWith(theirs)
		}
		if found || err != nil {
			return candidate, link, found, err
		}
		parent, err := Read(candidate.Parent)
		if above == maxAbove || err != nil || parent.Start > candidate.Start || Adopts(parent) {
			break
		}
		candidate = parent
	}
	if own.sockets() { // nothing may have been found because nothing is told
		err = knowsSockets(e.server.PID)
	}
	return Info{}, monitor.Pipe{}, false, err
}

// linkWith finds the link with a process that has theirs open.
func (s streams) linkWith(theirs []end) (monitor.Pipe, bool, error) {
	var met [2][]monitor.PipeEnd
	for direction, list := range [2][]end{s.in, s.out} {
		for _, e := range list {
			e, mayBeTheirs, err := e.withPeer(s.all)
			if err != nil {
				return monitor.Pipe{}, false, err
			}
			if mayBeTheirs && slices.ContainsFunc(theirs, e.faces) {
				met[direction] = append(met[direction], monitor.PipeEnd{Inode: e.inode, Peer: uint64(e.peer)})
			}
		}
	}
	for _, in := range met[0] {
		for _, out := range met[1] {
			if in != out || s.shared {
				return monitor.Pipe{In: in, Out: out}, true, nil
			}
		}
	}
	return monitor.Pipe{}, false, nil
}

// streams are the descriptors over which a server may talk to its client, the
// likeliest first.
type streams struct {
	in, out []end
	all     []end // every pipe and socket of the process
	moved   bool  // not both are at descriptors 0 and 1
	shared  bool  // one socket is both standard input and standard output
}

// sockets reports whether the client may be at the other end of a socket.
func (s streams) sockets() bool {
	isSocket := func(e end) bool { return e.socket }
	return slices.ContainsFunc(s.in, isSocket) || slices.ContainsFunc(s.out, isSocket)
}

// streams lists the ends that may belong to the client.
func (o opened) streams() (streams, error) {
	all, err := o.ends()
	if err != nil {
		return streams{}, err
	}
	input, err := o.link(0)
	if err != nil {
		return streams{}, err
	}
	return chooseStreams(all, input == "" || input == os.DevNull), nil
}

// chooseStreams decides which ends may belong to the client; null says that
// standard input is the null device or closed.
//
// Where descriptor 0 is an end it is the input, and the output may have been
// moved. Where it is the null device both may have been moved, unless descriptor
// 1 is an end still: then there never was an input. Anything else at descriptor
// 0 (a terminal, a file) is no client.
func chooseStreams(all []end, null bool) streams {
	s := streams{all: all}
	var standard [3]end // without an inode where it is no end
	for _, e := range all {
		if e.fd < len(standard) {
			standard[e.fd] = e
		}
	}
	in, out, errs := standard[0], standard[1], standard[2]
	same := func(a, b end) bool { return a.socket == b.socket && a.inode == b.inode }
	hasIn := in.inode != 0 && in.reads() && (in.socket || !in.writes())
	// Standard error is inherited and proves nothing, unless it is the one
	// socket that serves as everything.
	isErr := func(e end) bool { return same(e, errs) && !(hasIn && same(e, in)) }
	hasOut := out.inode != 0 && !isErr(out) && out.writes() && !selfTalk(out, all) && (out.socket || !out.reads())
	switch {
	case hasIn && hasOut:
		s.in, s.out, s.shared = []end{in}, []end{out}, same(in, out)
		return s
	case hasIn:
		s.in = []end{in}
	case !null || hasOut:
		return s
	}
	s.moved = true
	for _, e := range all {
		if isErr(e) || selfTalk(e, all) || !e.socket && e.access == unix.O_RDWR {
			continue
		}
		if !hasIn && e.reads() {
			s.in = append(s.in, e)
		}
		if e.writes() && !(hasIn && same(e, in)) {
			s.out = append(s.out, e)
		}
	}
	return s
}

// selfTalk reports whether a process has both ends of a pipe, to wake itself up.
func selfTalk(e end, all []end) bool { return slices.ContainsFunc(all, e.faces) }

// Closed reports whether both directions of a recorded link have been closed at
// the client's end by everybody who held it. It looks at the server's own ends,
// found by inode wherever they are, so it works while the server is suspended.
//
// A copy of the client's end that lives on elsewhere (a process that the client
// started and that inherited it) keeps the link open, as it keeps the server
// from noticing anything. Copies of the server's end do not.
//
// The error is ErrGone when the server has ended, fs.ErrPermission when it may
// not be looked at. It is ErrUnheld when the server has closed an end itself and
// the other direction is closed as well, by either side: then the link connects
// nobody any more. With another error nothing is known. One end that the server
// has closed says nothing about a client that still holds the other: that link is
// not closed.
func (e localEnds) Closed(l monitor.Pipe) (bool, error) {
	o, err := system().openAs(e.server)
	if err != nil {
		return false, err
	}
	defer o.close()
	all, err := o.ends()
	if err != nil {
		return false, err
	}
	in, errIn := o.over(l.In, all, unix.O_RDONLY)
	out, errOut := o.over(l.Out, all, unix.O_WRONLY)
	unheldIn, unheldOut := errors.Is(errIn, ErrUnheld), errors.Is(errOut, ErrUnheld)
	switch {
	case errIn != nil && !unheldIn:
		return false, errIn
	case errOut != nil && !unheldOut:
		return false, errOut
	case unheldIn && (out || unheldOut):
		return false, errIn
	case unheldOut && in:
		return false, errOut
	}
	return in && out, nil
}

// over reports whether one direction is closed at the other end.
func (o opened) over(l monitor.PipeEnd, all []end, access int) (bool, error) {
	socket := l.Peer != 0
	i := slices.IndexFunc(all, func(e end) bool {
		return e.socket == socket && e.inode == l.Inode && (socket || e.access == access)
	})
	if i < 0 {
		return false, fmt.Errorf("looking at end %d of the link of process %d: %w", l.Inode, o.pid, ErrUnheld)
	}
	if access == unix.O_WRONLY && selfTalk(all[i], all) {
		return false, nil // it reads the pipe itself, so there is a reader
	}
	if !socket {
		return o.deserted(all[i])
	}
	s, ok, err := unixSocketOf(l.Inode)
	if err != nil {
		return false, err
	}
	if !ok || s.peer != 0 && uint64(s.peer) != l.Peer {
		return false, fmt.Errorf("the kernel does not know socket %d of process %d as one of a pair: %w", l.Inode, o.pid, errors.ErrUnsupported)
	}
	return s.closed(), nil
}

// Abandoned reports whether a server seems to have lost a client that was never
// seen, so that no link was recorded. It is meant for servers that speak MCP
// over standard input and output: one that listens has no client link, and the
// question means nothing. It is a suspicion, no evidence: a language server
// that has died leaves the same picture as a client.
//
// Of what may be the conversation, at least one end in each direction must be
// closed at the other end, and none open: descriptors 0 and 1 where they are
// pipes or sockets, else all that may have been moved from there, see
// chooseStreams. An end that a living descendant holds does not count then (a
// language server that runs), nor do connections to services that have a name.
//
// The error is ErrGone when the server has ended, fs.ErrPermission when it may
// not be looked at.
func (e localEnds) Abandoned() (bool, error) {
	o, err := system().openAs(e.server)
	if err != nil {
		return false, err
	}
	defer o.close()
	s, err := o.streams()
	if err != nil || len(s.in) == 0 || len(s.out) == 0 {
		return false, err
	}
	if s.moved || s.sockets() {
		// A socket that we cannot ask about may be the client's.
		if err := knowsSockets(o.pid); err != nil {
			return false, err
		}
	}
	var below []end
	if s.moved {
		tree, err := Tree(e.server)
		if err != nil {
			return false, err
		}
		for _, p := range tree[1:] {
			ends, _ := endsHeldBy(p.Identity) // of those that we may look at
			below = append(below, ends...)
		}
	}
	for _, direction := range [][]end{s.in, s.out} {
		deserted := false
		for _, e := range direction {
			e, mayBeTheirs, err := e.withPeer(s.all)
			if err == nil && !e.socket {
				e.closed, err = o.deserted(e)
			}
			if err != nil || mayBeTheirs && !e.closed && !slices.ContainsFunc(below, e.faces) {
				return false, err
			}
			deserted = deserted || mayBeTheirs && e.closed
		}
		if !deserted {
			return false, nil
		}
	}
	return true, nil
}

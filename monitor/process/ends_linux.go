package process

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"

	"lamplighter/monitor"
)

// end is a descriptor through which a process may talk to another one. A link, which is
// the conversation of a server with its client over standard input and output
// (monitor.Pipe), is pipes where the client is in Python, Go or Rust, and pairs of unix
// stream sockets without a name where it is in node.
type end struct {
	fd     int
	socket bool // of any kind, until the kernel was asked; else it is a pipe
	inode  uint64
	access int // O_RDONLY, O_WRONLY or O_RDWR, as it was opened; sockets are O_RDWR

	// Of a socket, once the kernel was asked, see withPeer.
	peer   uint32 // inode of the other end, 0 when that is closed, not accepted yet or not known
	closed bool   // by everybody who held the other end
}

// faces reports whether another descriptor is of the other end.
func (e end) faces(o end) bool {
	if e.socket {
		return o.socket && o.inode == uint64(e.peer)
	}
	return !o.socket && o.inode == e.inode && o.access != e.access
}

// withPeer asks the kernel for the other end of a socket; false when no client can be
// there, all being the descriptors of the process. A peer with a name is a service that
// the process has connected to. What has both ends talks to itself, and so does a fork
// of it.
func (e end) withPeer(all []end) (_ end, ok bool, err error) {
	if !e.socket {
		return e, true, nil
	}
	s, known, err := unixSocketOf(e.inode)
	if err != nil || !known || !s.stream || !s.paired || s.named {
		return e, false, err
	}
	peer, known, err := unixSocketOf(uint64(s.peer))
	if e.closed = s.closed(); known {
		e.peer = peer.inode
	}
	return e, !peer.named && !slices.ContainsFunc(all, e.faces), err
}

func (e end) reads() bool  { return e.access != unix.O_WRONLY }
func (e end) writes() bool { return e.access != unix.O_RDONLY }

// errMoved says that a descriptor changed between two looks at it.
var errMoved = errors.New("its descriptors changed meanwhile")

// openAs holds a process, if it is still the one that is meant and runs.
func (p procfs) openAs(id monitor.Identity) (opened, error) {
	o, err := p.open(id.PID)
	if err != nil {
		return opened{}, err
	}
	s, err := o.stat()
	if err == nil && (s.Identity != id || s.State == Unreaped) {
		err = gone(id.PID)
	}
	if err != nil {
		o.close()
		return opened{}, err
	}
	return o, nil
}

// ends lists the sockets and the pipes without a name that a process has open, sorted by
// descriptor.
func (o opened) ends() (ends []end, err error) {
	held, err := openAt(o.dir, "fd", unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return nil, o.fs.failed("listing the descriptors of", o.pid, err)
	}
	defer unix.Close(held)
	err = links(held, func(fd int, socket bool, inode uint64) (failed error) {
		e := end{fd: fd, socket: socket, inode: inode, access: unix.O_RDWR}
		if !socket {
			e.access, failed = accessAt(held, fd)
		}
		if failed == nil {
			ends = append(ends, e)
		}
		return failed
	})
	if err == nil { // those of a process that has ended meanwhile are not closed, but unknown
		err = unix.Faccessat(o.dir, "fd", unix.F_OK, 0)
	}
	if err != nil {
		return nil, o.fs.failed("listing the descriptors of", o.pid, err)
	}
	return ends, nil
}

// links calls yield with each socket and each pipe without a name among the descriptors in a
// directory of them, in their order. One that was closed meanwhile is none.
func links(dir int, yield func(fd int, socket bool, inode uint64) error) error {
	var buf [1 << 10]byte
	fds, err := numbers(dir, buf[:])
	slices.Sort(fds)
	for _, fd := range fds {
		n, failed := unix.Readlinkat(dir, strconv.Itoa(fd), buf[:])
		if socket, inode, ok := parseEndLink(buf[:max(n, 0)]); failed == nil && ok {
			failed = yield(fd, socket, inode)
		}
		if err == nil && !errors.Is(failed, unix.ENOENT) {
			err = failed
		}
	}
	return err
}

// accessAt tells how the pipe of a descriptor was opened, by the mode of its link.
//
// Source: tid_fd_update_inode in fs/proc/fd.c of Linux; lsof relies on it, too.
func accessAt(dir, fd int) (int, error) {
	var st unix.Stat_t
	err := unix.Fstatat(dir, strconv.Itoa(fd), &st, unix.AT_SYMLINK_NOFOLLOW)
	switch st.Mode & (unix.S_IRUSR | unix.S_IWUSR) {
	case unix.S_IRUSR:
		return unix.O_RDONLY, err
	case unix.S_IWUSR:
		return unix.O_WRONLY, err
	}
	return unix.O_RDWR, err
}

// endsHeldBy is ends of a process that is still the one that is meant and runs.
func endsHeldBy(id monitor.Identity) ([]end, error) {
	o, err := system().openAs(id)
	if err != nil {
		return nil, err
	}
	defer o.close()
	return o.ends()
}

// parseEndLink reads what the link of a descriptor says: "pipe:[123]" or
// "socket:[123]"; false for anything else, named pipes included.
func parseEndLink(b []byte) (socket bool, inode uint64, ok bool) {
	rest, pipe := bytes.CutPrefix(b, []byte("pipe:["))
	if !pipe {
		rest, socket = bytes.CutPrefix(b, []byte("socket:["))
	}
	if !pipe && !socket {
		return false, 0, false
	}
	rest, closed := bytes.CutSuffix(rest, []byte("]"))
	inode, isNumber := number(string(rest))
	return socket, inode, closed && isNumber && inode != 0
}

// deserted reports whether nobody is left at the other end of a pipe: no writer
// where the process reads, no reader where it writes. Copies of the process's
// own end, in its wrappers and its children, make no difference.
//
// The pipe is opened anew for a moment, with the access that the descriptor has
// itself. Nothing is read, and an end that the process does not have is never
// opened: the writing end of a pipe that it reads would withhold its end of
// file, and a reading end that is held would hide the closed pipe from its
// client.
func (o opened) deserted(e end) (bool, error) {
	if e.socket || e.access == unix.O_RDWR {
		return false, fmt.Errorf("descriptor %d of process %d is no end of a pipe", e.fd, o.pid)
	}
	at, err := openAt(o.dir, "fd/"+strconv.Itoa(e.fd), unix.O_PATH)
	if errors.Is(err, unix.ENOENT) {
		return false, errMoved
	}
	if err != nil {
		return false, o.fs.failed("looking at a pipe of", o.pid, err)
	}
	defer unix.Close(at)
	// It may be any file by now, and the file system of one may never answer:
	// what the link says is known without asking it.
	itself := "/proc/self/fd/" + strconv.Itoa(at)
	var link [64]byte
	n, err := unix.Readlink(itself, link[:])
	if err != nil {
		return false, o.fs.failed("looking at a pipe of", o.pid, err)
	}
	if socket, inode, ok := parseEndLink(link[:n]); !ok || socket || inode != e.inode {
		return false, errMoved
	}
	fd, err := openAt(unix.AT_FDCWD, itself, e.access|unix.O_NONBLOCK)
	if err != nil {
		return false, fmt.Errorf("opening a pipe of process %d: %w", o.pid, err)
	}
	polled := []unix.PollFd{{Fd: int32(fd)}} // POLLHUP and POLLERR are always told
	_, err = retry(func() (int, error) { return unix.Poll(polled, 0) })
	unix.Close(fd)
	if err != nil {
		return false, os.NewSyscallError("poll", err)
	}
	if e.access == unix.O_RDONLY {
		return polled[0].Revents&unix.POLLHUP != 0, nil
	}
	return polled[0].Revents&unix.POLLERR != 0, nil
}

// link is what the kernel calls the open file behind a descriptor, "" when it is closed.
//
// The file system is not asked: it may be a network drive whose server is gone,
// and what asks such a one waits for ever.
func (o opened) link(fd int) (string, error) {
	link, err := o.readLink("fd/" + strconv.Itoa(fd))
	if errors.Is(err, unix.ENOENT) && unix.Faccessat(o.dir, "fd", unix.F_OK, 0) == nil {
		return "", nil
	}
	if err != nil {
		return "", o.fs.failed("looking at the descriptors of", o.pid, err)
	}
	return link, nil
}

// SameInput reports whether another process has the same standard input. A server
// that has the null device there where the wrapper has something else may have
// moved it to another descriptor.
func (e localEnds) SameInput(wrapper monitor.Identity) bool {
	s, err := system().openAs(e.server)
	if err != nil {
		return false
	}
	defer s.close()
	w, err := system().openAs(wrapper)
	if err != nil {
		return false
	}
	defer w.close()
	given, err := w.link(0)
	if given == "" || err != nil {
		return false
	}
	mine, err := s.link(0)
	switch {
	case err != nil:
		return false
	case mine == given:
		return true
	case mine != "" && mine != os.DevNull:
		return false
	}
	all, err := s.ends()
	if err != nil {
		return false
	}
	socket, inode, _ := parseEndLink([]byte(given))
	return slices.ContainsFunc(all, func(e end) bool { return e.fd > 2 && e.reads() && e.socket == socket && e.inode == inode })
}

// HasUnixClients reports whether clients may have come to a server, or may still
// come, over unix sockets: one of servers has such a socket with a name, in the
// file system or abstract. It listens there, takes datagrams, or was accepted
// there, and then whoever has the other end may be of tree and counts all the
// same. Pairs and connections to services have no name.
//
// Processes that have ended hold nothing. The error is fs.ErrPermission when one
// of servers may not be looked at, errors.ErrUnsupported where the kernel does not
// tell about its sockets. With an error nothing is known.
func (localEnds) HasUnixClients(servers []monitor.Identity) (bool, error) {
	var unknown error
	for _, id := range servers {
		ends, err := endsHeldBy(id)
		if err != nil && !errors.Is(err, ErrGone) {
			return false, err
		}
		for _, e := range ends {
			if !e.socket {
				continue
			}
			s, _, err := unixSocketOf(e.inode)
			if s.named || err != nil {
				return s.named, err
			}
			if unknown == nil {
				unknown = knowsSockets(id.PID)
			}
		}
	}
	return false, unknown
}

// knowsSockets fails for a process in another network namespace: the kernel tells
// about unix sockets of our own only.
func knowsSockets(pid int) error {
	same, err := sameNamespace(pid, "net")
	if err == nil && !same {
		err = fmt.Errorf("asking about the sockets of process %d, which is in another network namespace: %w", pid, errors.ErrUnsupported)
	}
	return err
}

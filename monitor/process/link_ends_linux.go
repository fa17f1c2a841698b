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

// end is a descriptor through which a process may talk to another one.
type end struct {
	fd     int
	kind   LinkKind // SocketPair stands for a socket of any kind until the kernel was asked
	inode  uint64
	access int // O_RDONLY, O_WRONLY or O_RDWR, as it was opened; sockets are O_RDWR
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
	var buf [statSize]byte
	b, err := readAt(o.dir, "stat", buf[:])
	if err != nil {
		o.close()
		return opened{}, p.failed("reading the state of", id.PID, err)
	}
	s, err := parseStat(b)
	if err != nil {
		o.close()
		return opened{}, fmt.Errorf("reading the state of process %d: %w", id.PID, err)
	}
	if s.identity() != id || s.runState() == Unreaped {
		o.close()
		return opened{}, gone(id.PID)
	}
	return o, nil
}

// ends lists the pipes without a name and the sockets that a process has open,
// sorted by descriptor.
func (o opened) ends() ([]end, error) {
	dir, err := retry(func() (int, error) {
		return unix.Openat(o.dir, "fd", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	})
	if err != nil {
		return nil, o.fs.failed("listing the descriptors of", o.pid, err)
	}
	defer unix.Close(dir)
	var list []end
	var failed error
	err = numbers(dir, make([]byte, 4096), func(fd int) {
		e, ok, err := o.end(dir, fd)
		// A descriptor that was closed meanwhile is none.
		if err != nil && !errors.Is(err, unix.ENOENT) && failed == nil {
			failed = err
		}
		if ok {
			list = append(list, e)
		}
	})
	if err == nil {
		err = failed
	}
	if err != nil {
		return nil, o.fs.failed("listing the descriptors of", o.pid, err)
	}
	slices.SortFunc(list, func(a, b end) int { return a.fd - b.fd })
	return list, nil
}

// end looks at one descriptor, dir being the process's fd directory.
func (o opened) end(dir, fd int) (end, bool, error) {
	var buf [64]byte
	n, err := unix.Readlinkat(dir, strconv.Itoa(fd), buf[:])
	if err != nil {
		return end{}, false, err
	}
	kind, inode, ok := parseEndLink(buf[:n])
	if !ok {
		return end{}, false, nil
	}
	e := end{fd: fd, kind: kind, inode: inode, access: unix.O_RDWR}
	if kind == Pipe {
		var info [512]byte
		b, err := readAt(o.dir, "fdinfo/"+strconv.Itoa(fd), info[:])
		if err != nil {
			return end{}, false, err
		}
		flags, ok := parseFlags(b)
		if !ok {
			return end{}, false, fmt.Errorf("descriptor %d: no flags in %.60q", fd, b)
		}
		e.access = int(flags & unix.O_ACCMODE)
	}
	return e, true, nil
}

// parseEndLink reads what the link of a descriptor says: "pipe:[123]" or
// "socket:[123]"; false for anything else, named pipes included.
func parseEndLink(b []byte) (LinkKind, uint64, bool) {
	kind := Pipe
	rest, ok := bytes.CutPrefix(b, []byte("pipe:["))
	if !ok {
		kind = SocketPair
		if rest, ok = bytes.CutPrefix(b, []byte("socket:[")); !ok {
			return 0, 0, false
		}
	}
	rest, ok = bytes.CutSuffix(rest, []byte("]"))
	inode, isNumber := number(rest)
	if !ok || !isNumber || inode == 0 {
		return 0, 0, false
	}
	return kind, inode, true
}

// parseFlags reads the flags of a descriptor, as open(2) takes them, out of
// /proc/PID/fdinfo/FD (proc(5)): an octal number.
func parseFlags(b []byte) (uint64, bool) {
	for line := range bytes.Lines(b) {
		if value, ok := bytes.CutPrefix(line, []byte("flags:")); ok {
			flags, err := strconv.ParseUint(string(bytes.TrimSpace(value)), 8, 64)
			return flags, err == nil
		}
	}
	return 0, false
}

// deserted tells whether nobody is left at the other end of a pipe: no writer
// where the process reads, no reader where it writes. Copies of the process's
// own end, in its wrappers and its children, make no difference.
//
// The pipe is opened anew for a moment, with the access that the descriptor has
// itself. Nothing is read, and an end that the process does not have is never
// opened: the writing end of a pipe that it reads would withhold its end of
// file, and a reading end that is held would hide the closed pipe from its
// client.
func (o opened) deserted(e end) (bool, error) {
	if e.kind != Pipe || e.access == unix.O_RDWR {
		return false, fmt.Errorf("descriptor %d of process %d is no end of a pipe", e.fd, o.pid)
	}
	at, err := retry(func() (int, error) {
		return unix.Openat(o.dir, "fd/"+strconv.Itoa(e.fd), unix.O_PATH|unix.O_CLOEXEC, 0)
	})
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
	if kind, inode, ok := parseEndLink(link[:n]); !ok || kind != Pipe || inode != e.inode {
		return false, errMoved
	}
	fd, err := retry(func() (int, error) {
		return unix.Open(itself, e.access|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	})
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

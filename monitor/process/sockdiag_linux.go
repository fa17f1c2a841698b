package process

import (
	"encoding/binary"
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// nlHeader is the size of struct nlmsghdr of linux/netlink.h.
const nlHeader = 16

// diagBuffer takes what the kernel sends at once.
const diagBuffer = 32 << 10

// errInterrupted says that sockets changed while the kernel listed them.
var errInterrupted = errors.New("the list changed while it was read")

// diagSocket asks the kernel about sockets. It lives as long as a question and
// is not safe for concurrent use.
type diagSocket struct {
	fd  int
	seq uint32
	buf []byte
}

func openDiag(buf []byte) (*diagSocket, error) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_SOCK_DIAG)
	if err != nil {
		return nil, fmt.Errorf("opening a sock_diag socket: %w", err)
	}
	if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Sec: 1}); err != nil {
		unix.Close(fd)
		return nil, fmt.Errorf("limiting how long to wait for sock_diag: %w", err)
	}
	return &diagSocket{fd: fd, buf: buf}, nil
}

func (d *diagSocket) close() { unix.Close(d.fd) }

// all asks for a list. If the list changes while it is read it is asked for
// again, so each may be called twice for one socket; after three tries what was
// seen has to do until the next call.
func (d *diagSocket) all(req []byte, each func(message []byte)) error {
	for tries := 0; ; tries++ {
		err := d.ask(req, unix.NLM_F_DUMP, each)
		if errors.Is(err, errInterrupted) {
			if tries < 2 {
				continue
			}
			return nil
		}
		return err
	}
}

// one asks for a single socket; the error is ENOENT when there is no such one.
func (d *diagSocket) one(req []byte, each func(message []byte)) error { return d.ask(req, 0, each) }

func (d *diagSocket) ask(req []byte, flags uint16, each func(message []byte)) error {
	d.seq++
	order := binary.NativeEndian
	msg := make([]byte, nlHeader, nlHeader+len(req))
	order.PutUint32(msg[0:], uint32(nlHeader+len(req)))
	order.PutUint16(msg[4:], unix.SOCK_DIAG_BY_FAMILY)
	order.PutUint16(msg[6:], unix.NLM_F_REQUEST|flags)
	order.PutUint32(msg[8:], d.seq)
	if err := unix.Sendto(d.fd, append(msg, req...), 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return err
	}
	for answered := false; flags&unix.NLM_F_DUMP != 0 || !answered; {
		n, truncated, from, err := receive(d.fd, d.buf)
		if err != nil {
			return err
		}
		if truncated&unix.MSG_TRUNC != 0 {
			return fmt.Errorf("an answer is longer than %d bytes", len(d.buf))
		}
		if kernel, ok := from.(*unix.SockaddrNetlink); !ok || kernel.Pid != 0 {
			continue
		}
		done, err := parseNetlink(d.buf[:n], d.seq, func(b []byte) {
			answered = true
			each(b)
		})
		if done || err != nil {
			return err
		}
	}
	return nil
}

func receive(fd int, buf []byte) (n, flags int, from unix.Sockaddr, err error) {
	for {
		n, _, flags, from, err = unix.Recvmsg(fd, buf, nil, 0)
		if !errors.Is(err, unix.EINTR) {
			return n, flags, from, err
		}
	}
}

// parseNetlink reads one datagram of answers to the question seq. done means
// that it held the end of the list.
func parseNetlink(b []byte, seq uint32, each func(message []byte)) (done bool, err error) {
	order := binary.NativeEndian
	interrupted := false
	for len(b) >= nlHeader {
		size, kind, flags := order.Uint32(b), order.Uint16(b[4:]), order.Uint16(b[6:])
		if size < nlHeader || uint64(size) > uint64(len(b)) {
			return false, fmt.Errorf("malformed netlink message: length %d of %d", size, len(b))
		}
		body := b[nlHeader:size]
		if order.Uint32(b[8:]) == seq {
			interrupted = interrupted || flags&unix.NLM_F_DUMP_INTR != 0
			switch kind {
			case unix.NLMSG_DONE, unix.NLMSG_ERROR:
				if len(body) >= 4 && int32(order.Uint32(body)) < 0 {
					return true, unix.Errno(-int32(order.Uint32(body)))
				}
				if interrupted {
					return true, errInterrupted
				}
				return true, nil
			case unix.SOCK_DIAG_BY_FAMILY:
				each(body)
			}
		}
		aligned := (uint64(size) + 3) &^ 3
		b = b[min(aligned, uint64(len(b))):]
	}
	if interrupted {
		return false, errInterrupted
	}
	return false, nil
}

package process

import (
	"errors"
	"fmt"
	"os"
	"strconv"

	"lamplighter/monitor"
)

// Descriptors lists what a process may talk to others through, sorted by
// descriptor. Nothing is read from any of it, see Link.Closed. The error is
// ErrGone when the process has ended, fs.ErrPermission when it may not be looked
// at.
func Descriptors(id monitor.Identity) ([]Descriptor, error) {
	o, err := system().openAs(id)
	if err != nil {
		return nil, err
	}
	defer o.close()
	all, err := o.ends()
	if err != nil {
		return nil, err
	}
	var list []Descriptor
	if len(all) == 0 || all[0].fd != 0 {
		f, ok, err := o.file(0)
		if err != nil {
			return nil, err
		}
		if ok {
			list = append(list, Descriptor{File: f.label()})
		}
	}
	var sockets unixSockets
	defer sockets.close()
	for _, e := range all {
		d, ok, err := o.descriptor(e, &sockets)
		if err != nil && !errors.Is(err, errMoved) {
			return nil, err
		}
		if ok {
			list = append(list, d)
		}
	}
	return list, nil
}

func (o opened) descriptor(e end, sockets *unixSockets) (Descriptor, bool, error) {
	d := Descriptor{FD: e.fd, Kind: e.kind, Inode: e.inode, Reads: e.reads(), Writes: e.writes()}
	if e.kind == Pipe {
		if d.Reads && d.Writes {
			return d, true, nil // it is its own other end
		}
		var err error
		d.Deserted, err = o.deserted(e)
		return d, err == nil, err
	}
	s, ok, err := sockets.pair(e.inode)
	d.Peer, d.Deserted = uint64(s.peer), s.closed()
	return d, ok, err
}

// label is a name for a file, which is equal for the same one.
func (f file) label() string {
	switch {
	case f.null:
		return "null"
	case f.name != "":
		return f.name
	}
	return fmt.Sprintf("%d:%d:%d", f.major, f.minor, f.inode)
}

// Cgroup reads /proc/PID/cgroup (cgroups(7)).
func Cgroup(pid int) (string, error) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cgroup")
	if err != nil {
		return "", system().failed("reading the control group of", pid, errors.Unwrap(err))
	}
	return string(b), nil
}

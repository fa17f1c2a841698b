package process

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"lamplighter/monitor"
)

// Marked returns the processes of our user that were started with an
// environment in which name has this value, ascending by pid: what a child
// inherits, however far it has moved from whoever started it. This process and
// its ancestors are never among them, nor is what has ended without being
// reaped. A process that changes its environment later, or overwrites the memory
// that holds it, may be missed; one that hides its environment is. With an error
// come those that could be found. Elsewhere than on Linux the error is
// errors.ErrUnsupported.
//
// Source: /proc/PID/environ, proc(5).
func Marked(name, value string) ([]monitor.Identity, error) {
	above, err := Ancestors(os.Getpid())
	if err != nil {
		return nil, fmt.Errorf("looking for processes marked with %s: %w", name, err)
	}
	spared := []int{os.Getpid()}
	for _, id := range above {
		spared = append(spared, id.PID)
	}
	return system().marked(name, value, spared)
}

func (p procfs) marked(name, value string, spared []int) ([]monitor.Identity, error) {
	var pids []int
	if err := list(p.root, make([]byte, 8<<10), func(n int) { pids = append(pids, n) }); err != nil {
		return nil, fmt.Errorf("looking for processes marked with %s: listing %s: %w", name, p.root, err)
	}
	slices.Sort(pids)
	buf := make([]byte, 16<<10)
	mark := []byte(name + "=" + value)
	var found []monitor.Identity
	var failed error
	for _, pid := range pids {
		if slices.Contains(spared, pid) {
			continue
		}
		id, has, err := p.isMarked(pid, mark, &buf)
		switch {
		case has:
			found = append(found, id)
		case err == nil, errors.Is(err, ErrGone), errors.Is(err, fs.ErrPermission):
		default:
			failed = errors.Join(failed, fmt.Errorf("looking for processes marked with %s: %w", name, err))
		}
	}
	return found, failed
}

// isMarked looks at one process. Its directory is held meanwhile, so that the
// environment and the identity are of the same process.
func (p procfs) isMarked(pid int, mark []byte, buf *[]byte) (monitor.Identity, bool, error) {
	o, err := p.open(pid)
	if err != nil {
		return monitor.Identity{}, false, err
	}
	defer o.close()
	if uid, err := o.uid(); err != nil || uid != uint32(os.Geteuid()) {
		return monitor.Identity{}, false, err
	}
	environ, err := readWholeAt(o.dir, "environ", buf)
	if err != nil {
		return monitor.Identity{}, false, p.failed("reading the environment of", pid, err)
	}
	if !holds(environ, mark) {
		return monitor.Identity{}, false, nil
	}
	var stat [statSize]byte
	s, _, err := o.read(stat[:], nil)
	if err != nil {
		return monitor.Identity{}, false, err
	}
	return s.identity(), s.stat(os.Getpagesize()).State != Unreaped, nil
}

// holds tells whether an environment, entries that end in a zero byte, has this
// entry.
func holds(environ, entry []byte) bool {
	for len(environ) > 0 {
		var e []byte
		e, environ, _ = bytes.Cut(environ, []byte{0})
		if bytes.Equal(e, entry) {
			return true
		}
	}
	return false
}

package process

import (
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"
)

// Ports finds out which of some processes listen where. It is not safe for
// concurrent use and holds no descriptor between calls.
//
// The kernel lists listening sockets by inode, and the descriptors of a process
// link to inodes. The listing is cheap, the links of a hundred processes are
// not; so they are read only for processes that are new to Ports and while a
// listening socket exists that nobody has been asked about. What was found is
// checked in each call by its one link, and one process after the other is read
// anew, which finds sockets that were handed over.
//
// Sockets are joined by inode, so a process in another network namespace has no
// listeners unless it holds a socket of ours, which we can reach.
type Ports struct {
	fs        procfs
	dump      tcpDump
	buf       []byte
	listening map[uint32]netip.AddrPort
	asked     map[uint32]bool   // inodes that every known process was asked about
	held      map[int][]holding // by pid, for every known process
	walks     int               // processes read so far, for tests of the cost
	turn      int               // the pid that was read anew last
}

// holding is a descriptor that links to a listening socket.
type holding struct {
	fd    int
	inode uint32
}

// NewPorts makes a Ports that knows nothing yet.
func NewPorts() *Ports {
	return &Ports{
		fs:        system(),
		dump:      dumpListening,
		buf:       make([]byte, diagBuffer),
		listening: map[uint32]netip.AddrPort{},
		asked:     map[uint32]bool{},
		held:      map[int][]holding{},
	}
}

// Listeners returns the TCP addresses on which these processes listen, sorted
// by port. A socket that several of them share is listed for each. Processes
// that are gone or hidden from us have none. What was remembered about
// processes that are not asked for is forgotten.
func (p *Ports) Listeners(pids []int) ([]Listener, error) {
	if err := p.list(); err != nil {
		return nil, err
	}
	wanted := make(map[int]bool, len(pids))
	for _, pid := range pids {
		wanted[pid] = true
	}
	maps.DeleteFunc(p.held, func(pid int, _ []holding) bool { return !wanted[pid] })

	fresh := make(map[int]bool) // read in this call
	for pid := range wanted {
		if had, known := p.held[pid]; known && p.holds(pid, had) {
			continue
		}
		if err := p.walk(pid, fresh); err != nil {
			return nil, err
		}
	}
	if err := p.explain(fresh); err != nil {
		return nil, err
	}
	if err := p.renew(fresh); err != nil {
		return nil, err
	}

	var found []Listener
	for pid, had := range p.held {
		for _, h := range had {
			if addr, ok := p.listening[h.inode]; ok {
				found = append(found, Listener{PID: pid, Addr: addr})
			}
		}
	}
	return sortListeners(found), nil
}

// list asks for all listening sockets.
func (p *Ports) list() error {
	all, err := p.fs.tcpSockets(&p.buf, p.dump, tcpSocket.listens)
	if err != nil {
		return fmt.Errorf("listing the listening sockets: %w", err)
	}
	clear(p.listening)
	for _, s := range all {
		p.listening[s.inode] = s.local
	}
	return nil
}

// holds checks that each remembered descriptor still links to its socket.
func (p *Ports) holds(pid int, had []holding) bool {
	var buf [64]byte
	for _, h := range had {
		n, err := unix.Readlink(p.fs.path(pid, "/fd/"+strconv.Itoa(h.fd)), buf[:])
		if err != nil {
			return false
		}
		if inode, ok := parseSocketLink(buf[:n]); !ok || inode != h.inode {
			return false
		}
	}
	return true
}

// explain reads processes until every new listening socket has an owner or all
// have been asked, those without a listener first.
func (p *Ports) explain(fresh map[int]bool) error {
	open := make(map[uint32]bool)
	for inode := range p.listening {
		if !p.asked[inode] {
			open[inode] = true
		}
	}
	settle := func(pid int) {
		for _, h := range p.held[pid] {
			delete(open, h.inode)
		}
	}
	for pid := range p.held {
		settle(pid)
	}
	if len(open) > 0 {
		order := slices.SortedFunc(maps.Keys(p.held), func(a, b int) int {
			if n := len(p.held[a]) - len(p.held[b]); n != 0 {
				return n
			}
			return b - a
		})
		for _, pid := range order {
			if len(open) == 0 {
				break
			}
			if fresh[pid] {
				continue
			}
			if err := p.walk(pid, fresh); err != nil {
				return err
			}
			settle(pid)
		}
	}
	clear(p.asked)
	for inode := range p.listening {
		p.asked[inode] = true
	}
	return nil
}

// renew reads one process anew when nothing else was read.
func (p *Ports) renew(fresh map[int]bool) error {
	if len(fresh) > 0 || len(p.held) == 0 {
		return nil
	}
	pids := slices.Sorted(maps.Keys(p.held))
	i, _ := slices.BinarySearch(pids, p.turn+1)
	p.turn = pids[i%len(pids)]
	return p.walk(p.turn, fresh)
}

// walk reads the links of all descriptors of a process.
func (p *Ports) walk(pid int, fresh map[int]bool) error {
	fresh[pid] = true
	p.walks++
	delete(p.held, pid) // after an error it is unknown, and read in the next call
	dir, err := retry(func() (int, error) {
		return unix.Open(p.fs.path(pid, "/fd"), unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	})
	if err != nil {
		return p.unread(pid, err)
	}
	defer unix.Close(dir)
	var link [64]byte
	var had []holding
	err = numbers(dir, p.buf, func(fd int) {
		n, err := unix.Readlinkat(dir, strconv.Itoa(fd), link[:])
		if err != nil {
			return
		}
		inode, ok := parseSocketLink(link[:n])
		if !ok {
			return
		}
		if _, ok := p.listening[inode]; ok {
			had = append(had, holding{fd, inode})
		}
	})
	if err != nil {
		return p.unread(pid, err)
	}
	p.held[pid] = had
	return nil
}

// unread takes a process that is gone or hidden from us as one that holds
// nothing; any other error stands.
func (p *Ports) unread(pid int, err error) error {
	err = p.fs.failed("listing the descriptors of", pid, err)
	if errors.Is(err, ErrGone) || errors.Is(err, unix.EACCES) || errors.Is(err, unix.EPERM) {
		p.held[pid] = nil
		return nil
	}
	return err
}

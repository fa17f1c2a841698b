package process

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"lamplighter/monitor"
)

// maxCmdline is how much of a command line is read. The kernel allows
// megabytes; what a server is shows at the beginning.
const maxCmdline = 128 << 10

// statSize holds any /proc/PID/stat: 52 numbers of at most 20 digits and a name.
const statSize = 2048

// procfs reads a process file system. The root is /proc, except in tests.
type procfs struct{ root string }

func system() procfs { return procfs{"/proc"} }

// buffer takes the names of about 1,000 processes, and what the kernel sends at once about
// sockets: 32 KiB at most, and no more than it is offered.
type buffer [32 << 10]byte

// buffers are those that nobody uses just now.
var buffers = sync.Pool{New: func() any { return new(buffer) }}

func (p procfs) path(pid int, name string) string {
	return p.root + "/" + strconv.Itoa(pid) + name
}

// failed gives an error its words. The errors of a vanished process become
// ErrGone, but not when the file system as a whole is missing: that must not
// look like the death of everything.
func (p procfs) failed(doing string, pid int, err error) error {
	if errors.Is(err, unix.ESRCH) || errors.Is(err, unix.ENOENT) {
		if unix.Access(p.root+"/self", unix.F_OK) == nil {
			return gone(pid)
		}
		return fmt.Errorf("%s process %d: %s is not mounted: %w", doing, pid, p.root, err)
	}
	return fmt.Errorf("%s process %d: %w", doing, pid, err)
}

// readAt reads the beginning of a file with a single read, dir as in openat(2).
// The files of a process give all they have at once, as far as it fits; only lists
// (children) come in pieces.
func readAt(dir int, path string, buf []byte) ([]byte, error) {
	fd, err := openAt(dir, path, unix.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	n, err := retry(func() (int, error) { return unix.Read(fd, buf) })
	if err != nil {
		return nil, err
	}
	return buf[:n], nil
}

// readWholeAt reads a file of any length, which may come in pieces, dir as in openat(2).
func readWholeAt(dir int, path string) ([]byte, error) {
	fd, err := openAt(dir, path, unix.O_RDONLY)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), path)
	defer f.Close()
	return io.ReadAll(f)
}

// openAt is openat(2), of a file that no program that we start inherits.
func openAt(dir int, path string, flags int) (int, error) {
	return retry(func() (int, error) { return unix.Openat(dir, path, flags|unix.O_CLOEXEC, 0) })
}

// readStat reads and parses /proc/PID/stat.
func (p procfs) readStat(pid int) (procStat, error) {
	return p.readStatAt(unix.AT_FDCWD, p.path(pid, "/stat"), pid)
}

// readStatAt is readStat of a file, dir as in openat(2).
func (p procfs) readStatAt(dir int, path string, pid int) (procStat, error) {
	var buf [statSize]byte
	b, err := readAt(dir, path, buf[:])
	if err != nil {
		return procStat{}, p.failed("reading the state of", pid, err)
	}
	s, err := parseStat(string(b))
	if err != nil {
		return procStat{}, fmt.Errorf("reading the state of process %d: %w", pid, err)
	}
	return s, nil
}

// opened is a process held by its directory: whatever is read through it
// belongs to one process, even when the pid is reused meanwhile.
type opened struct {
	fs  procfs
	pid int
	dir int
}

func (p procfs) open(pid int) (opened, error) {
	dir, err := openAt(unix.AT_FDCWD, p.path(pid, ""), unix.O_PATH|unix.O_DIRECTORY)
	if err != nil {
		return opened{}, p.failed("opening", pid, err)
	}
	return opened{p, pid, dir}, nil
}

func (o opened) close() { unix.Close(o.dir) }

// uid is the effective user of the process. The directory shows it even for
// processes whose files belong to root because they must not be dumped.
func (o opened) uid() (uint32, error) {
	var st unix.Stat_t
	if err := unix.Fstat(o.dir, &st); err != nil {
		return 0, o.fs.failed("looking for the owner of", o.pid, err)
	}
	return st.Uid, nil
}

func (o opened) stat() (procStat, error) { return o.fs.readStatAt(o.dir, "stat", o.pid) }

// info is who the process is and which program it runs. The stat comes first: if it
// runs a new program meanwhile, the next look at its layout tells.
func (o opened) info() (Info, program, error) {
	s, err := o.stat()
	if err != nil {
		return Info{}, program{}, err
	}
	// With one read it is never that of two programs.
	short := make([]byte, 4<<10)
	cmdline, err := readAt(o.dir, "cmdline", short)
	if len(cmdline) == len(short) {
		cmdline, err = readAt(o.dir, "cmdline", make([]byte, maxCmdline))
	}
	if err != nil {
		return Info{}, program{}, o.fs.failed("reading the command line of", o.pid, err)
	}
	exe, _ := o.readLink("exe")
	exe = strings.TrimSuffix(exe, " (deleted)") // one that was replaced or removed while it ran
	return Info{Identity: s.Identity, Parent: s.Parent, Name: strings.Clone(s.comm), Exe: exe, Args: parseCmdline(cmdline)}, s.program, nil
}

// readLink is what one of its links says.
func (o opened) readLink(name string) (string, error) {
	var buf [unix.PathMax]byte
	n, err := unix.Readlinkat(o.dir, name, buf[:])
	return string(buf[:max(n, 0)]), err
}

// list is numbers for a directory that is given by its path: processes in /proc, threads in task.
func list(path string) ([]int, error) {
	dir, err := openAt(unix.AT_FDCWD, path, unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return nil, err
	}
	defer unix.Close(dir)
	buf := buffers.Get().(*buffer)
	defer buffers.Put(buf)
	return numbers(dir, buf[:])
}

// numbers are the names of a directory that are numbers, see getdents64(2). It makes no string
// of each, as os.File does: all processes are listed once a second while some are started. What is
// read goes into buf.
func numbers(dir int, buf []byte) (all []int, err error) {
	const lengthAt, nameAt = int(unsafe.Offsetof(unix.Dirent{}.Reclen)), int(unsafe.Offsetof(unix.Dirent{}.Name))
	for {
		n, err := retry(func() (int, error) { return unix.Getdents(dir, buf) })
		if n <= 0 || err != nil {
			return all, err
		}
		for b := buf[:n]; len(b) > 0; {
			length := binary.NativeEndian.Uint16(b[lengthAt:])
			name, _, _ := bytes.Cut(b[nameAt:length], []byte{0})
			if number, err := strconv.ParseInt(string(name), 10, 32); err == nil {
				all = append(all, int(number))
			}
			b = b[length:]
		}
	}
}

// sinceBoot is the clock that process start times are measured on.
func sinceBoot() time.Duration {
	var ts unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts) // which every Linux has
	return time.Duration(ts.Nano())
}

// ReadStat reads the current state of any process that we may see.
func ReadStat(pid int) (Stat, error) {
	s, err := system().readStat(pid)
	return s.Stat, err
}

// Read reads who a process is. Args is empty for kernel threads and for
// processes that have ended without being reaped.
func Read(pid int) (Info, error) {
	o, err := system().open(pid)
	if err != nil {
		return Info{}, err
	}
	defer o.close()
	info, _, err := o.info()
	return info, err
}

// StartedAt is the wall-clock time at which the process started, for showing
// only: it moves when the clock is set. It is cut to a second so that two calls
// agree, and never rounded up: a process that has begun did so in the past. The
// process need not exist any more.
func StartedAt(id monitor.Identity) time.Time {
	return time.Now().Add(ticks(id.Start) - sinceBoot()).Truncate(time.Second)
}

// Children returns the pids of the direct children. The kernel makes the list
// while processes come and go: one that forks or ends meanwhile may be missed.
func Children(pid int) ([]int, error) { return system().children(pid) }

// Tree returns the stat of root and of all its descendants, root first, every
// parent before its children. The error is ErrGone when root is no longer that
// process; a root that has ended without being reaped still is. It is
// errors.ErrUnsupported where the kernel does not list children
// (CONFIG_PROC_CHILDREN).
func Tree(root monitor.Identity) ([]Stat, error) {
	return treeOf(root, ReadStat, system().children)
}

// children reads /proc/PID/task/TID/children of every thread: each lists what
// that thread has forked.
func (p procfs) children(pid int) ([]int, error) {
	tids, err := list(p.path(pid, "/task"))
	if err != nil {
		return nil, p.failed("listing the threads of", pid, err)
	}
	var pids []int
	for _, tid := range tids {
		b, err := readWholeAt(unix.AT_FDCWD, p.path(pid, "/task/"+strconv.Itoa(tid)+"/children"))
		switch {
		case err == nil:
			for text := range strings.FieldsSeq(string(b)) {
				if pid, err := strconv.ParseInt(text, 10, 32); err == nil {
					pids = append(pids, int(pid))
				}
			}
		case errors.Is(err, unix.ESRCH):
		case errors.Is(err, unix.ENOENT) || errors.Is(err, unix.EACCES):
			// The thread has ended, or nobody has such a file.
			if unix.Access(p.root+"/thread-self/children", unix.R_OK) != nil {
				return nil, fmt.Errorf("the kernel does not list the children of process %d: %w", pid, errors.ErrUnsupported)
			}
		default:
			return nil, p.failed("listing the children of", pid, err)
		}
	}
	return pids, nil
}

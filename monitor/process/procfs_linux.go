package process

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
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
// The files of a process give all they have at once, as far as it fits; only
// lists (children) come in pieces.
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

// readWholeAt reads a file of any length to its end, dir as in openat(2).
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

// readStat reads and parses /proc/PID/stat; the result points into buf.
func (p procfs) readStat(pid int, buf []byte) (procStat, error) {
	return p.readStatAt(unix.AT_FDCWD, p.path(pid, "/stat"), pid, buf)
}

// readStatAt is readStat of a file, dir as in openat(2).
func (p procfs) readStatAt(dir int, path string, pid int, buf []byte) (procStat, error) {
	b, err := readAt(dir, path, buf)
	if err != nil {
		return procStat{}, p.failed("reading the state of", pid, err)
	}
	s, err := parseStat(b)
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

// stat reads the stat line into buf, which the result points into.
func (o opened) stat(buf []byte) (procStat, error) {
	return o.fs.readStatAt(o.dir, "stat", o.pid, buf)
}

// read returns the facts of Info, the stat line in buf and the raw command
// line behind it in cmdline. The stat comes first: if the process runs a new
// program meanwhile, the next look at its layout tells.
func (o opened) read(stat, cmdline []byte) (procStat, []byte, error) {
	s, err := o.stat(stat)
	if err != nil {
		return procStat{}, nil, err
	}
	c, err := readAt(o.dir, "cmdline", cmdline)
	if err != nil {
		return procStat{}, nil, o.fs.failed("reading the command line of", o.pid, err)
	}
	return s, c, nil
}

// info makes the Info out of what read gave.
func (o opened) info(s *procStat, cmdline []byte) Info {
	return Info{Identity: s.identity(), Parent: s.parent, Name: string(s.comm), Exe: o.exe(), Args: parseCmdline(cmdline)}
}

// exe is the path of the program, without the mark of a file that was replaced
// or removed while it ran.
func (o opened) exe() string {
	var buf [unix.PathMax]byte
	n, err := unix.Readlinkat(o.dir, "exe", buf[:])
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(string(buf[:n]), " (deleted)")
}

// numbers calls add for every entry of the directory whose name is a number:
// processes in /proc, threads in task, descriptors in fd.
func numbers(dir int, buf []byte, add func(n int)) error {
	for {
		n, err := retry(func() (int, error) { return unix.Getdents(dir, buf) })
		if err != nil {
			return err
		}
		if n == 0 {
			return nil
		}
		parseDirents(buf[:n], add)
	}
}

// parseDirents reads struct linux_dirent64 (getdents64(2)).
func parseDirents(b []byte, add func(n int)) {
	const nameAt = int(unsafe.Offsetof(unix.Dirent{}.Name))
	const lenAt = int(unsafe.Offsetof(unix.Dirent{}.Reclen))
	for len(b) > nameAt {
		size := int(binary.NativeEndian.Uint16(b[lenAt:]))
		if size <= nameAt || size > len(b) {
			return
		}
		name := b[nameAt:size]
		if end := slices.Index(name, 0); end >= 0 {
			name = name[:end]
		}
		if n, ok := number(name); ok && n <= math.MaxInt32 {
			add(int(n))
		}
		b = b[size:]
	}
}

// list is numbers for a directory given by its path.
func list(path string, buf []byte, add func(n int)) error {
	dir, err := openAt(unix.AT_FDCWD, path, unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return err
	}
	defer unix.Close(dir)
	return numbers(dir, buf, add)
}

// sinceBoot is the clock that process start times are measured on.
func sinceBoot() time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts); err != nil {
		return 0
	}
	return time.Duration(ts.Nano())
}

// ReadStat reads the current state of any process that we may see.
func ReadStat(pid int) (Stat, error) {
	var buf [statSize]byte
	s, err := system().readStat(pid, buf[:])
	if err != nil {
		return Stat{}, err
	}
	return s.stat(), nil
}

// Read reads who a process is. Args is empty for kernel threads and for
// processes that have ended without being reaped.
func Read(pid int) (Info, error) {
	o, err := system().open(pid)
	if err != nil {
		return Info{}, err
	}
	defer o.close()
	var stat [statSize]byte
	s, cmdline, err := o.read(stat[:], make([]byte, maxCmdline))
	if err != nil {
		return Info{}, err
	}
	return o.info(&s, cmdline), nil
}

// StartedAt is the wall-clock time at which the process started, for showing
// only: it moves when the clock is set. It is cut to a second so that two calls
// agree, and never rounded up: a process that has begun did so in the past. The
// process need not exist any more.
func StartedAt(id monitor.Identity) (time.Time, error) {
	boot := sinceBoot()
	if boot == 0 {
		return time.Time{}, errors.New("reading the time since boot: the system does not say")
	}
	return time.Now().Add(ticks(id.Start) - boot).Truncate(time.Second), nil
}

package process

import (
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// tableSource is where a Table reads.
type tableSource struct {
	fs    procfs
	uid   uint32
	now   func() time.Duration // counts sleep too: after a suspend everything is looked at again
	gated bool                 // loadavg tells the truth: it is the kernel's own
	last  int                  // the pid that was handed out last
	until time.Duration        // list in each pass before, whatever loadavg says
}

// listed is a process as the list of all shows it.
type listed struct{ pid int }

func newTableSource() *tableSource {
	var st unix.Statfs_t
	// In containers loadavg may be a fake by lxcfs, which counts differently.
	err := unix.Statfs(system().root+"/loadavg", &st)
	genuine := err == nil && st.Type == unix.PROC_SUPER_MAGIC
	return &tableSource{fs: system(), uid: uint32(os.Geteuid()), now: sinceBoot, gated: genuine}
}

// began is when a process started, on the clock of now. One that is not ours, or
// hidden from us, is as old as the system: its look once a minute will do.
func (s *tableSource) began(p program, _ time.Duration) time.Duration { return ticks(p.start) }

// listFor is how long everything is listed after each pid that was handed out.
const listFor = 1200 * time.Millisecond

// forked reports whether a process may have begun since it was called last. The
// kernel tells in /proc/loadavg which pid of our namespace it handed out last, to a
// process or a thread. That is before its
// process shows in /proc, a moment or on a busy machine many milliseconds.
func (s *tableSource) forked() bool {
	last, now := 0, s.now()
	var buf [128]byte
	if s.gated {
		b, _ := readAt(unix.AT_FDCWD, s.fs.root+"/loadavg", buf[:])
		if fields := strings.Fields(string(b)); len(fields) == 5 {
			last, _ = strconv.Atoi(fields[4])
		}
	}
	if last == 0 || last != s.last {
		s.last, s.until = last, now+listFor
	}
	return now < s.until
}

// list lists all processes anew when one may have begun.
func (s *tableSource) list() (all []listed, anew bool, err error) {
	if !s.forked() {
		return nil, false, nil
	}
	pids, err := list(s.fs.root)
	if err != nil {
		s.last = 0 // so that the next pass lists again
	}
	all = make([]listed, len(pids))
	for i, pid := range pids {
		all[i].pid = pid
	}
	return all, true, err
}

// look reads a process that runs another program than it did.
func (s *tableSource) look(pid int, was program) (Info, program, error) {
	if was != (program{}) {
		now, err := s.fs.readStat(pid)
		if err != nil || now.program == was {
			return Info{}, was, err
		}
	}
	o, err := s.fs.open(pid)
	if err != nil {
		return Info{}, program{}, err
	}
	defer o.close()
	if uid, err := o.uid(); err != nil || uid != s.uid {
		return Info{}, program{}, err
	}
	return o.info()
}

package process

import (
	"errors"
	"fmt"
	"hash/maphash"
	"os"
	"slices"
	"sort"
	"time"

	"golang.org/x/sys/unix"
)

// How often Table looks at what it knows already. Time passes here on the
// clock that counts sleep too: after a suspend everything is looked at again.
const (
	youngFor   = 10 * time.Second // a fork is seen before its exec: look at it in every pass
	roundTrip  = time.Minute      // in which every other process is looked at once
	rescanAt   = 5 * time.Second  // read the directory although nothing seems to have been forked
	pidListing = 32 << 10         // bytes of directory entries per call: about 1,000
)

// Table follows the process table incrementally: the processes of our user,
// one pass at a time. It is not safe for concurrent use and holds no
// descriptor between passes.
//
// A pass costs almost nothing while nothing is forked: the kernel tells in
// /proc/loadavg which pid it handed out last. When that has moved, /proc is
// listed and only pids that are new are read. Pids are handed out in a circle,
// so a known pid can only have been reused if it lies in the part of the
// circle that was passed since; those are looked at again at once. What this
// cannot show (a new program under an old pid, a full circle between two
// passes, a change of user) is found by looking at young processes in every
// pass and at a rolling slice of all others.
type Table struct {
	fs     procfs
	uid    uint32
	clock  func() time.Duration
	gated  bool // loadavg tells the truth: it is the kernel's own
	seed   maphash.Seed
	known  []entry // ascending by pid
	spare  []entry // the list before, to be reused
	pids   []int
	buf    []byte // directory entries, then command lines
	stat   [statSize]byte
	passes uint64

	// The pid that was handed out last, as the last two passes saw it. A pid
	// is handed out a moment before its process shows in /proc, so one more
	// listing follows each change.
	last, before int
	at           time.Duration // of the last pass
	listed       time.Duration // when /proc was listed last
	again        bool          // list it in the next pass whatever loadavg says
	due          float64       // processes that the rolling slice owes
	rolled       int           // the pid where it ended
}

// entry is what Table remembers about one pid.
type entry struct {
	pid     int
	ours    bool
	start   uint64        // ticks, and
	layout  uint64        // its program (see Table.layout) when it was ours last
	young   time.Duration // until then looked at in every pass
	checked uint64        // the pass that looked last
	gone    bool
}

// NewTable makes a table that knows nothing yet.
func NewTable() *Table {
	var st unix.Statfs_t
	// In containers loadavg may be a fake by lxcfs, which counts differently.
	err := unix.Statfs(system().root+"/loadavg", &st)
	genuine := err == nil && st.Type == unix.PROC_SUPER_MAGIC
	return newTable(system(), uint32(os.Geteuid()), sinceBoot, genuine)
}

func newTable(fs procfs, uid uint32, clock func() time.Duration, gated bool) *Table {
	return &Table{fs: fs, uid: uid, clock: clock, gated: gated, seed: maphash.MakeSeed(), again: true}
}

// Pass returns what is new since the last pass, everything of ours in the
// first one: new processes, and known ones that run another program than when
// they were looked at last (the same Identity comes again). Kernel threads and
// processes with an empty command line are not returned, nor is anything that
// vanishes while it is read. With an error comes what could be read; the rest
// is found by a later pass.
func (t *Table) Pass() (fresh []Info, err error) {
	now := t.clock()
	first := t.passes == 0
	t.passes++
	if t.buf == nil {
		t.buf = make([]byte, maxCmdline)
	}
	elapsed := max(now-t.at, 0)
	t.at = now
	look := func(e *entry) bool {
		if err == nil {
			err = t.examine(e, now, &fresh)
		}
		return err == nil
	}

	last := t.lastPID()
	quiet := last != 0 && last == t.last && t.last == t.before
	if !quiet || t.again || now-t.listed >= rescanAt {
		t.pids = t.pids[:0]
		if err := list(t.fs.root, t.buf[:pidListing], func(pid int) { t.pids = append(t.pids, pid) }); err != nil {
			t.again = true
			return nil, fmt.Errorf("listing the processes in %s: %w", t.fs.root, err)
		}
		t.listed, t.again = now, first
		t.merge(now, look)
		for i := range t.known {
			if e := &t.known[i]; !first && between(e.pid, t.before, last) {
				look(e)
			}
		}
	}
	t.before, t.last = t.last, last
	if first {
		t.before = last
		t.settle()
	}

	for i := range t.known {
		if e := &t.known[i]; e.young > now {
			look(e)
		}
	}
	for _, i := range t.slice(elapsed) {
		look(&t.known[i])
	}
	t.known = slices.DeleteFunc(t.known, func(e entry) bool { return e.gone })
	t.again = t.again || err != nil
	return fresh, err
}

// lastPID reads which pid was handed out last; 0 means that nobody can say.
func (t *Table) lastPID() int {
	if !t.gated {
		return 0
	}
	var buf [128]byte
	b, err := readAt(unix.AT_FDCWD, t.fs.root+"/loadavg", buf[:])
	if err != nil {
		return 0
	}
	pid, _ := parseLastPID(b)
	return pid
}

// between tells whether a circle that hands out pids came past this one on its
// way from one to the other.
func between(pid, from, to int) bool {
	if from <= to {
		return from < pid && pid <= to
	}
	return pid > from || pid <= to
}

// merge brings known in line with the listing. Each new pid is looked at; if
// that fails for lack of descriptors it stays unknown, to be found again.
func (t *Table) merge(now time.Duration, look func(*entry) bool) {
	if !slices.IsSorted(t.pids) {
		slices.Sort(t.pids)
	}
	next, old := t.spare[:0], t.known
	for _, pid := range t.pids {
		for len(old) > 0 && old[0].pid < pid {
			old = old[1:]
		}
		if len(old) > 0 && old[0].pid == pid {
			next = append(next, old[0])
			old = old[1:]
			continue
		}
		e := entry{pid: pid, young: now + youngFor}
		if look(&e) {
			next = append(next, e)
		}
	}
	t.known, t.spare = next, t.known[:0]
}

// settle tells after the first pass which processes are young by their age.
// Those of other users are not: if one becomes ours, the rolling slice sees it.
func (t *Table) settle() {
	for i := range t.known {
		e := &t.known[i]
		e.young = 0
		if e.ours {
			e.young = ticks(e.start) + youngFor
		}
	}
}

// slice returns the indices of the next entries that are due on the round trip.
func (t *Table) slice(elapsed time.Duration) []int {
	if len(t.known) == 0 {
		return nil
	}
	t.due += float64(len(t.known)) * min(elapsed.Seconds()/roundTrip.Seconds(), 1)
	n := min(int(t.due), len(t.known))
	if n == 0 {
		return nil
	}
	t.due = min(t.due-float64(n), 1)
	i := sort.Search(len(t.known), func(i int) bool { return t.known[i].pid > t.rolled })
	indices := make([]int, n)
	for k := range indices {
		indices[k] = (i + k) % len(t.known)
	}
	t.rolled = t.known[indices[n-1]].pid
	return indices
}

// examine brings e up to date, once per pass, and adds what is new to fresh.
// It reports only errors that are about us, not about this process.
func (t *Table) examine(e *entry, now time.Duration, fresh *[]Info) error {
	if e.checked == t.passes || e.gone {
		return nil
	}
	e.checked = t.passes
	err := t.look(e, now, fresh)
	switch {
	case scarce(err):
		return err
	case errors.Is(err, ErrGone):
		e.gone = true
	case err != nil:
		e.ours = false // hidden from us by hidepid or a security module
	}
	return nil
}

// scarce tells whether we lack what reading needs.
func scarce(err error) bool {
	return errors.Is(err, unix.EMFILE) || errors.Is(err, unix.ENFILE) || errors.Is(err, unix.ENOMEM)
}

func (t *Table) look(e *entry, now time.Duration, fresh *[]Info) error {
	if e.ours {
		s, err := t.fs.readStat(e.pid, t.stat[:])
		if err != nil {
			return err
		}
		if s.start == e.start && !s.hidden && t.layout(&s, nil) == e.layout {
			return nil
		}
	} else {
		var st unix.Stat_t
		if err := unix.Lstat(t.fs.path(e.pid, ""), &st); err != nil {
			return t.fs.failed("looking for the owner of", e.pid, err)
		}
		if st.Uid != t.uid {
			return nil
		}
	}

	o, err := t.fs.open(e.pid)
	if err != nil {
		return err
	}
	defer o.close()
	uid, err := o.uid()
	if err != nil {
		return err
	}
	if uid != t.uid {
		e.ours = false
		return nil
	}
	s, cmdline, err := o.read(t.stat[:], t.buf)
	if err != nil {
		return err
	}
	e.ours = true
	layout := t.layout(&s, cmdline)
	if s.start == e.start && layout == e.layout {
		return nil
	}
	e.start, e.layout = s.start, layout
	e.young = now + youngFor // one exec is often followed by the next (uvx, uv, python)
	if info := o.info(&s, cmdline); len(info.Args) > 0 {
		*fresh = append(*fresh, info)
	}
	return nil
}

// layout is a number that changes when the process runs another program. Where
// the addresses are hidden from us the command line has to do, so that a
// rewritten title counts there too.
func (t *Table) layout(s *procStat, cmdline []byte) uint64 {
	var h maphash.Hash
	h.SetSeed(t.seed)
	h.Write(s.code)
	h.WriteByte('|')
	h.Write(s.data)
	if s.hidden {
		h.Write(cmdline)
	}
	return h.Sum64()
}

package process

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// How often Table looks at what it knows already.
const (
	youngFor  = 10 * time.Second // what has just started may still run another program: look at it in every pass
	roundTrip = time.Minute      // in which every other process is looked at at least once
)

// Table follows the process table incrementally: the processes of our user,
// one pass at a time. It is not safe for concurrent use and holds no
// descriptor between passes.
//
// A pass lists all pids and reads those that are new, young, or due for their
// look once a minute. That look finds what the list cannot show: a new program
// under an old pid, a change of user, on Linux also a pid that was reused
// between two passes. There the list is read only when the kernel has handed
// out a pid, so that a pass costs almost nothing while nothing is forked.
type Table struct {
	source *tableSource
	known  []entry // by pid, ascending
	spare  []entry // for the next list of them
	begun  bool    // a pass was made
}

// entry is what Table remembers about one pid.
type entry struct {
	as      listed
	program program       // the zero one for what is not ours, or hidden from us
	young   time.Duration // until then looked at in every pass
	due     time.Duration // when to look again after that
	gone    bool
}

// NewTable makes a table that knows nothing yet.
func NewTable() *Table { return &Table{source: newTableSource()} }

// Pass returns what is new since the last pass, everything of ours in the
// first one: new processes, and known ones that run another program than when
// they were looked at last (the same Identity comes again). Kernel threads and
// processes with an empty command line are not returned, nor is anything that
// vanishes while it is read. What cannot be read now is found by a later pass.
func (t *Table) Pass() (fresh []Info, err error) {
	now := t.source.now()
	look := func(e *entry) (gone bool) {
		info, runs, err := t.source.look(e.as.pid, e.program)
		switch {
		case errors.Is(err, ErrGone):
			return true
		case err != nil: // hidden from us, or we lack descriptors: the next look may tell
			runs = e.program
		}
		if runs != e.program {
			e.young = now + youngFor // one exec is often followed by the next (uvx, uv, python)
			if len(info.Args) > 0 {
				fresh = append(fresh, info)
			}
		}
		if !t.begun && err == nil { // most have run for long
			e.young = min(e.young, t.source.began(runs, now)+youngFor)
		}
		e.program = runs
		e.due = now + roundTrip/2 + roundTrip/120*time.Duration(e.as.pid%60) // not all in the same pass
		return false
	}

	all, anew, err := t.source.list()
	if err != nil {
		return nil, fmt.Errorf("listing all processes: %w", err)
	}
	if anew {
		t.compare(all, now)
	}
	gone := false
	for i := range t.known {
		if e := &t.known[i]; e.young > now || e.due <= now {
			e.gone = look(e)
			gone = gone || e.gone
		}
	}
	if gone {
		t.known = slices.DeleteFunc(t.known, func(e entry) bool { return e.gone })
	}
	t.begun = true
	return fresh, nil
}

// compare brings known in line with the system's list. What is new in it, or shows
// otherwise, is due.
func (t *Table) compare(all []listed, now time.Duration) {
	slices.SortFunc(all, func(a, b listed) int { return a.pid - b.pid }) // Linux lists them so
	before := t.known
	t.known, t.spare = t.spare[:0], before
	for _, l := range all {
		for len(before) > 0 && before[0].as.pid < l.pid {
			before = before[1:]
		}
		e := entry{as: l, young: now + youngFor}
		if len(before) > 0 && before[0].as.pid == l.pid {
			if e = before[0]; e.as != l {
				e.as, e.due = l, now
			}
		}
		t.known = append(t.known, e)
	}
}

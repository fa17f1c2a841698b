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
	known  []*entry // by pid, ascending
	begun  bool     // a pass was made
}

// entry is what Table remembers about one pid.
type entry struct {
	as      listed
	program program       // the zero one for what is not ours, or hidden from us
	young   time.Duration // until then looked at in every pass
	due     time.Duration // when to look again after that
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
	t.known = slices.DeleteFunc(t.known, func(e *entry) bool { return (e.young > now || e.due <= now) && look(e) })
	t.begun = true
	return fresh, nil
}

// compare brings known in line with the system's list. What is new in it, or shows
// otherwise, is due.
func (t *Table) compare(all []listed, now time.Duration) {
	slices.SortFunc(all, func(a, b listed) int { return a.pid - b.pid }) // Linux lists them so
	before := t.known
	t.known = make([]*entry, len(all))
	for i, l := range all {
		at, isKnown := slices.BinarySearchFunc(before, l.pid, func(e *entry, pid int) int { return e.as.pid - pid })
		if !isKnown {
			t.known[i] = &entry{as: l, young: now + youngFor}
			continue
		}
		e := before[at]
		if e.as != l {
			e.as, e.due = l, now
		}
		t.known[i] = e
	}
}

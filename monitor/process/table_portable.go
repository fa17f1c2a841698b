//go:build windows || darwin

package process

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"lamplighter/monitor"
)

// How often Table looks at what it knows already.
const (
	youngFor  = 10 * time.Second // what has just started may still change or be half set up
	roundTrip = time.Minute      // in which every other process is looked at once
)

// errForeign says that a process is not our user's.
var errForeign = errors.New("process of another user")

// listed is a process as the system's own list of all shows it.
type listed struct {
	monitor.Identity // Start is 0 where the list does not tell
	parent           int
	name             string
}

// Table follows the process table incrementally: the processes of our user,
// one pass at a time. It is not safe for concurrent use. Each pass takes one
// list of all processes; only those that are new, changed, young or due for
// their look once a minute are read.
type Table struct {
	known map[int]*entry
}

// entry is what Table remembers about one pid.
type entry struct {
	as      listed
	id      monitor.Identity // the zero Identity for processes of others
	program string           // executable and arguments
	young   time.Time        // until then looked at in every pass
	due     time.Time        // when to look again after that
}

// NewTable makes a table that knows nothing yet.
func NewTable() *Table { return &Table{known: map[int]*entry{}} }

// Pass returns what is new since the last pass, everything of ours in the
// first one: new processes, and known ones that run another program or show
// other arguments than when they were looked at last. Processes with an empty
// command line are not returned, nor is anything that vanishes while it is
// read.
func (t *Table) Pass() (fresh []Info, err error) {
	now := time.Now()
	all, err := ours()
	if err != nil {
		return nil, fmt.Errorf("listing all processes: %w", err)
	}
	first := len(t.known) == 0
	next := make(map[int]*entry, len(all))
	for i, l := range all {
		e := t.known[l.PID]
		if e != nil && e.as == l && now.After(e.young) && now.Before(e.due) {
			next[l.PID] = e
			continue
		}
		if e == nil || e.as != l {
			e = &entry{as: l, young: now.Add(youngFor)}
			if first {
				e.young = now
			}
		}
		e.due = now.Add(roundTrip)
		if first {
			e.due = now.Add(roundTrip * time.Duration(i+1) / time.Duration(len(all)))
		}
		next[l.PID] = e
		info, err := readOurs(l.PID)
		if errors.Is(err, ErrGone) {
			delete(next, l.PID)
			continue
		}
		if err != nil {
			continue
		}
		program := info.Exe + "\x00" + strings.Join(info.Args, "\x00")
		if len(info.Args) == 0 || (info.Identity == e.id && program == e.program) {
			continue
		}
		e.id, e.program = info.Identity, program
		fresh = append(fresh, info)
	}
	t.known = next
	return fresh, nil
}

// Children returns the pids of the direct children.
func Children(pid int) ([]int, error) {
	s, err := ReadStat(pid)
	if err != nil {
		return nil, err
	}
	tree, err := descend(s, 1)
	if err != nil {
		return nil, err
	}
	pids := make([]int, 0, len(tree)-1)
	for _, s := range tree[1:] {
		pids = append(pids, s.PID)
	}
	return pids, nil
}

// Tree returns the stat of root and of all its descendants, root first, every
// parent before its children. The error is ErrGone when root is no longer that
// process.
func Tree(root monitor.Identity) ([]Stat, error) {
	s, err := ReadStat(root.PID)
	if err != nil {
		return nil, err
	}
	if s.Identity != root {
		return nil, gone(root.PID)
	}
	return descend(s, -1)
}

// descend finds the descendants of root, depth generations of them (all if
// negative). A child that started before its parent is none: its real parent
// has ended and the pid was reused.
func descend(root Stat, depth int) ([]Stat, error) {
	all, err := everyone()
	if err != nil {
		return nil, fmt.Errorf("listing all processes: %w", err)
	}
	children := make(map[int][]int)
	for _, l := range all {
		if l.PID != l.parent {
			children[l.parent] = append(children[l.parent], l.PID)
		}
	}
	pids := []int{root.PID}
	for from := 0; depth != 0 && from < len(pids); depth-- {
		generation := pids[from:]
		from = len(pids)
		for _, parent := range generation {
			for _, pid := range children[parent] {
				if !slices.Contains(pids, pid) {
					pids = append(pids, pid)
				}
			}
		}
	}
	stats, err := readStats(pids[1:])
	if err != nil {
		return nil, err
	}
	tree := []Stat{root}
	for _, pid := range pids[1:] {
		s, ok := stats[pid]
		above := slices.IndexFunc(tree, func(p Stat) bool { return p.PID == s.Parent })
		if ok && above >= 0 && s.Start >= tree[above].Start {
			tree = append(tree, s)
		}
	}
	return tree, nil
}

// ended tells whether a process has ended or is another one by now.
func ended(id monitor.Identity) bool {
	now, state, err := identify(id.PID)
	if err != nil {
		return errors.Is(err, ErrGone)
	}
	return now != id || state == Unreaped
}

package situation

import (
	"fmt"
	"math"
	"slices"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/process"
	"lamplighter/monitor/rules"
)

// table answers what the living system would answer.
type table struct {
	s        *Situation
	byPID    map[int]*Process
	children map[int][]int // ascending
}

func (s *Situation) table() *table {
	t := &table{s: s, byPID: make(map[int]*Process, len(s.Processes)), children: map[int][]int{}}
	for i := range s.Processes {
		p := &s.Processes[i]
		t.byPID[p.PID] = p
		if p.Parent != p.PID {
			t.children[p.Parent] = append(t.children[p.Parent], p.PID)
		}
	}
	for _, list := range t.children {
		slices.Sort(list)
	}
	return t
}

func (p *Process) identity() monitor.Identity { return monitor.Identity{PID: p.PID, Start: p.Start} }

func (p *Process) info() process.Info {
	return process.Info{Identity: p.identity(), Parent: p.Parent, Name: p.Name, Exe: p.Exe, Args: p.Args}
}

func (p *Process) stat() process.Stat {
	state := process.Running
	switch p.State {
	case Stopped:
		state = process.Stopped
	case Unreaped:
		state = process.Unreaped
	}
	cpu := time.Duration(0)
	if p.Seconds > 0 && p.Seconds < math.MaxInt64/1e9 {
		cpu = time.Duration(p.Seconds * float64(time.Second))
	}
	return process.Stat{Identity: p.identity(), Parent: p.Parent, State: state, CPU: cpu, RSSBytes: p.RSS}
}

// lives tells whether a process is in the table and has not ended.
func (t *table) lives(id monitor.Identity) bool {
	p := t.byPID[id.PID]
	return p != nil && p.Start == id.Start && p.State != Unreaped
}

// view is how process.Wrappers sees the table.
func (t *table) view() process.View {
	find := func(pid int) (*Process, error) {
		if p := t.byPID[pid]; p != nil {
			return p, nil
		}
		return nil, fmt.Errorf("process %d: %w", pid, process.ErrGone)
	}
	return process.View{
		Read: func(pid int) (process.Info, error) {
			p, err := find(pid)
			if err != nil {
				return process.Info{}, err
			}
			return p.info(), nil
		},
		ReadStat: func(pid int) (process.Stat, error) {
			p, err := find(pid)
			if err != nil {
				return process.Stat{}, err
			}
			return p.stat(), nil
		},
		Children:    func(pid int) ([]int, error) { return t.children[pid], nil },
		SameInput:   t.sameInput,
		Accompanies: func(pid int) bool { return t.s.Platform == "windows" && t.byPID[pid].Name == "conhost" },
	}
}

// sameInput is what process.Wrappers asks: the same standard input, or one that
// the server has moved away and left the null device for.
func (t *table) sameInput(server, wrapper monitor.Identity) bool {
	if t.s.Platform != "linux" {
		return true
	}
	given, ok := t.input(wrapper)
	if !ok {
		return false
	}
	mine, has := t.input(server)
	switch {
	case has && sameEnd(mine, given):
		return true
	case has && mine.File != "null":
		return false
	}
	return slices.ContainsFunc(t.byPID[server.PID].Descriptors, func(d Descriptor) bool {
		return d.FD > 2 && d.Access != "w" && sameEnd(d, given)
	})
}

func sameEnd(a, b Descriptor) bool {
	return a.Pipe == b.Pipe && a.Socket == b.Socket && a.File == b.File
}

// input is descriptor 0.
func (t *table) input(id monitor.Identity) (Descriptor, bool) {
	all := t.byPID[id.PID].Descriptors
	i := slices.IndexFunc(all, func(d Descriptor) bool { return d.FD == 0 })
	if i < 0 {
		return Descriptor{}, false
	}
	return all[i], true
}

func isLauncher(p process.Info) bool { return rules.IsLauncher(p.Exe, p.Args) }

// below are a process and all its descendants, each parent before its children;
// into those that leave holds for it does not go.
func (t *table) below(root int, leave func(*Process) bool) []*Process {
	var list []*Process
	if p := t.byPID[root]; p != nil {
		list = append(list, p)
	}
	for i := 0; i < len(list); i++ {
		for _, pid := range t.children[list[i].PID] {
			// What started before its parent has got the pid of a dead one for it.
			child := t.byPID[pid]
			if child.Start >= list[i].Start && !slices.Contains(list, child) && (leave == nil || !leave(child)) {
				list = append(list, child)
			}
		}
	}
	return list
}

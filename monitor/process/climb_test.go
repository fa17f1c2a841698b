package process

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"lamplighter/monitor"
)

// stats is a system of which no more is known than this.
type stats struct {
	System
	read func(pid int) (Stat, error)
}

func (s stats) Stat(pid int) (Stat, error) { return s.read(pid) }

func TestAncestorsOfTables(t *testing.T) {
	proc := func(pid int, start uint64, parent int) Stat {
		return Stat{Identity: monitor.Identity{PID: pid, Start: start}, Parent: parent}
	}
	for _, c := range []struct {
		name  string
		table []Stat
		want  []int
	}{
		{"up to the top", []Stat{proc(9, 30, 5), proc(5, 20, 1), proc(1, 0, 0)}, []int{5, 1}},
		{"same tick", []Stat{proc(9, 20, 5), proc(5, 20, 1), proc(1, 20, 0)}, []int{5, 1}},
		{"a parent that started later", []Stat{proc(9, 30, 5), proc(5, 31, 1), proc(1, 0, 0)}, nil},
		{"a grandparent that started later", []Stat{proc(9, 30, 5), proc(5, 20, 7), proc(7, 21, 1), proc(1, 0, 0)}, []int{5}},
		{"a parent that is gone", []Stat{proc(9, 30, 5), proc(1, 0, 0)}, nil},
		{"its own parent", []Stat{proc(9, 30, 9)}, nil},
	} {
		got, err := Above(stats{read: func(pid int) (Stat, error) {
			for _, s := range c.table {
				if s.PID == pid {
					return s, nil
				}
			}
			return Stat{}, gone(pid)
		}}, 9)
		var pids []int
		for _, id := range got {
			pids = append(pids, id.PID)
		}
		if err != nil || !slices.Equal(pids, c.want) {
			t.Errorf("%s: %v, %v", c.name, pids, err)
		}
	}
}

func TestAncestorsWhoseParentEndsMeanwhile(t *testing.T) {
	adopted := false
	got, err := Above(stats{read: func(pid int) (Stat, error) {
		switch {
		case pid == 9 && !adopted:
			return Stat{Identity: monitor.Identity{PID: 9, Start: 9}, Parent: 5}, nil
		case pid == 9:
			return Stat{Identity: monitor.Identity{PID: 9, Start: 9}, Parent: 1}, nil
		case pid == 1:
			return Stat{Identity: monitor.Identity{PID: 1}}, nil
		}
		adopted = true
		return Stat{}, gone(pid)
	}}, 9)
	if err != nil || !slices.Equal(got, []monitor.Identity{{PID: 1}}) {
		t.Error(got, err)
	}
	got, err = Above(stats{read: func(pid int) (Stat, error) {
		if pid == 9 {
			return Stat{Identity: monitor.Identity{PID: 9, Start: 9}, Parent: 5}, nil
		}
		return Stat{}, fs.ErrPermission
	}}, 9)
	if err != nil || len(got) > 0 {
		t.Error("a hidden parent:", got, err)
	}
}

// TestAncestorsEnd asks about any table of parents, circles too.
func TestAncestorsEnd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		table := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Stat {
			return Stat{
				Identity: monitor.Identity{Start: rapid.Uint64Range(0, 3).Draw(t, "start")},
				Parent:   rapid.IntRange(-1, 8).Draw(t, "parent"),
			}
		}), 8, 8).Draw(t, "table")
		read := func(pid int) (Stat, error) {
			if pid < 0 || pid >= len(table) {
				return Stat{}, gone(pid)
			}
			s := table[pid]
			s.PID = pid
			return s, nil
		}
		above, err := Above(stats{read: read}, 0)
		if err != nil {
			return // a circle of equal ages
		}
		start := table[0].Start
		for _, id := range above {
			if id.Start > start {
				t.Fatalf("%v above something older: %v", id, above)
			}
			start = id.Start
		}
	})
}

func TestTreeOfTables(t *testing.T) {
	table := map[int]Stat{}
	for _, p := range [][3]int{{1, 5, 1}, {7, 5, 1}, {8, 9, 7}, {9, 4, 1}, {10, 9, 3}} { // pid, start, parent
		table[p[0]] = Stat{Identity: monitor.Identity{PID: p[0], Start: uint64(p[1])}, Parent: p[2]}
	}
	stat := func(pid int) (Stat, error) {
		s, ok := table[pid]
		if !ok {
			return s, gone(pid)
		}
		return s, nil
	}
	// One is its own parent, one is older than its parent, one has another, and one has ended.
	children := map[int][]int{1: {1, 7, 9, 10, 11}, 7: {8, 7}}
	tree, err := treeOf(table[1].Identity, stat, func(pid int) ([]int, error) { return children[pid], nil })
	if want := []Stat{table[1], table[7], table[8]}; err != nil || len(tree) != 3 || tree[1].Identity != want[1].Identity || tree[2].Identity != want[2].Identity {
		t.Errorf("%v, %v", tree, err)
	}
	if tree, err := treeOf(table[1].Identity, stat, func(int) ([]int, error) { return nil, errors.ErrUnsupported }); err == nil {
		t.Errorf("children that are not known: %v", tree)
	}
}

func TestAncestorsOfThisProcess(t *testing.T) {
	above, err := Above(Local(), os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	// Under Wine there is none when this was started from outside.
	if parent := os.Getppid(); parent > 0 && (len(above) == 0 || above[0].PID != parent) {
		t.Errorf("%v, the parent is %d", above, os.Getppid())
	}
	if _, err := Above(Local(), -1); !errors.Is(err, ErrGone) {
		t.Error(err)
	}
	if ours, err := SameUser(os.Getpid()); !ours || err != nil {
		t.Error(ours, err)
	}
	if _, err := SameUser(-1); !errors.Is(err, ErrGone) {
		t.Error(err)
	}
}

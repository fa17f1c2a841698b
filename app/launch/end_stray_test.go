package launch

import (
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"lamplighter/monitor"
	"lamplighter/monitor/process"
)

// TestStrays: each process is written as "pid<parent", ours with an exclamation
// mark. All have started in the order of their pids, except those with a minus,
// which have started first. Of the parents that are not among them, 1 and those
// from 50 take in orphans, and those from 90 have gone.
func TestStrays(t *testing.T) {
	for _, c := range []struct {
		name, all string
		want      []int
	}{
		{"nobody", "", nil},
		{"a keeper with its server", "60<40! 61<60! 62<61", nil},
		{"a shell below a terminal that serves many", "60<40! 61<60! 70<41 71<70 72<71", []int{70}},
		{"a daemon", "60<40! 70<1", nil},
		{"a daemon of a user", "60<40! 70<50 71<70", nil},
		{"a parent that has gone", "70<90", nil},
		{"one that was ours before", "70<41! 71<70", nil},
		{"two windows", "70<41 71<41 72<1", []int{70, 71}},
		{"its parent's pid is used again", "41<1 70-<41", []int{70}},
		{"below what cannot be seen", "70<0", []int{70}},
	} {
		all, has := family(c.all)
		found := strays(all, has("!"), func(p process.Stat) (process.Info, bool) {
			name := "terminal"
			if p.Parent >= 50 {
				name = "systemd"
			}
			// One that has its pid now is another one.
			return process.Info{Identity: monitor.Identity{PID: p.Parent, Start: 1000}, Name: name}, p.Parent < 90
		})
		var got []int
		for id := range found {
			got = append(got, id.PID)
		}
		if slices.Sort(got); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// TestStraysInAnyForest: processes come and go in any way, below a keeper, below
// somebody else and as daemons. What is left of the launch is ended: exactly what
// descends from its keeper and what orphans there are, and never what somebody
// else has started or what is below that.
func TestStraysInAnyForest(t *testing.T) {
	const init, keeper, terminal, firstFree = 1, 2, 3, 4
	rapid.Check(t, func(t *rapid.T) {
		parent := map[int]int{keeper: init, terminal: init}
		theirs := map[int]bool{terminal: true} // what the terminal started, and what is below
		seen := map[monitor.Identity]bool{{PID: keeper, Start: keeper}: true}
		steps := rapid.IntRange(0, 20).Draw(t, "steps")
		for next := firstFree; next < firstFree+steps; next++ {
			alive := slices.Sorted(maps.Keys(parent))
			if next > firstFree && rapid.Bool().Draw(t, "ends") {
				// A keeper, a server or a daemon ends, and leaves its children to init.
				if gone := rapid.SampledFrom(alive).Draw(t, "which"); !theirs[gone] {
					delete(parent, gone)
					for pid, above := range parent {
						if above == gone {
							parent[pid] = init
						}
					}
					alive = slices.Sorted(maps.Keys(parent))
				}
			}
			parent[next] = rapid.SampledFrom(alive).Draw(t, "parent")
			theirs[next] = theirs[parent[next]]
		}
		var all []process.Stat
		for _, pid := range rapid.Permutation(slices.Collect(maps.Keys(parent))).Draw(t, "order") {
			if pid != terminal { // which alone has no mark
				all = append(all, process.Stat{Identity: monitor.Identity{PID: pid, Start: uint64(pid)}, Parent: parent[pid]})
			}
		}
		found := strays(all, func(id monitor.Identity) bool { return seen[id] }, func(p process.Stat) (process.Info, bool) {
			return process.Info{Identity: monitor.Identity{PID: p.Parent, Start: uint64(p.Parent)}}, true
		})
		spared := divide(all, func(id monitor.Identity) bool { return found[id] }, func(id monitor.Identity) bool { return seen[id] })
		for _, p := range all {
			if spared[p.Identity] != theirs[p.PID] {
				t.Fatalf("%d below %d: spared %v", p.PID, p.Parent, spared[p.Identity])
			}
		}
	})
}

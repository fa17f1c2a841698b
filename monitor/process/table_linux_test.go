package process

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// fakeProc is a /proc made of files, with a clock that the test moves.
type fakeProc struct {
	t    interface{ Fatal(...any) }
	root string
	now  time.Duration
}

// fakeProcess is one process of it. Layout stands for the addresses of its
// program.
type fakeProcess struct {
	start, layout uint64
	state         string // "S" if empty
	name          string // "fake" if empty
	parent        int    // 1 if 0
	args          []string
}

func newFakeProc(t interface{ Fatal(...any) }, root string) *fakeProc {
	f := &fakeProc{t: t, root: root, now: time.Hour}
	f.must(os.MkdirAll(filepath.Join(root, "self"), 0o755))
	f.loadavg(100)
	return f
}

func (f *fakeProc) must(err error) {
	if err != nil {
		f.t.Fatal(err)
	}
}

func (f *fakeProc) loadavg(last int) {
	f.must(os.WriteFile(filepath.Join(f.root, "loadavg"), fmt.Appendf(nil, "0.00 0.01 0.05 1/80 %d\n", last), 0o644))
}

func (f *fakeProc) put(pid int, p fakeProcess) {
	f.write(pid, "stat", fmt.Sprintf("%d (%s) %s %d 7 7 0 -1 0 0 0 0 0 250 50 0 0 20 0 1 0 %d 4096000 321 1 %d 95000 140000 0 0\n",
		pid, cmp.Or(p.name, "fake"), cmp.Or(p.state, "S"), cmp.Or(p.parent, 1), p.start, p.layout))
	cmdline := ""
	for _, a := range p.args {
		cmdline += a + "\x00"
	}
	f.write(pid, "cmdline", cmdline)
}

// write makes a file of a process.
func (f *fakeProc) write(pid int, name, text string) {
	dir := filepath.Join(f.root, strconv.Itoa(pid))
	f.must(os.MkdirAll(dir, 0o755))
	f.must(os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
}

func (f *fakeProc) remove(pid int) {
	f.must(os.RemoveAll(filepath.Join(f.root, strconv.Itoa(pid))))
}

func (f *fakeProc) table() *Table {
	table := NewTable()
	table.source = &tableSource{fs: procfs{f.root}, uid: uint32(os.Geteuid()), now: func() time.Duration { return f.now }, gated: true}
	return table
}

// In the first pass a process is as young as it is, and not new.
func TestPassLooksOnceAtWhatHasRunForLong(t *testing.T) {
	f := newFakeProc(t, t.TempDir())
	f.put(10, fakeProcess{start: 1, layout: 5, args: []string{"old"}})
	f.put(11, fakeProcess{start: uint64(f.now / tick), layout: 5, args: []string{"young"}})
	table := f.table()
	expect(t, f.pass(table), "10:old", "11:young")
	f.put(10, fakeProcess{start: 1, layout: 6, args: []string{"another"}})
	f.put(11, fakeProcess{start: uint64((f.now - time.Second) / tick), layout: 6, args: []string{"server"}})
	expect(t, f.pass(table), "11:server")
}

// pass makes one pass a second after the one before and names what it returns.
func (f *fakeProc) pass(table *Table) []string {
	f.now += time.Second
	fresh, err := table.Pass()
	f.must(err)
	var names []string
	for _, info := range fresh {
		names = append(names, fmt.Sprintf("%d:%s", info.PID, strings.Join(info.Args, " ")))
	}
	slices.Sort(names)
	return names
}

func expect(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("the pass returned %q, want %q", got, want)
	}
}

func TestPassReturnsEachProcessOnce(t *testing.T) {
	f := newFakeProc(t, t.TempDir())
	f.put(10, fakeProcess{start: 1, layout: 5, args: []string{"server", "a"}})
	f.put(11, fakeProcess{start: 1, layout: 5}) // a kernel thread
	f.put(12, fakeProcess{start: 1, state: "Z"})
	table := f.table()
	expect(t, f.pass(table), "10:server a")
	for range 200 {
		expect(t, f.pass(table))
	}
	f.put(101, fakeProcess{start: 2, layout: 6, args: []string{"client"}})
	f.loadavg(101)
	expect(t, f.pass(table), "101:client")
	expect(t, f.pass(table))
}

func TestPassSeesAProcessThatShowsLaterThanItsPid(t *testing.T) {
	f := newFakeProc(t, t.TempDir())
	table := f.table()
	f.loadavg(101)
	expect(t, f.pass(table))
	f.put(101, fakeProcess{start: 2, layout: 6, args: []string{"late"}})
	expect(t, f.pass(table), "101:late")
	f.loadavg(102)
	expect(t, f.pass(table))
	f.put(102, fakeProcess{start: 2, layout: 6, args: []string{"later"}})
	expect(t, f.pass(table), "102:later")
	f.loadavg(103)
	for range 10 { // passes may follow each other faster
		expect(t, f.pass(table))
		f.now -= 980 * time.Millisecond
	}
	f.put(103, fakeProcess{start: 2, layout: 6, args: []string{"latest"}})
	expect(t, f.pass(table), "103:latest")
}

func TestPassSeesANewProgramUnderAYoungProcess(t *testing.T) {
	f := newFakeProc(t, t.TempDir())
	table := f.table()
	f.pass(table)
	f.put(101, fakeProcess{start: 2, layout: 6, args: []string{"shell"}})
	f.loadavg(101)
	expect(t, f.pass(table), "101:shell")
	f.put(101, fakeProcess{start: 2, layout: 7, args: []string{"server"}})
	expect(t, f.pass(table), "101:server")
	f.put(101, fakeProcess{start: 2, layout: 7, args: []string{"a new title"}})
	expect(t, f.pass(table))
}

func TestPassWaitsForACommandLine(t *testing.T) {
	f := newFakeProc(t, t.TempDir())
	table := f.table()
	f.pass(table)
	f.put(101, fakeProcess{start: 2}) // in the middle of its exec
	f.loadavg(101)
	expect(t, f.pass(table))
	f.put(101, fakeProcess{start: 2, layout: 7, args: []string{"server"}})
	expect(t, f.pass(table), "101:server")
}

func TestPassSeesWhatChangedInOldProcessesWithinAMinute(t *testing.T) {
	f := newFakeProc(t, t.TempDir())
	for pid := 1; pid <= 90; pid++ {
		f.put(pid, fakeProcess{start: 1, layout: 5, args: []string{"old"}})
	}
	table := f.table()
	f.pass(table)
	f.put(3, fakeProcess{start: 1, layout: 6, args: []string{"exec"}})
	f.put(50, fakeProcess{start: 9, layout: 5, args: []string{"reused"}}) // after a full circle
	f.put(90, fakeProcess{start: 1, layout: 5, args: []string{"title"}})
	var got []string
	for range 61 {
		got = append(got, f.pass(table)...)
	}
	slices.Sort(got)
	expect(t, got, "3:exec", "50:reused")

	f.put(4, fakeProcess{start: 1, layout: 6, args: []string{"exec"}})
	f.now += time.Hour // a suspend: everything is due
	expect(t, f.pass(table), "4:exec")
}

func TestPassLooksAgainWithoutTrustingLoadavg(t *testing.T) {
	f := newFakeProc(t, t.TempDir())
	trusting, wary := f.table(), f.table()
	wary.source.gated = false
	for range 4 {
		f.pass(trusting)
		f.pass(wary)
	}
	f.put(101, fakeProcess{start: 2, layout: 6, args: []string{"x"}}) // no trace in loadavg
	expect(t, f.pass(trusting))
	expect(t, f.pass(wary), "101:x")
}

func TestPassGoesOnWithBrokenEntries(t *testing.T) {
	f := newFakeProc(t, t.TempDir())
	f.put(10, fakeProcess{start: 1, layout: 5, args: []string{"fine"}})
	f.put(11, fakeProcess{start: 1, layout: 5, args: []string{"garbage"}})
	f.write(11, "stat", "\xff\x00garbage")
	f.must(os.MkdirAll(filepath.Join(f.root, "12"), 0o755)) // vanished in between: no files
	f.must(os.WriteFile(filepath.Join(f.root, "13"), nil, 0o644))
	f.put(14, fakeProcess{start: 1, layout: 5, args: []string{strings.Repeat("long ", 100_000)}})
	table := f.table()
	f.now += time.Second
	fresh, err := table.Pass()
	if err != nil || len(fresh) != 2 || fresh[0].PID != 10 || len(fresh[1].Args[0]) != maxCmdline {
		t.Fatalf("%d processes, %v", len(fresh), err)
	}
	f.must(os.WriteFile(filepath.Join(f.root, "loadavg"), []byte("nonsense"), 0o644))
	f.put(15, fakeProcess{start: 1, layout: 5, args: []string{"more"}})
	expect(t, f.pass(table), "15:more")
	f.must(os.RemoveAll(f.root))
	if fresh, err := table.Pass(); err == nil || len(fresh) > 0 {
		t.Errorf("without a /proc: %v, %v", fresh, err)
	}
}

// TestPassFollowsTheTable lets processes come, go and change at random. What
// passes return must be the truth: new processes at once, other changes within
// two round trips, nothing twice. A pid comes again only after a pass has listed
// the processes without it, as it does where pids come round after thousands.
func TestPassFollowsTheTable(t *testing.T) {
	const pids = 40
	base := t.TempDir()
	run := 0
	rapid.Check(t, func(r *rapid.T) {
		run++
		f := newFakeProc(r, filepath.Join(base, strconv.Itoa(run)))
		defer os.RemoveAll(f.root)
		f.loadavg(1)
		table := f.table()
		alive := map[int]fakeProcess{}
		reported := map[string]bool{}
		seen := map[int]fakeProcess{} // by pid, what was reported last
		freed := map[int]bool{}       // since the processes were listed last
		last, stamp, forks := 1, uint64(0), 0
		key := func(pid int, p fakeProcess) string { return fmt.Sprintf("%d-%d-%d", pid, p.start, p.layout) }
		pass := func(r *rapid.T, seconds int) {
			f.now += time.Duration(seconds) * time.Second
			fresh, err := table.Pass()
			if err != nil {
				r.Fatal(err)
			}
			for _, info := range fresh {
				p, ok := alive[info.PID]
				if !ok || p.start != info.Start || !slices.Equal(p.args, info.Args) {
					r.Fatalf("returned %+v, alive is %+v", info, p)
				}
				if reported[key(info.PID, p)] {
					r.Fatalf("returned %+v twice", info)
				}
				reported[key(info.PID, p)] = true
				seen[info.PID] = p
			}
			for pid, p := range alive {
				if seen[pid].start != p.start {
					r.Fatalf("pass did not return the new process %d: %+v", pid, p)
				}
			}
			if forks > 0 {
				clear(freed)
			}
			forks = 0
		}
		pass(r, 1)
		r.Repeat(map[string]func(*rapid.T){
			"fork": func(r *rapid.T) {
				if len(alive)+len(freed) > pids/2 || forks > pids/4 {
					r.Skip("crowded")
				}
				for next := last; ; {
					if next++; next > pids {
						next = 2
					}
					forks++
					if _, taken := alive[next]; !taken && !freed[next] {
						last = next
						break
					}
				}
				stamp++
				alive[last] = fakeProcess{start: uint64(f.now/tick) + stamp, layout: stamp, args: []string{"p", strconv.Itoa(int(stamp))}}
				f.put(last, alive[last])
				f.loadavg(last)
			},
			"exit": func(r *rapid.T) {
				if len(alive) == 0 {
					r.Skip("nobody")
				}
				pid := rapid.SampledFrom(sortedPids(alive)).Draw(r, "pid")
				delete(alive, pid)
				delete(seen, pid)
				freed[pid] = true
				f.remove(pid)
			},
			"exec": func(r *rapid.T) {
				if len(alive) == 0 {
					r.Skip("nobody")
				}
				pid := rapid.SampledFrom(sortedPids(alive)).Draw(r, "pid")
				stamp++
				p := alive[pid]
				p.layout, p.args = stamp, []string{"x", strconv.Itoa(int(stamp))}
				alive[pid] = p
				f.put(pid, p)
			},
			"pass": func(r *rapid.T) { pass(r, rapid.IntRange(0, 20).Draw(r, "seconds")) },
		})
		for range 2*int(roundTrip/time.Second) + 2 {
			pass(r, 1)
		}
		for pid, p := range alive {
			if !reported[key(pid, p)] {
				r.Fatalf("the program of %d was never returned: %+v", pid, p)
			}
		}
	})
}

func sortedPids(alive map[int]fakeProcess) []int {
	var pids []int
	for pid := range alive {
		pids = append(pids, pid)
	}
	slices.Sort(pids)
	return pids
}

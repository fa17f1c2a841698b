//go:build real && bench && linux

package bench

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// usage is what a process has needed so far.
type usage struct {
	cpu      time.Duration
	switches int // of context, of all threads: how often one of them woke or was put aside
}

// usageOf adds up all threads. A thread that ends takes its figures with it.
func usageOf(t *testing.T, pid int) usage {
	t.Helper()
	u := usage{switches: switchesOf(t, pid)}
	for _, task := range tasksOf(t, pid) {
		// Nanoseconds on a CPU come first (Documentation/scheduler/sched-stats.rst).
		ran, there := ofThread(t, filepath.Join(task, "schedstat"))
		if !there {
			continue
		}
		u.cpu += time.Duration(toNumber(t, strings.Fields(ran)[0]))
	}
	return u
}

func switchesOf(t *testing.T, pid int) int {
	t.Helper()
	sum := 0
	for _, task := range tasksOf(t, pid) {
		text, there := ofThread(t, filepath.Join(task, "status"))
		if !there {
			continue
		}
		for line := range strings.Lines(text) {
			if name, count, _ := strings.Cut(line, ":"); strings.HasSuffix(name, "voluntary_ctxt_switches") {
				sum += toNumber(t, strings.TrimSpace(count)) // nonvoluntary, too
			}
		}
	}
	return sum
}

// ofThread reads a file of a thread, and tells whether that is there still: it may
// end after it was listed, or while it is read. The process that has none left
// is noticed by tasksOf.
func ofThread(t *testing.T, file string) (text string, there bool) {
	t.Helper()
	content, err := os.ReadFile(file)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ESRCH):
		return "", false
	case err != nil:
		t.Fatal(err)
	}
	return string(content), true
}

func tasksOf(t *testing.T, pid int) []string {
	t.Helper()
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", pid))
	if err != nil || len(tasks) == 0 {
		t.Fatalf("no threads of process %d: %v", pid, err)
	}
	return tasks
}

// statusField reads a number from a file of lines like "VmRSS:   1234 kB".
func statusField(t *testing.T, file, name string) int {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, name+":"); ok {
			return toNumber(t, strings.Fields(rest)[0])
		}
	}
	t.Fatalf("%s does not tell %s", file, name)
	return 0
}

func toNumber(t *testing.T, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// megabytes reads a size that is given in kB.
func megabytes(t *testing.T, pid int, file, name string) float64 {
	t.Helper()
	return float64(statusField(t, fmt.Sprintf("/proc/%d/%s", pid, file), name)) * 1024 / 1e6
}

// rates is what processes need while time passes.
type rates struct {
	percent  float64 // of one core
	switches float64 // of context, per second
	awake    float64 // moments per second in which any of its threads ran
}

// moment is the length of time that counts as one moment awake, whatever
// happens in it: the CPU has left its sleep anyway.
const moment = 50 * time.Millisecond

// idleFor lets time pass, in which this program does nothing but look, and
// returns what each process needed.
func idleFor(t *testing.T, window time.Duration, pids ...int) []rates {
	t.Helper()
	before, last := make([]usage, len(pids)), make([]int, len(pids))
	for i, pid := range pids {
		before[i] = usageOf(t, pid)
		last[i] = before[i].switches
	}
	all := make([]rates, len(pids))
	tick := time.NewTicker(moment)
	defer tick.Stop()
	began := time.Now()
	for time.Since(began) < window {
		<-tick.C
		for i, pid := range pids {
			if now := switchesOf(t, pid); now != last[i] {
				last[i] = now
				all[i].awake++
			}
		}
	}
	for i, pid := range pids {
		after := usageOf(t, pid)
		seconds := time.Since(began).Seconds()
		all[i].percent = 100 * (after.cpu - before[i].cpu).Seconds() / seconds
		all[i].switches = float64(after.switches-before[i].switches) / seconds
		all[i].awake /= seconds
	}
	return all
}

// threadCPU is the CPU time that f needs on average, called n times; between
// is done before each call and does not count.
func threadCPU(t *testing.T, n int, between, f func()) time.Duration {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var sum time.Duration
	for range n {
		between()
		before := clock(t, unix.CLOCK_THREAD_CPUTIME_ID)
		f()
		sum += clock(t, unix.CLOCK_THREAD_CPUTIME_ID) - before
	}
	return sum / time.Duration(n)
}

// clock reads one of the clocks that count CPU time. Those are exact; what
// getrusage tells is brought up to date at the next tick of the scheduler.
func clock(t *testing.T, id int32) time.Duration {
	t.Helper()
	var ts unix.Timespec
	if err := unix.ClockGettime(id, &ts); err != nil {
		t.Fatal(err)
	}
	return time.Duration(ts.Nano())
}

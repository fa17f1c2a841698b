//go:build real && soak && linux

package endurance

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"lamplighter/app/e2e"
	"lamplighter/monitor"
	"lamplighter/monitor/view"
)

// soakReport is what a soak found, a line each.
type soakReport struct{ lines []string }

func (r *soakReport) add(what, format string, args ...any) {
	r.lines = append(r.lines, fmt.Sprintf("soak| %-34s %s", what, fmt.Sprintf(format, args...)))
}

func (r *soakReport) print(w io.Writer) {
	// On a line of its own: the test framework may be in the middle of one.
	fmt.Fprintf(w, "\n%s\n", strings.Join(r.lines, "\n"))
}

// counts adds what was done and what was told.
func (r *soakReport) counts(l *ledger, happened []monitor.Event) {
	l.mu.Lock()
	counts := maps.Clone(l.counts)
	r.add("instances seen", "%d", len(l.order))
	l.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		r.add(name, "%d", counts[name])
	}
	kinds := map[monitor.EventKind]int{}
	for _, e := range happened {
		kinds[e.Kind]++
	}
	r.add("events", "%d", len(happened))
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		r.add("events, "+view.EventWords(kind), "%d", kinds[kind])
	}
}

// holding is what a process has open, by kind, and its threads.
type holding struct {
	fds     map[string]int
	names   []string
	threads int
}

// holdings looks what lamplighter has open.
func (s *soak) holdings(t *testing.T) holding {
	t.Helper()
	pid := s.Run.Cmd.Process.Pid
	h := holding{fds: map[string]int{}, threads: kilobytesOf(t, pid, "Threads")}
	dir := fmt.Sprintf("/proc/%d/fd", pid)
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		target, err := os.Readlink(filepath.Join(dir, e.Name()))
		if err != nil {
			continue // closed meanwhile
		}
		kind := "file"
		switch name, _, _ := strings.Cut(target, ":"); {
		case strings.HasPrefix(target, "anon_inode:"):
			kind = strings.TrimPrefix(target, "anon_inode:")
		case name == "socket" || name == "pipe":
			kind = name
		}
		h.fds[kind]++
		h.names = append(h.names, target)
	}
	slices.Sort(h.names)
	return h
}

func (h holding) sum() int {
	n := 0
	for _, each := range h.fds {
		n += each
	}
	return n
}

// holdings holds what is open at the end against the beginning. A socket of a
// request that is just asked may come and go; everything else is counted exactly.
func (r *soakReport) holdings(t *testing.T, before, after holding) {
	t.Helper()
	const passing = 2
	for kind, n := range after.fds {
		slack := 0
		if kind == "socket" {
			slack = passing
		}
		if n > before.fds[kind]+slack {
			t.Errorf("descriptors: %d of the kind %s, before %d:\n%s\nbefore:\n%s", n, kind, before.fds[kind], strings.Join(after.names, "\n"), strings.Join(before.names, "\n"))
		}
	}
	r.add("descriptors, first and last", "%d %d", before.sum(), after.sum())
	// The runtime keeps threads that it has once needed; each goroutine that waits
	// in a system call would have one.
	const threads = 20
	if after.threads > before.threads+threads {
		t.Errorf("threads: %d, before %d", after.threads, before.threads)
	}
	r.add("threads, first and last", "%d %d", before.threads, after.threads)
}

// kilobytesOf reads a number from a process's status.
func kilobytesOf(t *testing.T, pid int, name string) int {
	t.Helper()
	n, err := statusNumber(pid, name)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// statusNumber is kilobytesOf for goroutines that may not end a test.
func statusNumber(pid int, name string) (int, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, name+":"); ok {
			return strconv.Atoi(strings.Fields(rest)[0])
		}
	}
	return 0, fmt.Errorf("the status of process %d does not tell %s", pid, name)
}

// cpu is the time that lamplighter has been on a CPU.
func (s *soak) cpu(t *testing.T) time.Duration {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.Run.Cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	// In hundredths of a second (proc_pid_stat(5)), from the fourteenth field on.
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	user, err1 := strconv.Atoi(fields[11])
	system, err2 := strconv.Atoi(fields[12])
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	return time.Duration(user+system) * 10 * time.Millisecond
}

// sampled is memory over time.
type sampled struct {
	at        []time.Time
	rss, anon []int // KB
	err       error // what ended the measuring too early
	stop      chan struct{}
	ended     chan struct{}
}

const sampleEvery = 2 * time.Second

// sample measures lamplighter's memory until finish.
func (s *soak) sample() *sampled {
	m := &sampled{stop: make(chan struct{}), ended: make(chan struct{})}
	pid := s.Run.Cmd.Process.Pid
	go func() {
		defer close(m.ended)
		tick := time.NewTicker(sampleEvery)
		defer tick.Stop()
		for {
			select {
			case <-m.stop:
				return
			case at := <-tick.C:
				rss, err1 := statusNumber(pid, "VmRSS")
				anon, err2 := statusNumber(pid, "RssAnon")
				if m.err = errors.Join(err1, err2); m.err != nil {
					return
				}
				m.at, m.rss, m.anon = append(m.at, at), append(m.rss, rss), append(m.anon, anon)
			}
		}
	}()
	return m
}

// finish ends the measuring.
func (m *sampled) finish(t *testing.T) {
	t.Helper()
	close(m.stop)
	<-m.ended
	if m.err != nil {
		t.Errorf("measuring the memory: %v", m.err)
	}
}

// slope is the growth by least squares, in KB per minute.
func slope(at []time.Time, values []int) float64 {
	var n, sx, sy, sxx, sxy float64
	for i := range at {
		x, y := at[i].Sub(at[0]).Minutes(), float64(values[i])
		n, sx, sy, sxx, sxy = n+1, sx+x, sy+y, sxx+x*x, sxy+x*y
	}
	if d := n*sxx - sx*sx; d != 0 {
		return (n*sxy - sx*sy) / d
	}
	return 0
}

// memory adds the memory. The first half does not count for the slope: there the
// heap grows to what the load needs. Afterwards it goes up and down with the
// collector and with what runs; only a growth that is steep, and that has come to
// more than half of what there was, is a leak for sure.
func (r *soakReport) memory(t *testing.T, m *sampled) {
	t.Helper()
	if len(m.at) < 4 {
		t.Errorf("the memory was measured %d times only", len(m.at))
		return
	}
	half, last := len(m.at)/2, len(m.at)-1
	growth := slope(m.at[half:], m.anon[half:])
	r.add("VmRSS, first and last", "%d KB %d KB", m.rss[0], m.rss[last])
	r.add("RssAnon, first, half, highest, last", "%d KB %d KB %d KB %d KB", m.anon[0], m.anon[half], slices.Max(m.anon), m.anon[last])
	r.add("slope of RssAnon, second half", "%+.0f KB/min", growth)
	r.add("slope of VmRSS, second half", "%+.0f KB/min", slope(m.at[half:], m.rss[half:]))
	const steep = 1024 // KB/min
	if grown := growth * m.at[last].Sub(m.at[half]).Minutes(); growth > steep && grown > float64(m.anon[half])/2 {
		t.Errorf("the memory grows by %.0f KB/min", growth)
	}
}

// dump ends lamplighter by SIGQUIT, with which Go's runtime prints what each
// goroutine does, and returns how many there are by what started them.
func (s *soak) dump(t *testing.T) map[string]int {
	t.Helper()
	s.Ends(t, syscall.SIGQUIT)
	text := s.Run.Err.String()
	_, text, found := strings.Cut(text, "SIGQUIT: quit\n")
	if !found {
		t.Fatalf("it did not say what its goroutines do: %s", e2e.ExcerptOf(text))
	}
	return goroutines(text)
}

var (
	removedState  = regexp.MustCompile(`"state":\s*"removed"`)
	goroutineHead = regexp.MustCompile(`^goroutine \d+ `)
	createdBy     = regexp.MustCompile(`(?m)^created by (\S+)(?: in goroutine \d+)?\n\t(?:.*/)?([^/]+:\d+)`)
)

// goroutines counts those of a dump by the place at which they were started.
func goroutines(dump string) map[string]int {
	found := map[string]int{}
	for _, each := range strings.Split(dump, "\n\n") {
		if !goroutineHead.MatchString(strings.TrimLeft(each, "\n")) || strings.Contains(each, "goroutine 0 ") {
			continue
		}
		place := "main"
		if by := createdBy.FindStringSubmatch(each); by != nil {
			place = by[1] + " " + by[2]
		}
		found[place]++
	}
	return found
}

// goroutines holds those at the end against those of a lamplighter that has done
// little.
func (r *soakReport) goroutines(t *testing.T, quiet, busy map[string]int) {
	t.Helper()
	sum := func(all map[string]int) (n int) {
		for _, each := range all {
			n += each
		}
		return n
	}
	for _, place := range slices.Sorted(maps.Keys(busy)) {
		if busy[place] > quiet[place] {
			t.Errorf("goroutines: %d of %s, in one that has done little %d", busy[place], place, quiet[place])
		}
	}
	r.add("goroutines, little done and last", "%d %d", sum(quiet), sum(busy))
}

// onlyOurs checks that nothing runs but what has to: the shell of the namespace,
// this test, the bus and lamplighter.
func (s *soak) onlyOurs(t *testing.T) {
	t.Helper()
	names, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		pid, _ := strconv.Atoi(filepath.Base(name))
		line := e2e.CommandLine(pid)
		program, _ := os.Readlink(name + "/exe")
		if pid == 1 || pid == os.Getpid() || program == e2e.Program || filepath.Base(program) == "dbus-daemon" || !e2e.Alive(pid) {
			continue
		}
		t.Errorf("process %d is left: %s", pid, line)
	}
}

// nothingLeftBehind checks that no socket, temporary file or record of a server is
// left after lamplighter has ended: nothing but what it keeps on purpose, and the
// files of locks that nobody holds.
func (s *soak) nothingLeftBehind(t *testing.T) {
	t.Helper()
	kept := []string{"events.jsonl", "lamplighter.log", "verdicts.json", "told.json", "proofs.json"}
	for _, dir := range []string{s.Path("tmp"), s.Path("run"), s.State()} {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			if strings.Contains(path, "/gopls-") {
				return nil // of a language server that was killed with its Serena
			}
			name := d.Name()
			rotated := strings.HasPrefix(name, "events-") || strings.HasPrefix(name, "lamplighter-") || strings.HasPrefix(name, "lamplighter.log")
			if filepath.Base(filepath.Dir(path)) == "records" {
				// That a workspace is gone is remembered for a while.
				text, err := os.ReadFile(path)
				if err != nil || !removedState.Match(text) {
					t.Errorf("a record of a workspace is left: %v %s", err, text)
				}
				return nil
			}
			inState := strings.HasPrefix(path, s.State()) && (slices.Contains(kept, name) || rotated || strings.HasSuffix(name, ".lock"))
			if !d.Type().IsRegular() || !inState {
				rel, _ := filepath.Rel(s.Dir, path)
				t.Errorf("left behind: %s (%s)", rel, d.Type())
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// result adds the last line.
func (r *soakReport) result(t *testing.T) {
	if t.Failed() {
		r.add("result", "FAILED")
		return
	}
	r.add("result", "ok")
}

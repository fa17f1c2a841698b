package main

import (
	"os"
	"strconv"
	"strings"
	"syscall"
)

// family finds the children of processes for one question.
type family struct {
	// all maps parents to children. It is made only where the kernel does not
	// list children itself (CONFIG_PROC_CHILDREN).
	all map[int][]int
	// without tells who is left out, or is nil.
	without func(stat) bool
}

func newFamily() *family {
	if syscall.Access("/proc/thread-self/children", 4) == nil {
		return &family{}
	}
	return &family{all: scan()}
}

// children are those of which it is certain that the parent is this process,
// and not one that got its pid just now.
func (f *family) children(parent proc) []proc {
	var children []proc
	for _, pid := range f.candidates(parent.pid) {
		if s, ok := readStat(pid); ok && s.parent == parent.pid && (f.without == nil || !f.without(s)) {
			children = append(children, s.proc)
		}
	}
	if now, ok := readStat(parent.pid); !ok || now.proc != parent {
		return nil
	}
	return children
}

func (f *family) candidates(parent int) []int {
	if f.all != nil {
		return f.all[parent]
	}
	tasks := "/proc/" + strconv.Itoa(parent) + "/task"
	var pids []int
	// Each thread lists what it has forked.
	for _, tid := range numbered(tasks) {
		text, _ := os.ReadFile(tasks + "/" + strconv.Itoa(tid) + "/children") // the thread may have ended
		for field := range strings.FieldsSeq(string(text)) {
			if pid, err := strconv.Atoi(field); err == nil {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

// scan asks every process for its parent.
func scan() map[int][]int {
	all := map[int][]int{}
	for _, pid := range numbered("/proc") {
		if s, ok := readStat(pid); ok {
			all[s.parent] = append(all[s.parent], pid)
		}
	}
	return all
}

// numbered lists the numbers among the names in a directory.
func numbered(dir string) []int {
	d, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer d.Close()
	names, _ := d.Readdirnames(-1) // what was read before an error counts
	var numbers []int
	for _, name := range names {
		if n, err := strconv.Atoi(name); err == nil {
			numbers = append(numbers, n)
		}
	}
	return numbers
}

// stat is what we need of /proc/PID/stat.
type stat struct {
	proc
	parent    int
	name      string
	suspended bool // by a signal or by a debugger
}

// readStat reads who has a pid now.
func readStat(pid int) (stat, bool) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return stat{}, false
	}
	s, ok := parseStat(string(text))
	return s, ok && s.pid == pid
}

// parseStat reads /proc/PID/stat, see proc(5). The name in parentheses may hold
// anything, parentheses too, hence the *last* ")".
func parseStat(text string) (stat, bool) {
	// Counted from the state on, which is field 3.
	const parent, start = 4 - 3, 22 - 3
	pid, rest, ok := strings.Cut(text, " (")
	end := strings.LastIndexByte(rest, ')')
	if !ok || end < 0 {
		return stat{}, false
	}
	fields := strings.Fields(rest[end+1:])
	if len(fields) <= start {
		return stat{}, false
	}
	s := stat{name: rest[:end], suspended: fields[0] == "T" || fields[0] == "t"}
	var errs [3]error
	s.pid, errs[0] = strconv.Atoi(pid)
	s.parent, errs[1] = strconv.Atoi(fields[parent])
	s.start, errs[2] = strconv.ParseUint(fields[start], 10, 64)
	return s, errs == [3]error{} && s.pid > 0 && s.parent >= 0
}

package main

import (
	"maps"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"lamplighter/app/apptest"
)

func TestParseStat(t *testing.T) {
	const tail = " S 7 1 1 0 -1 4194560 1 0 0 0 3 4 0 0 20 0 1 0 12345 1 2 3\n"
	for _, name := range []string{"sleep", "a b", ") S 1 (", "", "x\ny", "(("} {
		for state, suspended := range map[string]bool{"S": false, "R": false, "T": true, "t": true} {
			want := stat{proc{42, 12345}, 7, name, suspended}
			if got, ok := parseStat("42 (" + name + ") " + state + tail[2:]); !ok || got != want {
				t.Errorf("%q, %s: %v, %v", name, state, got, ok)
			}
		}
	}
	for _, text := range []string{
		"", "42", "42 (sleep", "42 (sleep) S 7", "x (sleep)" + tail, "0 (sleep)" + tail,
		strings.Replace("42 (sleep)"+tail, " 7 ", " x ", 1), strings.Replace("42 (sleep)"+tail, "12345", "-1", 1),
	} {
		if got, ok := parseStat(text); ok {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// crowd starts children that live until the test ends.
func crowd(t *testing.T, n int) []proc {
	t.Helper()
	var all []proc
	for range n {
		r := startProgram(t, exec.Command("sleep", "600"))
		s, ok := readStat(r.cmd.Process.Pid)
		if !ok {
			t.Fatal("a child is not there")
		}
		all = append(all, s.proc)
	}
	slices.SortFunc(all, func(a, b proc) int { return a.pid - b.pid })
	return all
}

func sorted(all []proc) []proc {
	slices.SortFunc(all, func(a, b proc) int { return a.pid - b.pid })
	return all
}

// TestChildren: the kernel's lists and the parents of all processes say the
// same.
func TestChildren(t *testing.T) {
	want := crowd(t, 20)
	for name, f := range map[string]*family{"listed": newFamily(), "scanned": {all: scan()}} {
		if got := sorted(f.children(self())); !slices.Equal(got, want) {
			t.Errorf("%s: %v, not %v", name, got, want)
		}
	}
}

// TestChildrenOfAnother: a pid that is another process's by now has no children
// for us.
func TestChildrenOfAnother(t *testing.T) {
	crowd(t, 1)
	other := self()
	other.start--
	if got := newFamily().children(other); got != nil {
		t.Errorf("%v", got)
	}
	// One that has another parent by now is nobody's child.
	stale := &family{all: map[int][]int{os.Getpid(): {os.Getppid(), 1 << 30}}}
	if got := stale.children(self()); got != nil {
		t.Errorf("%v", got)
	}
}

// TestSignalSpares: nothing is sent to a process that merely has the pid.
func TestSignalSpares(t *testing.T) {
	r := helper(t, "hear")
	s, ok := readStat(r.cmd.Process.Pid)
	if !ok {
		t.Fatal("the helper is not there")
	}
	other := s.proc
	other.start--
	other.signal(terminating...)
	s.signal(terminating[1])
	apptest.Eventually(t, "a signal is heard", func() bool { return strings.Contains(r.out.String(), "signal") })
	if got := r.out.String(); got != "ready\nsignal continued\n" {
		t.Errorf("heard: %q", got)
	}
}

func TestNumbered(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"1", "22", "x", "3x"} {
		if err := os.Mkdir(dir+"/"+name, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	got := map[string]bool{}
	for _, n := range numbered(dir) {
		got[strconv.Itoa(n)] = true
	}
	if !maps.Equal(got, map[string]bool{"1": true, "22": true}) || numbered(dir+"/none") != nil {
		t.Errorf("%v", got)
	}
}

package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"lamplighter/app/apptest"
)

// Alive reports whether a process runs; one that only waits to be reaped does
// not. Its first thread is a zombie while others still end.
func Alive(pid int) bool {
	fields := StatOf(pid)
	if fields == nil {
		return false
	}
	const state, threads = 0, 17
	return fields[state] != "Z" && fields[state] != "X" || fields[threads] != "0" && fields[threads] != "1"
}

// StatOf are the fields of a process behind its name, the first of which is its
// state; nil when it is gone.
func StatOf(pid int) []string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil
	}
	return strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
}

// Marked are the processes with a mark in their environment.
func Marked(mark string) []int {
	var found []int
	names, _ := filepath.Glob("/proc/[0-9]*")
	for _, name := range names {
		if pid, err := strconv.Atoi(filepath.Base(name)); err == nil && hasMark(pid, mark) {
			found = append(found, pid)
		}
	}
	return found
}

func hasMark(pid int, mark string) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	return err == nil && strings.Contains("\x00"+string(text), "\x00"+mark+"\x00")
}

// CommandLine is that of a process, its arguments with spaces between.
func CommandLine(pid int) string {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)) // empty when it is gone
	return strings.ReplaceAll(strings.TrimSuffix(string(text), "\x00"), "\x00", " ")
}

// Servers are the command lines of all that lamplighter has started and that
// still runs: keepers, servers and what is below them.
func (m *Manager) Servers() map[int]string {
	all := make(map[int]string)
	for _, pid := range Marked(m.Mark) {
		program, _ := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
		if line := CommandLine(pid); line != "" && program != Program {
			all[pid] = line
		}
	}
	return all
}

// NothingLeft waits until no server and no keeper is left.
func (m *Manager) NothingLeft(t *testing.T) {
	t.Helper()
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("these run: %v", m.Servers())
		}
	})
	apptest.Eventually(t, "no server and no keeper is left", func() bool { return len(m.Servers()) == 0 })
}

// Running are the pids of those whose command line has a part.
func (m *Manager) Running(part string) []int {
	var found []int
	for pid, line := range m.Servers() {
		if strings.Contains(line, part) {
			found = append(found, pid)
		}
	}
	return found
}

// killAll ends what has a mark, whatever state it is in.
func killAll(t *testing.T, mark string) {
	apptest.Eventually(t, "all of this home is gone", func() bool {
		left := Marked(mark)
		for _, pid := range left {
			// Held first, so that it is never another one that got its pid.
			p, err := os.FindProcess(pid)
			if err == nil && hasMark(pid, mark) {
				err = p.Kill()
			}
			if err != nil && !errors.Is(err, os.ErrProcessDone) {
				t.Error(err)
			}
		}
		return len(left) == 0
	})
}

// Besides makes another mark of that of a home, for what lamplighter has not
// started.
const Besides = "BESIDES_"

package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"lamplighter/app/apptest"
)

// alive tells whether a process runs; one that only waits to be reaped does
// not. Its first thread is a zombie while others still end.
func alive(pid int) bool {
	fields := statOf(pid)
	if fields == nil {
		return false
	}
	const state, threads = 0, 17
	return fields[state] != "Z" && fields[state] != "X" || fields[threads] != "0" && fields[threads] != "1"
}

// statOf are the fields of a process behind its name, the first of which is its
// state; nil when it is gone.
func statOf(pid int) []string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil
	}
	return strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
}

// suspend stops a process, and waits until it stands still: it goes on for a moment
// after the signal.
func suspend(t *testing.T, pid int) {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	apptest.Eventually(t, fmt.Sprintf("pid %d is suspended", pid), func() bool {
		fields := statOf(pid)
		return fields != nil && fields[0] == "T"
	})
}

// marked are the processes with a mark in their environment.
func marked(mark string) []int {
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

// commandLine is that of a process, its arguments with spaces between.
func commandLine(pid int) string {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)) // empty when it is gone
	return strings.ReplaceAll(strings.TrimSuffix(string(text), "\x00"), "\x00", " ")
}

// servers are the command lines of all that lamplighter has started and that
// still runs: keepers, servers and what is below them.
func (m *manager) servers() map[int]string {
	all := make(map[int]string)
	for _, pid := range marked(m.mark) {
		program, _ := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
		if line := commandLine(pid); line != "" && program != binary {
			all[pid] = line
		}
	}
	return all
}

// nothingLeft waits until no server and no keeper is left.
func (m *manager) nothingLeft(t *testing.T) {
	t.Helper()
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("these run: %v", m.servers())
		}
	})
	apptest.Eventually(t, "no server and no keeper is left", func() bool { return len(m.servers()) == 0 })
}

// running are the pids of those whose command line has a part.
func (m *manager) running(part string) []int {
	var found []int
	for pid, line := range m.servers() {
		if strings.Contains(line, part) {
			found = append(found, pid)
		}
	}
	return found
}

// killAll ends what has a mark, whatever state it is in.
func killAll(t *testing.T, mark string) {
	apptest.Eventually(t, "all of this home is gone", func() bool {
		left := marked(mark)
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

// besides makes another mark of that of a home, for what lamplighter has not
// started.
const besides = "BESIDES_"

// bystander runs a command that lamplighter has not started. running tells
// whether it still does.
func (m *manager) bystander(t *testing.T, command []string, env ...string) (pid int, running func() bool) {
	t.Helper()
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Env = append(append(os.Environ(), besides+m.mark), env...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // that it still runs is the test's to check
		_ = cmd.Wait()
	})
	return cmd.Process.Pid, func() bool { return alive(cmd.Process.Pid) }
}

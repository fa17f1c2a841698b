//go:build contract && linux

package contract

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"lamplighter/app/apptest"
)

// alive reports whether a process runs. What has ended and only waits for its
// parent does not.
func alive(pid int) bool {
	_, state, _ := strings.Cut(read(fmt.Sprintf("/proc/%d/stat", pid)), ") ")
	return state != "" && state[0] != 'Z' && state[0] != 'X'
}

// treeOf is a process and all below it.
func treeOf(pid int) []int {
	tree := []int{pid}
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid)) // the pattern is right
	for _, list := range lists {
		for _, field := range strings.Fields(read(list)) {
			child, _ := strconv.Atoi(field)
			tree = append(tree, treeOf(child)...)
		}
	}
	return tree
}

// processesOf are the living processes whose command line has all of these.
func processesOf(words ...string) (found []int) {
	lines, _ := filepath.Glob("/proc/[0-9]*/cmdline") // the pattern is right
	for _, path := range lines {
		line := "\x00" + read(path)
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if alive(pid) && !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(line, word) }) {
			found = append(found, pid)
		}
	}
	return found
}

// servers are the stand-ins of Serena that run for a project, without what
// keeps them and those who only name them.
func servers(project string) []int {
	return slices.DeleteFunc(processesOf("\x00start-mcp-server\x00", "\x00--project\x00"+project+"\x00"), func(pid int) bool {
		exe, _ := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid)) // it may have ended
		return filepath.Base(exe) != serena
	})
}

// only is the one server of a project.
func only(t testing.TB, project string) int {
	t.Helper()
	pids := servers(project)
	if len(pids) != 1 {
		t.Fatalf("the servers of %s are %v", project, pids)
	}
	return pids[0]
}

// gone waits until all of these processes have ended.
func gone(t testing.TB, pids ...int) {
	t.Helper()
	for _, pid := range pids {
		apptest.Eventually(t, fmt.Sprintf("process %d ends", pid), func() bool { return !alive(pid) })
	}
}

// living checks whether all of these processes run.
func living(t testing.TB, want bool, when string, pids ...int) {
	t.Helper()
	for _, pid := range pids {
		check(t, alive(pid) == want, "%s: process %d of %d runs: %v", when, pid, pids, !want)
	}
}

package main

import (
	"slices"
	"strconv"
	"syscall"
	"testing"

	"lamplighter/app/apptest"
)

// TestNoThreadIsMade: a keeper whose server has used up all processes can still
// do everything, because it needs no thread that it does not have.
func TestNoThreadIsMade(t *testing.T) {
	w := newWorld(t)
	owner := w.own(t)
	k := w.script(t, session, `trap "" TERM
		echo ready
		i=0; while [ $i -lt 200 ]; do sleep 600 & i=$((i+1)); done
		while :; do echo much; done`)
	k.prints(t, "much\n")
	tasks := "/proc/" + strconv.Itoa(k.cmd.Process.Pid) + "/task"
	before := numbered(tasks)
	apptest.Eventually(t, "the log turns", func() bool { return w.turned() })
	k.signal(t, syscall.SIGTERM)
	owner.kill()
	most := len(before)
	for k.isRunning() {
		now := numbered(tasks)
		most = max(most, len(now))
		for _, tid := range now {
			if !slices.Contains(before, tid) {
				t.Fatalf("thread %d is not among %v", tid, before)
			}
		}
	}
	t.Logf("%d threads", most)
	k.finished(t)
	k.gone(t)
}

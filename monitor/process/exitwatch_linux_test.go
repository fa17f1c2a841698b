package process

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"lamplighter/monitor"
)

func TestExitOfAnUnreapedAndAReapedChild(t *testing.T) {
	w := NewExitWatch()
	serve(t, w)
	for _, reap := range []bool{false, true} {
		cmd := exec.Command("sleep", "600")
		pid := start(t, cmd)
		id := identityOf(t, pid)
		watch(t, w, id)
		watch(t, w, id)
		kill(t, pid, syscall.SIGKILL)
		if reap {
			cmd.Wait()
		}
		if got := nextExit(t, w); got != id {
			t.Errorf("%v ended, told was %v", id, got)
		}
		if err := w.Watch(id); !errors.Is(err, ErrGone) {
			t.Errorf("watching a process that has ended: %v", err)
		}
	}
}

// More end at once than one look at the alarm tells of.
func TestHundredExits(t *testing.T) {
	w := NewExitWatch()
	serve(t, w)
	waiting := map[monitor.Identity]bool{}
	for range 100 {
		id := sleeper(t)
		watch(t, w, id)
		waiting[id] = true
	}
	for id := range waiting { // nobody takes the exits meanwhile
		kill(t, id.PID, syscall.SIGKILL)
	}
	for len(waiting) > 0 {
		id := nextExit(t, w)
		if !waiting[id] {
			t.Fatalf("%v was told twice, or was never watched", id)
		}
		delete(waiting, id)
	}
	select {
	case id := <-w.Exits():
		t.Errorf("and %v once more", id)
	default:
	}
}

func TestForgetGivesDescriptorsBack(t *testing.T) {
	w := NewExitWatch()
	a, b := sleeper(t), sleeper(t)
	before := openDescriptors(t)
	stop := serve(t, w)
	watch(t, w, a)
	watch(t, w, b)
	w.Forget(a)
	kill(t, b.PID, syscall.SIGKILL)
	nextExit(t, w)
	stop()
	if n := openDescriptors(t); n != before {
		t.Errorf("%d descriptors became %d", before, n)
	}
}

func TestStopWhileNobodyTakesExits(t *testing.T) {
	w := NewExitWatch()
	w.exits = make(chan monitor.Identity)
	stop := serve(t, w)
	a := sleeper(t)
	watch(t, w, a)
	kill(t, a.PID, syscall.SIGKILL)
	eventually(t, "it is on its way", func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		return len(w.watched) == 1 && w.watched[a].handle.Ended()
	})
	if err := w.Watch(a); !errors.Is(err, ErrGone) {
		t.Errorf("watching what is on its way: %v", err)
	}
	stop()
	serve(t, w)
	if got := nextExit(t, w); got != a {
		t.Errorf("told %v", got)
	}
}

// TestWatchWithoutDescriptorsLeft watches a process that it cannot even look at.
func TestWatchWithoutDescriptorsLeft(t *testing.T) {
	id := sleeper(t)
	w := NewExitWatch()
	w.pollEvery = 10 * time.Millisecond
	serve(t, w)
	restore := limitDescriptors(t, 64)
	free := takeAll()
	err := w.Watch(id)
	for _, fd := range free {
		unix.Close(fd)
	}
	restore()
	if err != nil {
		t.Fatal(err)
	}
	if !polls(w) {
		t.Error("it does not poll")
	}
	kill(t, id.PID, syscall.SIGKILL)
	if got := nextExit(t, w); got != id {
		t.Errorf("told %v", got)
	}
	eventually(t, "it polls no more", func() bool { return !polls(w) }) // it tells of an end, and then forgets it
}

// TestWatchLeavesDescriptors holds no more processes than a quarter of the limit.
func TestWatchLeavesDescriptors(t *testing.T) {
	running, over := idle(t), idle(t)
	over.end()
	w := NewExitWatch()
	for n := range 32 {
		id := monitor.Identity{PID: -n}
		w.watched[id] = &watched{handle: unheld(id)}
	}
	restore := limitDescriptors(t, 128)
	err, gone := w.Watch(running.Identity), w.Watch(over.Identity)
	restore()
	if err != nil {
		t.Fatal(err)
	}
	if _, held := w.watched[running.Identity].handle.over(); !errors.Is(held, os.ErrNoHandle) || !errors.Is(gone, ErrGone) {
		t.Errorf("%v, %v", held, gone)
	}
}

// takeAll opens descriptors until there are no more.
func takeAll() (fds []int) {
	for {
		fd, err := unix.FcntlInt(0, unix.F_DUPFD_CLOEXEC, 0)
		if err != nil {
			return fds
		}
		fds = append(fds, fd)
	}
}

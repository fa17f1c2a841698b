package process

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"lamplighter/monitor"
)

// serve runs the watch until the test ends or stop is called.
func serve(t testing.TB, w *ExitWatch) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- w.Serve(ctx) }()
	stopped := false
	stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("Serve: %v", err)
		}
	}
	t.Cleanup(stop)
	return stop
}

func watch(t testing.TB, w *ExitWatch, id monitor.Identity) {
	t.Helper()
	if err := w.Watch(id); err != nil {
		t.Fatal(err)
	}
}

func nextExit(t testing.TB, w *ExitWatch) monitor.Identity {
	t.Helper()
	deadline := time.NewTimer(time.Minute)
	defer deadline.Stop()
	select {
	case id := <-w.Exits():
		return id
	case <-deadline.C:
		t.Fatal("no exit was told")
		return monitor.Identity{}
	}
}

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

func TestWatchRefusesWhatIsGone(t *testing.T) {
	live := sleeper(t)
	dead := sleeper(t)
	kill(t, dead.PID, syscall.SIGKILL)
	waitForState(t, dead.PID, Unreaped)
	gonePID := unused(t)
	w := NewExitWatch()
	check := func(when string) {
		for what, id := range map[string]monitor.Identity{
			"another process": {PID: live.PID, Start: live.Start + 1},
			"unreaped":        dead,
			"a free pid":      {PID: gonePID, Start: 1},
			"no pid":          {PID: 0},
			"a negative pid":  {PID: -1},
		} {
			if err := w.Watch(id); !errors.Is(err, ErrGone) {
				t.Errorf("%s, %s: %v", when, what, err)
			}
		}
	}
	check("before Serve")
	serve(t, w)
	check("while serving")
	if len(w.watched) > 0 {
		t.Errorf("it watches %v", w.watched)
	}
}

func TestForgottenProcessIsNotTold(t *testing.T) {
	w := NewExitWatch()
	serve(t, w)
	a, b, c := sleeper(t), sleeper(t), sleeper(t)
	for _, id := range []monitor.Identity{a, b, c} {
		watch(t, w, id)
	}
	w.Forget(a)
	w.Forget(a)
	kill(t, a.PID, syscall.SIGKILL)
	waitForState(t, a.PID, Unreaped)
	kill(t, b.PID, syscall.SIGKILL)
	if got := nextExit(t, w); got != b {
		t.Errorf("told %v", got)
	}
	kill(t, c.PID, syscall.SIGKILL)
	if got := nextExit(t, w); got != c {
		t.Errorf("told %v", got)
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

func TestServeAgain(t *testing.T) {
	w := NewExitWatch()
	a, b, c := sleeper(t), sleeper(t), sleeper(t)
	watch(t, w, a) // before anybody serves
	stop := serve(t, w)
	watch(t, w, b)
	watch(t, w, c)
	stop()
	kill(t, b.PID, syscall.SIGKILL)
	waitForState(t, b.PID, Unreaped)
	serve(t, w)
	for _, id := range []monitor.Identity{b, a, c} {
		if id != b {
			kill(t, id.PID, syscall.SIGKILL)
		}
		if got := nextExit(t, w); got != id {
			t.Errorf("told %v", got)
		}
	}
	if polling := polls(w); polling || len(w.watched) > 0 {
		t.Errorf("it polls: %v, and watches %v", polling, w.watched)
	}
}

// polls reports whether a watch polls any of its processes.
func polls(w *ExitWatch) bool {
	_, polling := w.look()
	return polling
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

// TestPolling watches what cannot be held, or only by its start time.
func TestPolling(t *testing.T) {
	w := NewExitWatch()
	w.pollEvery = 10 * time.Millisecond
	a, b := sleeper(t), sleeper(t)
	w.watched[a], w.watched[b] = &watched{handle: unheld(a)}, &watched{handle: unheld(b)}
	serve(t, w)
	if !polls(w) {
		t.Error("it does not poll")
	}
	for _, id := range []monitor.Identity{b, a} {
		kill(t, id.PID, syscall.SIGKILL)
		if got := nextExit(t, w); got != id {
			t.Errorf("told %v", got)
		}
	}
	eventually(t, "it polls no more", func() bool { return !polls(w) }) // it tells of an end, and then forgets it
}

// TestWatchWithoutDescriptorsLeft watches a process that it cannot even look at.
func TestWatchWithoutDescriptorsLeft(t *testing.T) {
	id := sleeper(t)
	w := NewExitWatch()
	w.pollEvery = 10 * time.Millisecond
	serve(t, w)
	var old unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &old); err != nil {
		t.Fatal(err)
	}
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 64, Max: old.Max}); err != nil {
		t.Fatal(err)
	}
	free := takeAll()
	err := w.Watch(id)
	for _, fd := range free {
		unix.Close(fd)
	}
	if err := errors.Join(err, unix.Setrlimit(unix.RLIMIT_NOFILE, &old)); err != nil {
		t.Fatal(err)
	}
	if !polls(w) {
		t.Error("it does not poll")
	}
	kill(t, id.PID, syscall.SIGKILL)
	if got := nextExit(t, w); got != id {
		t.Errorf("told %v", got)
	}
}

// TestWatchLeavesDescriptors holds no more processes than a quarter of the limit.
func TestWatchLeavesDescriptors(t *testing.T) {
	running, over := sleeper(t), sleeper(t)
	kill(t, over.PID, syscall.SIGKILL)
	waitForState(t, over.PID, Unreaped)
	w := NewExitWatch()
	for n := range 32 {
		id := monitor.Identity{PID: -n}
		w.watched[id] = &watched{handle: unheld(id)}
	}
	var old unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &old); err != nil {
		t.Fatal(err)
	}
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 128, Max: old.Max}); err != nil {
		t.Fatal(err)
	}
	err, gone := w.Watch(running), w.Watch(over)
	if err := errors.Join(err, unix.Setrlimit(unix.RLIMIT_NOFILE, &old)); err != nil {
		t.Fatal(err)
	}
	if _, held := w.watched[running].handle.over(); !errors.Is(held, os.ErrNoHandle) || !errors.Is(gone, ErrGone) {
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

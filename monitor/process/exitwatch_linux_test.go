package process

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
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
	waitUntilServed(t, w)
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

func TestThreeHundredExits(t *testing.T) {
	pids := crowd(t, 300)
	w := NewExitWatch()
	serve(t, w)
	waiting := map[monitor.Identity]bool{}
	for _, pid := range pids {
		id := identityOf(t, pid)
		watch(t, w, id)
		waiting[id] = true
	}
	for _, pid := range pids { // nobody takes the exits meanwhile
		kill(t, pid, syscall.SIGKILL)
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

func TestServeReleasesEverythingAndStartsAgain(t *testing.T) {
	before := openDescriptors(t)
	w := NewExitWatch()
	ids := []monitor.Identity{}
	for range 10 {
		ids = append(ids, sleeper(t))
	}
	held := openDescriptors(t) // os.Process keeps a pidfd of each child
	watch(t, w, ids[0])        // before anybody serves
	stop := serve(t, w)
	waitUntilServed(t, w)
	if err := w.Serve(context.Background()); !errors.Is(err, errServed) {
		t.Errorf("a second Serve: %v", err)
	}
	for _, id := range ids {
		watch(t, w, id)
	}
	eventually(t, "all are armed", func() bool { w.mu.Lock(); defer w.mu.Unlock(); return len(w.armed) == len(ids) })
	if n := openDescriptors(t); n < held+len(ids) {
		t.Errorf("%d descriptors for %d processes", n-held, len(ids))
	}
	stop()
	if n := openDescriptors(t); n > held {
		t.Errorf("%d descriptors are left (%d at first)", n-held, before)
	}
	kill(t, ids[3].PID, syscall.SIGKILL)
	waitForState(t, ids[3].PID, Unreaped)
	serve(t, w)
	if got := nextExit(t, w); got != ids[3] {
		t.Errorf("told %v", got)
	}
	kill(t, ids[5].PID, syscall.SIGKILL)
	if got := nextExit(t, w); got != ids[5] {
		t.Errorf("told %v", got)
	}
}

func waitUntilServed(t testing.TB, w *ExitWatch) {
	t.Helper()
	eventually(t, "it serves", func() bool { w.mu.Lock(); defer w.mu.Unlock(); return w.waiter != nil })
}

func TestStopWhileNobodyTakesExits(t *testing.T) {
	w := NewExitWatch()
	w.exits = make(chan monitor.Identity)
	stop := serve(t, w)
	a := sleeper(t)
	watch(t, w, a)
	kill(t, a.PID, syscall.SIGKILL)
	eventually(t, "it is on its way", func() bool { w.mu.Lock(); defer w.mu.Unlock(); return w.watched[a].ended })
	if err := w.Watch(a); !errors.Is(err, ErrGone) {
		t.Errorf("watching what is on its way: %v", err)
	}
	stop()
	serve(t, w)
	if got := nextExit(t, w); got != a {
		t.Errorf("told %v", got)
	}
}

func TestPollingWithoutAWaiter(t *testing.T) {
	w := NewExitWatch()
	w.open = func() (*waiter, error) { return nil, unix.ENOSYS }
	serve(t, w)
	a, b := sleeper(t), sleeper(t)
	watch(t, w, a)
	watch(t, w, b)
	kill(t, b.PID, syscall.SIGKILL)
	if got := nextExit(t, w); got != b {
		t.Errorf("told %v", got)
	}
	w.mu.Lock()
	w.open = newWaiter // descriptors are free again
	w.mu.Unlock()
	eventually(t, "it watches properly", func() bool { w.mu.Lock(); defer w.mu.Unlock(); return len(w.armed) == 1 })
	kill(t, a.PID, syscall.SIGKILL)
	if got := nextExit(t, w); got != a {
		t.Errorf("told %v", got)
	}
}

// helperWatch watches the processes whose identities it reads, with as few
// descriptors as its first line says, and tells on standard output what ends.
// The word "exhausted" in that line makes it use up what is left.
func helperWatch() {
	in := bufio.NewScanner(os.Stdin)
	in.Scan()
	limit, mode, _ := strings.Cut(in.Text(), " ")
	n, err := strconv.ParseUint(limit, 10, 32)
	fail := func(what string, err error) {
		if err != nil {
			fmt.Println("error:", what, err)
			os.Exit(1)
		}
	}
	fail("limit", err)
	fail("limit", limitDescriptors(n))
	r, pipe, err := os.Pipe() // makes the runtime open what it needs for itself
	fail("pipe", err)
	r.Close()
	pipe.Close()
	if mode == "exhausted" {
		takeAll()
	}
	w := NewExitWatch()
	served := make(chan error, 1)
	ctx, cancel := context.WithCancel(context.Background())
	go func() { served <- w.Serve(ctx) }()
	for mode != "exhausted" {
		w.mu.Lock()
		serves := w.waiter != nil
		w.mu.Unlock()
		if serves {
			break
		}
		runtime.Gosched()
	}
	for in.Scan() && in.Text() != "" {
		id, err := monitor.ParseIdentity(in.Text())
		fail("identity", err)
		fail("watch", w.Watch(id))
	}
	w.mu.Lock()
	armed := len(w.armed)
	w.mu.Unlock()
	free := takeAll()
	for _, fd := range free {
		unix.Close(fd)
	}
	fmt.Println("watching", armed, len(free))
	go func() {
		in.Scan()
		cancel()
	}()
	for {
		select {
		case id := <-w.Exits():
			fmt.Println(id)
		case err := <-served:
			fmt.Println("served", errors.Is(err, context.Canceled))
			return
		}
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

func TestFewDescriptors(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, first       string
		armed, free, more int // bounds
	}{
		{"limit of 64", "64", 30, 10, 48},
		{"none left", "64 exhausted", 0, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			pids := crowd(t, 100)
			cmd := exec.Command(self)
			cmd.Env = append(os.Environ(), helperMode+"=watch")
			cmd.Stderr = os.Stderr
			in, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			start(t, cmd)
			lines := bufio.NewScanner(out)
			fmt.Fprintln(in, c.first)
			waiting := map[string]bool{}
			for _, pid := range pids {
				id := identityOf(t, pid)
				waiting[id.String()] = true
				fmt.Fprintln(in, id)
			}
			fmt.Fprintln(in)
			var armed, free int
			if !lines.Scan() {
				t.Fatal("the helper says nothing")
			}
			if _, err := fmt.Sscanf(lines.Text(), "watching %d %d", &armed, &free); err != nil {
				t.Fatalf("the helper says %q", lines.Text())
			}
			if armed < c.armed || armed > c.more || free < c.free {
				t.Errorf("%d of 100 by pidfd, %d descriptors left to others", armed, free)
			}
			for _, pid := range pids {
				kill(t, pid, syscall.SIGKILL)
			}
			for len(waiting) > 0 && lines.Scan() {
				if !waiting[lines.Text()] {
					t.Fatalf("the helper says %q", lines.Text())
				}
				delete(waiting, lines.Text())
			}
			io.WriteString(in, "end\n")
			var rest []string
			for lines.Scan() {
				rest = append(rest, lines.Text())
			}
			if len(waiting) > 0 || !slices.Equal(rest, []string{"served true"}) {
				t.Errorf("%d exits were not told; then it said %q", len(waiting), rest)
			}
		})
	}
}

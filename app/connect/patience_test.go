package main

import (
	"io"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"lamplighter/app/share/wire"
)

// TestPending: a request that waits for a minute without a background process
// gets an error and is not sent any more; all else is.
func TestPending(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i, first, others := talking(usual)
		first.hangUp()
		synctest.Wait()
		i.write(`{"method":"notifications/initialized"}` + "\n" + request(2) + "\n")
		time.Sleep(30 * time.Second)
		i.write(request(3) + "\n")
		time.Sleep(25 * time.Second)
		if got := i.lines(); len(got) != 0 {
			t.Fatalf("printed %q", got)
		}
		time.Sleep(10 * time.Second)
		got := i.lines()
		if len(got) != 1 || string(wire.Split([]byte(got[0])).ID) != "2" || !strings.Contains(got[0], "60 s") {
			t.Fatalf("printed %q", got)
		}
		second := newTalker()
		others <- second
		second.frame(wire.Welcome, 0, "S")
		synctest.Wait()
		if lines := second.sent(); !slices.Equal(lines, []uint64{1, 3}) {
			t.Errorf("it sent %v", lines)
		}
		// What was accepted may take as long as it takes.
		second.frame(wire.Accept, 3, "")
		time.Sleep(time.Hour)
		second.frame(wire.Deliver, 3, result(3))
		synctest.Wait()
		if got := i.lines(); len(got) != 2 || got[1] != result(3) {
			t.Errorf("printed %q", got)
		}
		i.leave(second)
	})
}

// slowTalker says nothing for a while, and may be seen to run meanwhile.
type slowTalker struct {
	*talker
	suspended atomic.Bool
}

func (t *slowTalker) runs() bool { return !t.suspended.Load() }

// TestSlow: who is seen to run is waited for longer than who may be suspended.
func TestSlow(t *testing.T) {
	for name, test := range map[string]struct {
		link          func() link
		after, before time.Duration
	}{
		"not to be seen": {func() link { return newTalker() }, 0, usual.heard},
		"runs":           {func() link { return &slowTalker{talker: newTalker()} }, usual.slow - time.Second, usual.slow},
		"suspended": {func() link {
			t := &slowTalker{talker: newTalker()}
			t.suspended.Store(true)
			return t
		}, 0, usual.heard},
		"suspended later": {func() link {
			t := &slowTalker{talker: newTalker()}
			time.AfterFunc(2*usual.heard-time.Millisecond, func() { t.suspended.Store(true) })
			return t
		}, usual.heard, 2 * usual.heard},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l, began := test.link(), time.Now()
				hungUp := patience(l, usual.heard, usual.slow)
				_, err := l.read(make([]byte, 1))
				took := time.Since(began)
				if !hungUp() || err == nil || took <= test.after || took > test.before {
					t.Errorf("%v after %s", err, took)
				}
			})
		})
	}
	synctest.Test(t, func(t *testing.T) {
		l := &slowTalker{talker: newTalker()}
		hungUp := patience(l, usual.heard, usual.slow)
		go func() {
			time.Sleep(usual.slow - time.Second)
			l.frame(wire.Welcome, 0, "S")
		}()
		if n, err := l.read(make([]byte, 1)); n != 1 || err != nil || hungUp() {
			t.Errorf("it was not waited for: %v", err)
		}
		l.hangUp()
		synctest.Wait()
	})
}

// TestSuspendedLater: a shim that was welcome goes on to try.
func TestSuspendedLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i, first, others := talking(usual)
		i.write(request(1) + "\n")
		first.hangUp()
		synctest.Wait()
		second := newTalker() // says nothing
		others <- second
		time.Sleep(usual.lastWait + usual.heard)
		if _, err := second.says.Read(nil); err == nil {
			t.Error("it waits on")
		}
		third := newTalker()
		others <- third
		third.frame(wire.Welcome, 0, "S")
		synctest.Wait()
		third.frame(wire.Accept, 1, "")
		third.frame(wire.Deliver, 1, result(1))
		synctest.Wait()
		if got := i.lines(); !slices.Equal(got, []string{result(1)}) {
			t.Errorf("printed %q", got)
		}
		i.in.Close()
		synctest.Wait()
		i.leave(third)
		if status := <-i.status; status != 0 {
			t.Errorf("exit status %d", status)
		}
	})
}

// TestMuchWaits: the client is not read while too much waits, and then again.
func TestMuchWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := usual
		l.waiting = 1000
		i, first, _ := talking(l)
		done := make(chan struct{})
		go func() {
			defer close(done)
			for id := 1; id <= 100; id++ {
				_, _ = io.WriteString(i.in, request(id)+"\n")
			}
		}()
		synctest.Wait()
		time.Sleep(30 * time.Second)
		lines := first.sent()
		if len(lines) == 0 || len(lines) > 20 {
			t.Fatalf("%d lines wait", len(lines))
		}
		for id := 1; id <= 100; id++ {
			first.frame(wire.Accept, uint64(id), "")
			synctest.Wait()
		}
		<-done
		if lines := first.sent(); len(lines) != 100 {
			t.Errorf("%d lines were sent", len(lines))
		}
		i.leave(first)
	})
}

// TestEndWhileMuchWaits: the end of the client is noticed without reading, and
// each request has its error then.
func TestEndWhileMuchWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := usual
		l.waiting = 1000
		i, first, _ := talking(l)
		first.hangUp()
		i.s.closed = func() bool { return true }
		synctest.Wait()
		go func() {
			for id := 1; id <= 100; id++ {
				_, _ = io.WriteString(i.in, request(id)+"\n")
			}
			i.in.Close()
		}()
		time.Sleep(2 * time.Minute)
		if status := <-i.status; status != 0 {
			t.Errorf("exit status %d", status)
		}
		got := i.lines()
		if len(got) != 100 {
			t.Fatalf("%d answers", len(got))
		}
		answered := map[string]bool{} // in any order: some wait when the time is over, others come after that
		for _, line := range got {
			m := wire.Split([]byte(line))
			if m.Error == nil || answered[string(m.ID)] {
				t.Errorf("got %s", line)
			}
			answered[string(m.ID)] = true
		}
		i.leave()
	})
}

// TestFinish: after the client's end, what is open has its time and no more.
func TestFinish(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i, first, _ := talking(usual)
		i.write(request(1) + "\n" + request(2) + "\n" + request(3) + "\n")
		first.frame(wire.Accept, 1, "")
		first.frame(wire.Accept, 2, "")
		began := time.Now()
		i.in.Close()
		synctest.Wait()
		time.Sleep(30 * time.Second)
		first.frame(wire.Deliver, 2, result(2))
		if status := <-i.status; status != 0 || time.Since(began) > 40*time.Second {
			t.Errorf("exit status %d after %v", status, time.Since(began))
		}
		got := i.lines()
		if len(got) != 3 || got[0] != result(2) || got[1] != lost(1) || string(wire.Split([]byte(got[2])).ID) != "3" {
			t.Errorf("printed %q", got)
		}
		i.leave(first)
	})
}

// TestEndWhileNothingIsTaken: a background process that reads nothing, such as
// one that hangs, keeps us neither from reading our client nor from ending after
// it.
func TestEndWhileNothingIsTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first := newTalker()
		first.stuck = make(chan struct{})
		i, _, _ := talkingTo(usual, first)
		for id := 1; id <= 3; id++ {
			i.write(request(id) + "\n")
		}
		began := time.Now()
		i.in.Close()
		if status := <-i.status; status != 0 || time.Since(began) > 40*time.Second {
			t.Errorf("exit status %d after %v", status, time.Since(began))
		}
		got := i.lines()
		if len(got) != 3 {
			t.Fatalf("printed %q", got)
		}
		for n, line := range got {
			if m := wire.Split([]byte(line)); m.Error == nil || string(m.ID) != strconv.Itoa(n+1) {
				t.Errorf("%d is %s", n, line)
			}
		}
		close(first.stuck)
		i.leave(first)
	})
}

// TestSilent: a background process that hangs costs the requests that it has not
// accepted, each with one error, and no others.
func TestSilent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i, first, others := talking(usual)
		i.write(request(1) + "\n")
		first.frame(wire.Accept, 1, "")
		i.write(request(2) + "\n" + `{"method":"notifications/x"}` + "\n" + request(4) + "\n")
		time.Sleep(50 * time.Second)
		first.frame(wire.Accept, 2, "")
		time.Sleep(50 * time.Second)
		if got := i.lines(); len(got) != 0 {
			t.Fatalf("printed %q", got)
		}
		time.Sleep(15 * time.Second)
		got := i.lines()
		if len(got) != 1 || string(wire.Split([]byte(got[0])).ID) != "4" || !strings.Contains(got[0], "may still be carried out") {
			t.Fatalf("printed %q", got)
		}
		// It goes on, and knows nothing of that.
		first.frame(wire.Accept, 3, "")
		first.frame(wire.Accept, 4, "")
		for _, id := range []int{4, 2, 1} {
			first.frame(wire.Deliver, uint64(id), result(id))
		}
		synctest.Wait()
		if got := i.lines(); len(got) != 3 || got[1] != result(2) || got[2] != result(1) {
			t.Fatalf("printed %q", got)
		}
		// What has expired is not for the next one.
		i.write(request(5) + "\n")
		time.Sleep(90 * time.Second)
		first.hangUp()
		second := newTalker()
		others <- second
		second.frame(wire.Welcome, 0, "S")
		i.write(request(6) + "\n")
		second.frame(wire.Accept, 6, "")
		second.frame(wire.Deliver, 6, result(6))
		synctest.Wait()
		if lines := second.sent(); !slices.Equal(lines, []uint64{6}) {
			t.Errorf("it sent %v", lines)
		}
		if got := i.lines(); len(got) != 5 || string(wire.Split([]byte(got[3])).ID) != "5" || got[4] != result(6) {
			t.Errorf("printed %q", got)
		}
		i.leave(second)
	})
}

// TestEndWhileLost: a client that ends while there is no background process is
// waited for only if something has to be answered.
func TestEndWhileLost(t *testing.T) {
	for _, line := range []string{"", `{"method":"notifications/x"}`, request(1)} {
		synctest.Test(t, func(t *testing.T) {
			i, first, _ := talking(usual)
			first.hangUp()
			synctest.Wait()
			i.write(line + "\n")
			began := time.Now()
			i.in.Close()
			status := <-i.status
			if took := time.Since(began); status != 0 || (took > time.Second) != (line == request(1)) {
				t.Errorf("%q: exit status %d after %v", line, status, took)
			}
			if got := i.lines(); (len(got) == 1) != (line == request(1)) {
				t.Errorf("%q: printed %q", line, got)
			}
			i.leave()
		})
	}
}

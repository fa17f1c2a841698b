package dashboard

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"lamplighter/monitor"
)

// question about a route of an instance.
func about(pid int, name string) question {
	return question{id: monitor.Identity{PID: pid, Start: 1}, port: 24282, name: name}
}

// asked is a call whose answer a test gives.
type asked struct {
	give     chan answer
	canceled chan struct{}
}

// ask is for shelf.join; canceled is closed at its end, whatever that was.
func (a *asked) ask(ctx context.Context) answer {
	defer close(a.canceled)
	select {
	case given := <-a.give:
		return given
	case <-ctx.Done():
		return failed(502, "%v", ctx.Err())
	}
}

func newAsked() *asked {
	return &asked{give: make(chan answer, 1), canceled: make(chan struct{})}
}

func TestAnswersAreShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s shelf
		first, second := newAsked(), newAsked()
		a := s.join(t.Context(), about(1, "x"), false, first.ask)
		b := s.join(t.Context(), about(1, "x"), false, second.ask)
		other := s.join(t.Context(), about(2, "x"), false, second.ask)
		if a != b || a == other {
			t.Fatal("those who ask the same at the same time share one request, others do not")
		}
		first.give <- answer{body: []byte("{}")}
		<-a.done
		a.leave()
		if b.leave(); string(b.answer.body) != "{}" {
			t.Error("no answer")
		}
		time.Sleep(freshTime - time.Millisecond)
		if again := s.join(t.Context(), about(1, "x"), false, second.ask); again != a {
			t.Error("an answer is of use for a moment")
		} else {
			again.leave()
		}
		time.Sleep(2 * time.Millisecond)
		synctest.Wait()
		third := newAsked()
		if again := s.join(t.Context(), about(1, "x"), false, third.ask); again == a {
			t.Error("an old answer was given again")
		} else {
			third.give <- failed(502, "no")
			<-again.done
			again.leave()
		}
		fourth := newAsked()
		if again := s.join(t.Context(), about(1, "x"), false, fourth.ask); again.answer.failure != nil {
			t.Error("a failure was given again")
		} else {
			again.leave()
		}
		other.leave()
		synctest.Wait()
		for _, left := range []*asked{second, fourth} {
			<-left.canceled
		}
		if n, err := s.left(); n != 0 || err != nil {
			t.Errorf("%d calls are left (%v)", n, err)
		}
	})
}

func TestLastWhoLeavesEndsTheRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s shelf
		one := newAsked()
		ctx, gone := context.WithCancel(t.Context())
		a := s.join(ctx, about(1, "x"), false, one.ask)
		b := s.join(t.Context(), about(1, "x"), false, one.ask)
		gone()
		a.leave()
		synctest.Wait()
		select {
		case <-one.canceled:
			t.Fatal("one still waits")
		default:
		}
		b.leave()
		<-one.canceled

		lasting := newAsked()
		s.join(t.Context(), about(1, "y"), true, lasting.ask).leave()
		synctest.Wait()
		again := s.join(t.Context(), about(1, "y"), true, one.ask)
		lasting.give <- answer{body: []byte("{}")}
		<-again.done
		if again.leave(); again.answer.failure != nil {
			t.Errorf("what lingers was given up: %+v", again.answer.failure)
		}
		time.Sleep(freshTime)
		synctest.Wait()
	})
}

func TestChangePartsQuestions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s shelf
		before, kept, after, other := newAsked(), newAsked(), newAsked(), newAsked()
		a := s.join(t.Context(), about(1, "x"), false, before.ask)
		k := s.join(t.Context(), about(1, "y"), false, kept.ask)
		kept.give <- answer{body: []byte("{}")}
		<-k.done
		k.leave()
		o := s.join(t.Context(), about(2, "x"), false, other.ask)

		s.drop(about(1, "").id)
		if again := s.join(t.Context(), about(1, "y"), false, after.ask); again == k {
			t.Error("an answer from before the change was given after it")
		} else {
			again.leave()
		}
		after = newAsked()
		b := s.join(t.Context(), about(1, "x"), false, after.ask)
		if b == a {
			t.Fatal("who asks after the change got the answer from before")
		}
		if again := s.join(t.Context(), about(2, "x"), false, after.ask); again != o {
			t.Error("another instance was not changed")
		} else {
			again.leave()
		}
		after.give <- answer{body: []byte(`{"new":1}`)}
		<-b.done
		before.give <- answer{body: []byte(`{"old":1}`)} // comes late
		<-a.done
		if string(a.answer.body) != `{"old":1}` {
			t.Error("who asked before the change got no answer")
		}
		if again := s.join(t.Context(), about(1, "x"), false, nil); again != b {
			t.Error("the late answer replaced the new one")
		} else {
			again.leave()
		}
		a.leave()
		b.leave()
		o.leave()
		time.Sleep(freshTime)
		synctest.Wait()
		if n, err := s.left(); n != 0 || err != nil {
			t.Errorf("%d calls are left (%v)", n, err)
		}
	})
}

// TestShelfIsBounded does what may happen in any order: the bytes that are kept
// are never too many and never counted wrong, each place is given back exactly
// once, and nothing is left in the end.
func TestShelfIsBounded(t *testing.T) {
	small := rapid.IntRange(0, 12)
	step := rapid.Custom(func(r *rapid.T) shelfStep {
		return shelfStep{
			do:      rapid.SampledFrom([]string{"join", "join", "leave", "answer", "change"}).Draw(r, "do"),
			pid:     rapid.IntRange(1, 3).Draw(r, "pid"),
			name:    strconv.Itoa(small.Draw(r, "name")),
			lingers: rapid.Bool().Draw(r, "lingers"),
			which:   small.Draw(r, "which"),
			size:    rapid.SampledFrom([]int{2, maxKept / 2, maxKept, maxKept + 1}).Draw(r, "size"),
			pause:   rapid.Bool().Draw(r, "pause"),
		}
	})
	rapid.Check(t, func(r *rapid.T) {
		steps := rapid.SliceOfN(step, 1, 60).Draw(r, "steps")
		var err error
		synctest.Test(t, func(t *testing.T) { err = shelfThrough(t.Context(), steps) })
		if err != nil {
			r.Fatal(err)
		}
	})
}

// shelfStep is one thing that happens, to the which-th of those that it may
// happen to.
type shelfStep struct {
	do      string
	pid     int
	name    string
	lingers bool
	which   int
	size    int
	pause   bool
}

func shelfThrough(ctx context.Context, steps []shelfStep) error {
	var s shelf
	var joined []*call
	var unanswered []*asked
	var freed []*int
	for _, step := range steps {
		switch step.do {
		case "join":
			one, asks := newAsked(), false
			joined = append(joined, s.join(ctx, about(step.pid, step.name), step.lingers, func(ctx context.Context) answer {
				asks = true
				return one.ask(ctx)
			}))
			if synctest.Wait(); asks {
				unanswered = append(unanswered, one)
			}
		case "leave":
			if len(joined) > 0 {
				i := step.which % len(joined)
				joined[i].leave()
				joined = slices.Delete(joined, i, i+1)
			}
		case "answer":
			unanswered = slices.DeleteFunc(unanswered, (*asked).isCanceled)
			if len(unanswered) > 0 {
				i := step.which % len(unanswered)
				a := answer{body: make([]byte, step.size)}
				if step.size > maxKept {
					n := new(int)
					freed = append(freed, n)
					a.free = func() { *n++ }
				}
				unanswered[i].give <- a
				unanswered = slices.Delete(unanswered, i, i+1)
			}
		case "change":
			s.drop(about(step.pid, "").id)
		}
		if step.pause {
			time.Sleep(freshTime / 3)
		}
		synctest.Wait()
		if _, err := s.left(); err != nil {
			return err
		}
	}
	for _, c := range joined {
		c.leave()
	}
	for _, one := range unanswered {
		one.give <- answer{body: []byte("{}")} // to what lingers
	}
	time.Sleep(freshTime)
	synctest.Wait()
	if n, err := s.left(); n != 0 || err != nil {
		return fmt.Errorf("%d calls are left (%v)", n, err)
	}
	for _, n := range freed {
		if *n != 1 {
			return fmt.Errorf("a place was given back %d times", *n)
		}
	}
	return nil
}

// waiting is how many wait for an answer, or use it.
func (s *shelf) waiting() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.calls {
		n += c.waiting
	}
	return n
}

// left is how many calls are on the shelf, which has to be in order.
func (s *shelf) left() (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	kept := 0
	for q, c := range s.calls {
		kept += c.kept
		if c.about != q {
			return 0, fmt.Errorf("%v lies where %v belongs", c.about, q)
		}
	}
	if kept != s.kept || kept > maxShelf {
		return 0, fmt.Errorf("%d bytes are kept, counted as %d", kept, s.kept)
	}
	return len(s.calls), nil
}

func (a *asked) isCanceled() bool {
	select {
	case <-a.canceled:
		return true
	default:
		return false
	}
}

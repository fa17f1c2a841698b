package stop

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"lamplighter/monitor"
	"lamplighter/monitor/process"
	"lamplighter/monitor/serena"
)

// orphan is what the watch says of a proven orphan.
func orphan(in *monitor.Instance) {
	in.State, in.Cause = monitor.StateZombie, monitor.CauseOrphaned
	in.Evidence = monitor.Evidence{Transport: "stdio", Orphaned: true, ClientGone: true, AloneSince: time.Now()}
}

// leftAlone checks that an automatic order is refused, and that nothing is
// recorded: a policy tells by itself, and tries again.
func leftAlone(t *testing.T, l *Ladder, rec *recorder, in monitor.Instance, o Order, kind error) {
	t.Helper()
	o.Automatic = true
	r, err := l.Stop(t.Context(), in, o)
	if !errors.Is(err, kind) || r.Outcome != Refused || len(r.Steps) > 0 || rec.kinds() != "" {
		t.Errorf("%+v, %v; recorded %q", r, err, rec.kinds())
	}
	if !lives(in.Identity) {
		t.Error("it was ended")
	}
}

// TestAutomaticEndsOrphans: one that cannot say what it does, because it hangs, is
// suspended or has no dashboard, needs no user when nobody waits for it any more.
func TestAutomaticEndsOrphans(t *testing.T) {
	g := newGroup(t)
	hung, _ := g.server("mute")
	suspended, _ := g.server("well")
	signalTo(t, suspended.Identity.PID, syscall.SIGSTOP)
	waitForState(t, suspended.Identity.PID, process.Stopped)
	for name, in := range map[string]monitor.Instance{
		"hung": hung, "suspended": suspended, "another kind": generic(g.shell(`echo ready; exec sleep 600`)),
	} {
		orphan(&in)
		confirmed := 0
		r := stopped(t, g.ladder(Options{Limits: quick()}), in, Order{By: "the policy orphans", Automatic: true, Confirm: func(context.Context) error {
			confirmed++
			return nil
		}})
		if confirmed != 1 || r.Steps[0].Detail != "by the policy orphans" {
			t.Errorf("%s: confirmed %d times, %+v", name, confirmed, r.Steps[0])
		}
	}
	idle, _ := g.server("well")
	if r := stopped(t, g.ladder(Options{Limits: quick()}), idle, Order{Automatic: true}); kinds(r.Steps) != "stop_ordered asked ended" {
		t.Errorf("idle: %s", kinds(r.Steps))
	}
	// One whose port is another's by now is ended, and the other is not asked to.
	moved, _ := g.server("well")
	orphan(&moved)
	l := g.ladder(Options{Limits: quick()})
	r := stopped(t, l, moved, Order{Automatic: true, Confirm: func(context.Context) error {
		alter(l).listeners = func([]int) ([]process.Listener, error) { return nil, nil }
		return nil
	}})
	if strings.Contains(kinds(r.Steps), "asked") {
		t.Errorf("its port is another's: %s", kinds(r.Steps))
	}
}

// TestBusyBetweenDecisionAndSignal: a client or a call comes when all facts are
// gathered.
func TestBusyBetweenDecisionAndSignal(t *testing.T) {
	g := newGroup(t)
	rec := &recorder{}
	l := g.ladder(Options{Limits: quick(), Record: rec.record})
	in, _ := g.server("turning")
	leftAlone(t, l, rec, in, Order{Confirm: func(ctx context.Context) error {
		signalTo(t, in.Identity.PID, syscall.SIGUSR1)
		eventually(t, "it is at work", func() bool {
			tasks, err := serena.NewClient().Queue(ctx, in.Port)
			return err == nil && len(tasks) == 2
		})
		return nil
	}}, ErrBusy)

	// The same, while a service manager is slow to say whether it is its.
	in, mcp := g.server("well")
	alter(l).service = func(context.Context) (string, bool, error) {
		g.helper("connect " + strconv.Itoa(mcp))
		return "", false, nil
	}
	leftAlone(t, l, rec, in, Order{}, ErrInUse)
	l.o.System = process.Local()

	// It is suspended, so that nobody can say what it does.
	in, _ = g.server("well")
	leftAlone(t, l, rec, in, Order{Confirm: func(context.Context) error {
		signalTo(t, in.Identity.PID, syscall.SIGSTOP)
		waitForState(t, in.Identity.PID, process.Stopped)
		return nil
	}}, ErrUnknown)

	// A client connects.
	in, mcp = g.server("well")
	leftAlone(t, l, rec, in, Order{Confirm: func(context.Context) error {
		g.helper("connect " + strconv.Itoa(mcp))
		return nil
	}}, ErrInUse)

	// Its port is another's by now, whose answer says nothing.
	in, _ = g.server("well")
	leftAlone(t, l, rec, in, Order{Confirm: func(context.Context) error {
		alter(l).listeners = func([]int) ([]process.Listener, error) { return nil, nil }
		return nil
	}}, ErrUnknown)
	l.o.System = process.Local()

	// The user pins it.
	in, _ = g.server("well")
	pinned := false
	l.o.Pinned = func(monitor.Identity) (bool, error) { return pinned, nil }
	leftAlone(t, l, rec, in, Order{Confirm: func(context.Context) error { pinned = true; return nil }}, ErrPinned)

	// Nobody can say whether it is.
	l.o.Pinned = func(monitor.Identity) (bool, error) { return false, errors.New("no file") }
	leftAlone(t, l, rec, in, Order{}, ErrUnknown)
}

func TestConfirmRefuses(t *testing.T) {
	g := newGroup(t)
	in, _ := g.server("well")
	rec := &recorder{}
	l := g.ladder(Options{Limits: quick(), Record: rec.record})
	back := func(ctx context.Context) error {
		if _, limited := ctx.Deadline(); !limited {
			t.Error("it may take for ever")
		}
		return errors.New("its client runs")
	}
	for _, o := range []Order{{Automatic: true, Confirm: back}, {Automatic: true, Force: true, Confirm: back}, {DryRun: true, Confirm: back}} {
		r, err := l.Stop(t.Context(), in, o)
		if !errors.Is(err, ErrChanged) || r.Outcome != Refused || r.Detail != "Not ended: "+in.Label()+": its client runs." {
			t.Errorf("%+v, %v", r, err)
		}
	}
	if rec.kinds() != "" {
		t.Errorf("recorded %s", rec.kinds())
	}
	// When a user has ordered it, nobody else tells.
	if _, err := l.Stop(t.Context(), in, Order{Confirm: back}); !errors.Is(err, ErrChanged) || rec.kinds() != "stop_refused" || rec.events[0].Detail != "its client runs." {
		t.Errorf("%v; recorded %+v", err, rec.events)
	}
	// What ends meanwhile needs no order, and who gives up is not refused.
	ended := func(context.Context) error { return fmt.Errorf("it is watched no more: %w", process.ErrGone) }
	if r, err := l.Stop(t.Context(), in, Order{Automatic: true, Confirm: ended}); !errors.Is(err, process.ErrGone) || r.Outcome != Gone {
		t.Errorf("%+v, %v", r, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	if r, err := l.Stop(ctx, in, Order{Automatic: true, Confirm: func(ctx context.Context) error { cancel(); return ctx.Err() }}); !errors.Is(err, context.Canceled) || r.Outcome != Cancelled {
		t.Errorf("%+v, %v", r, err)
	}
	if !lives(in.Identity) {
		t.Error("it was ended")
	}
}

// TestAPolicyIsNoExcuse: what a policy is refused, a user who waits for it meanwhile
// may do all the same; and what a user does, a policy does not do again.
func TestAPolicyIsNoExcuse(t *testing.T) {
	g := newGroup(t)
	in, _ := g.server("well")
	l := g.ladder(Options{Limits: quick()})
	var wait sync.WaitGroup
	asked, answer := make(chan struct{}), make(chan struct{})
	wait.Go(func() {
		r, err := l.Stop(t.Context(), in, Order{Automatic: true, Confirm: func(context.Context) error {
			close(asked)
			<-answer
			return errors.New("its client runs")
		}})
		if !errors.Is(err, ErrChanged) && r.Outcome != Gone {
			t.Errorf("the policy: %+v, %v", r, err)
		}
	})
	<-asked
	wait.Go(func() {
		if r, err := l.Stop(t.Context(), in, Order{By: "the menu"}); err != nil || r.Outcome != Ended {
			t.Errorf("the user: %+v, %v", r, err)
		}
	})
	close(answer)
	wait.Wait()

	in, _ = g.server("well")
	ordered, goOn := make(chan struct{}), make(chan struct{})
	rec := &recorder{on: func(k monitor.EventKind) {
		if k == monitor.EventStopOrdered {
			close(ordered)
			<-goOn
		}
	}}
	l = g.ladder(Options{Limits: quick(), Record: rec.record})
	wait.Go(func() {
		if r, err := l.Stop(t.Context(), in, Order{By: "the menu"}); err != nil || r.Outcome != Ended {
			t.Errorf("the user: %+v, %v", r, err)
		}
	})
	<-ordered
	wait.Go(func() {
		r, err := l.Stop(t.Context(), in, Order{Automatic: true, Confirm: func(context.Context) error { t.Error("it does it again"); return nil }})
		if (err != nil || r.Outcome != Ended) && r.Outcome != Gone {
			t.Errorf("the policy: %+v, %v", r, err)
		}
	})
	close(goOn)
	wait.Wait()
	if got := strings.Count(rec.kinds(), "stop_ordered"); got != 1 {
		t.Errorf("recorded %s", rec.kinds())
	}
}

// TestClockIsSet: a clock that is set forth and back during the climb shortens
// nothing and skips no rung.
func TestClockIsSet(t *testing.T) {
	g := newGroup(t)
	for _, c := range []struct {
		script string // says ready once what it leaves behind runs
		limits Limits
		want   string
	}{
		{`trap "sleep 0.2; exit 0" TERM; sleep 600 & echo ready; wait`, willing(), "stop_ordered terminated terminated ended"},
		{`trap "" TERM; sleep 600 & echo ready; wait`, quick(), "stop_ordered terminated terminated force_killed ended"},
	} {
		in := generic(g.shell(c.script))
		orphan(&in)
		l := g.ladder(Options{Limits: c.limits})
		days := 0
		l.now = func() time.Time {
			days++
			return stepped(t, time.Now(), time.Duration(days%3-1)*24*time.Hour)
		}
		r := stopped(t, l, in, Order{Automatic: true})
		if got := kinds(r.Steps); got != c.want {
			t.Errorf("steps %s, want %s", got, c.want)
		}
		said := r.Steps[len(r.Steps)-1].Detail
		_, span, _ := strings.Cut(said, ", after ")
		if took, err := time.ParseDuration(strings.ReplaceAll(span, " ", "")); err != nil || took < 0 || took > time.Hour {
			t.Errorf("it says %q", said)
		}
	}
}

// stepped is a time as the system tells it after its clock was set by d: the
// monotonic reading, which stands behind the wall clock in a Time, goes on.
func stepped(t *testing.T, at time.Time, d time.Duration) time.Time {
	t.Helper()
	const secondsAt = 30 // of the first word; the monotonic reading is the second
	to := at
	*(*uint64)(unsafe.Pointer(&to)) += uint64(int64(d/time.Second)) << secondsAt
	if to.Round(0).Sub(at.Round(0)) != d || to.Sub(at) != 0 {
		t.Fatal("a Time is not laid out as it was; this test has to learn it again")
	}
	return to
}

package stop

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/process"
)

// TestGivingUpWhileSuspended ends the context when the tree stands still for the
// next signal: it is continued, and that signal is not sent.
func TestGivingUpWhileSuspended(t *testing.T) {
	for _, after := range []int{0, 1, 2} {
		t.Run(fmt.Sprint("after ", after), func(t *testing.T) {
			g := newGroup(t)
			id := g.shell(`trap "" TERM; sh -c 'trap "" TERM; sleep 600 & wait' & echo ready; while :; do wait; done`)
			eventually(t, "all of it runs", func() bool { return len(g.alive()) == 3 })
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			rec := &recorder{}
			l := New(Options{Limits: quick(), Record: rec.record})
			l.now = func() time.Time {
				still := slices.ContainsFunc(g.alive(), func(pid int) bool {
					s, err := process.ReadStat(pid)
					return err == nil && s.State == process.Stopped
				})
				if still && strings.Count(rec.kinds(), "terminated") == after {
					cancel()
				}
				return time.Now()
			}
			r, err := l.Stop(ctx, generic(id), Order{})
			if !errors.Is(err, context.Canceled) || r.Outcome != Cancelled {
				t.Errorf("%+v, %v", r, err)
			}
			if want := "stop_ordered" + strings.Repeat(" terminated", after) + " stop_failed"; kinds(r.Steps) != want {
				t.Errorf("steps %s, want %s", kinds(r.Steps), want)
			}
			for _, pid := range g.alive() {
				eventually(t, "it goes on", func() bool {
					s, err := process.ReadStat(pid)
					return err != nil || s.State != process.Stopped
				})
			}
			if !lives(id) {
				t.Error("it was ended")
			}
		})
	}
}

// TestGivingUpOnTheWay ends the context after SIGTERM.
func TestGivingUpOnTheWay(t *testing.T) {
	g := newGroup(t)
	id := g.shell(`trap "" TERM; echo ready; while :; do sleep 600; done`)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	began := make(chan struct{})
	var once sync.Once
	rec := &recorder{on: func(k monitor.EventKind) {
		if k == monitor.EventTerminated {
			once.Do(func() { close(began); cancel() })
		}
	}}
	l := New(Options{Limits: quick(), Record: rec.record})
	second := make(chan Outcome, 1)
	go func() {
		<-began
		// Another one, who has not given up, carries it on.
		r, _ := l.Stop(t.Context(), generic(id), Order{Force: true})
		second <- r.Outcome
	}()
	r, err := l.Stop(ctx, generic(id), Order{})
	if !errors.Is(err, context.Canceled) || r.Outcome != Cancelled || !strings.Contains(r.Detail, "still there") {
		t.Errorf("%+v, %v", r, err)
	}
	if got := kinds(r.Steps); got != "stop_ordered terminated stop_failed" {
		t.Errorf("steps %s", got)
	}
	if o := <-second; o != Ended {
		t.Errorf("the second: %s", o)
	}
	if r, err := l.Stop(ctx, generic(id), Order{}); !errors.Is(err, context.Canceled) || r.Outcome != Cancelled {
		t.Errorf("a context that has ended: %+v, %v", r, err)
	}
}

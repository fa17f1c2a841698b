package workspace

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"lamplighter/app/apptest"
	"lamplighter/monitor"
	"lamplighter/monitor/statefile"
)

// events are those that a Serve has told.
type events struct {
	mu   sync.Mutex
	list []monitor.Event
}

func (e *events) record(event monitor.Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.list = append(e.list, event)
}

// kinds are those that were told so far.
func (e *events) kinds() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	var list []string
	for _, event := range e.list {
		list = append(list, string(event.Kind))
	}
	return strings.Join(list, " ")
}

// serve runs Serve until the function that it returns is called.
func serve(t *testing.T, m *Manager, e *events) (end func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- m.Serve(ctx, e.record) }()
	end = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("Serve ended with %v", err)
		}
	})
	t.Cleanup(end)
	return end
}

// seen waits for a view that is as it should be.
func seen(t *testing.T, views <-chan View, what string, ok func(View) bool) View {
	t.Helper()
	deadline := time.NewTimer(time.Minute)
	defer deadline.Stop()
	var last View
	for {
		select {
		case last = <-views:
			if ok(last) {
				return last
			}
		case <-deadline.C:
			t.Fatalf("%s: the last view is %+v", what, last)
		}
	}
}

// What other processes do is told, and shown, once.
func TestServeTells(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	other := l.manager(nil)
	before := l.create(other, Request{Kind: Temp, Job: "before"})
	m := l.manager(nil)
	views, cancel := m.Subscribe()
	defer cancel()
	var e events
	end := serve(t, m, &e)
	seen(t, views, "what there was", func(v View) bool { return len(v.Workspaces) == 1 })
	apptest.Eventually(t, "what happened before is told", func() bool { return e.kinds() == "workspace_created" })
	w := l.create(other, Request{Kind: Persistent, Job: "second"})
	seen(t, views, "a new one", func(v View) bool { return len(v.Workspaces) == 2 })
	// What happens to two at once is told in any order.
	apptest.Eventually(t, "that is told", func() bool { return e.kinds() == "workspace_created workspace_created" })
	if _, err := other.Remove(t.Context(), before.ID, Removal{By: "somebody"}); err != nil {
		t.Fatal(err)
	}
	seen(t, views, "one has gone", func(v View) bool { return len(v.Workspaces) == 1 && v.Workspaces[0].ID == w.ID })
	apptest.Eventually(t, "all is told", func() bool {
		return e.kinds() == "workspace_created workspace_created workspace_removed"
	})
	last := e.list[2]
	if last.ID != before.ID || last.Label != before.Name || !strings.Contains(last.Detail, "by somebody") || last.At.IsZero() {
		t.Errorf("%+v", last)
	}
	end()
	// While nobody serves.
	if _, err := other.Complete(t.Context(), w.ID, "somebody"); err != nil {
		t.Fatal(err)
	}
	var next events
	end = serve(t, l.manager(nil), &next)
	apptest.Eventually(t, "the rest is told", func() bool { return next.kinds() != "" })
	end()
	if got := next.kinds(); got != "workspace_completed" {
		t.Errorf("told again: %s", got)
	}
}

// What is due is done, also when it becomes so by what others write.
func TestServeSweeps(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	other := l.manager(nil)
	late := l.create(other, Request{Kind: Temp})
	l.passes(25 * time.Hour)
	m := l.manager(nil)
	views, cancel := m.Subscribe()
	defer cancel()
	var e events
	serve(t, m, &e)
	seen(t, views, "the late one has gone", func(v View) bool { return len(v.Workspaces) == 0 })
	apptest.Eventually(t, "that is told", func() bool { return strings.HasSuffix(e.kinds(), "workspace_removed") })
	apptest.Eventually(t, "all of it", func() bool { return l.record(m, late.ID).Step == nil })
	// A crash of another one leaves something to finish.
	w := l.create(other, Request{Kind: Temp})
	seen(t, views, "a new one", func(v View) bool { return len(v.Workspaces) == 1 })
	r := l.record(m, w.ID)
	r.Step = &step{Verb: stepRemove, By: "a test", Trash: m.trash(r, stepRemove)}
	if err := os.Rename(w.Path, r.Step.Trash); err != nil {
		t.Fatal(err)
	}
	if err := m.store.write(r); err != nil {
		t.Fatal(err)
	}
	seen(t, views, "it was finished", func(v View) bool { return len(v.Workspaces) == 0 })
}

// The timer goes off without anybody writing anything.
func TestServeTimer(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	const retention = 2 * time.Second
	m := l.manager(func(o *Options) { o.Limits = Limits{Retention: retention} })
	views, cancel := m.Subscribe()
	defer cancel()
	var e events
	end := serve(t, m, &e)
	w := l.create(m, Request{Kind: Temp})
	shown := seen(t, views, "it is made", func(v View) bool { return len(v.Workspaces) == 1 })
	if shown.Workspaces[0].EndsAt == nil {
		t.Error("nobody knows when it ends")
	}
	l.passes(retention) // not before it was seen
	seen(t, views, "it has gone", func(v View) bool { return len(v.Workspaces) == 0 })
	apptest.Eventually(t, "all of it", func() bool { return l.record(m, w.ID).Step == nil })
	end()
	l.gone(m, w)
}

// One process acts; another one shows all the same, and takes its turn.
func TestServeTakesTurns(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	first, second := l.manager(nil), l.manager(nil)
	var one, two events
	views1, cancel1 := first.Subscribe()
	defer cancel1()
	endFirst := serve(t, first, &one)
	l.create(first, Request{Kind: Temp})
	seen(t, views1, "the first one shows", func(v View) bool { return len(v.Workspaces) == 1 })
	apptest.Eventually(t, "the first one tells", func() bool { return one.kinds() == "workspace_created" })
	views2, cancel2 := second.Subscribe()
	defer cancel2()
	serve(t, second, &two)
	seen(t, views2, "the second one shows", func(v View) bool { return len(v.Workspaces) == 1 })
	if two.kinds() != "" {
		t.Errorf("both tell: %s", two.kinds())
	}
	endFirst()
	l.create(first, Request{Kind: Temp})
	apptest.Eventually(t, "the second one takes its turn", func() bool { return two.kinds() == "workspace_created" })
}

func TestServeShowsMaking(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	m := l.manager(nil)
	views, cancel := m.Subscribe()
	defer cancel()
	var e events
	serve(t, m, &e)
	w := l.create(m, Request{Kind: Persistent})
	release, err := m.store.hold(t.Context(), w.ID)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	tell, end := m.telling(w, nil)
	tell(Progress{Phase: Copying, Percent: 40})
	v := seen(t, views, "it is shown", func(v View) bool { return len(v.Making) == 1 && v.Making[0].Progress.Percent == 40 })
	if v.Making[0].ID != w.ID || v.Making[0].Name != w.Name {
		t.Errorf("%+v", v.Making)
	}
	end()
	seen(t, views, "it is made", func(v View) bool { return len(v.Making) == 0 && len(v.Workspaces) == 1 })
}

func TestServeDirectoryIsRemoved(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	m := l.manager(nil)
	views, cancel := m.Subscribe()
	defer cancel()
	var e events
	serve(t, m, &e)
	l.create(m, Request{Kind: Temp})
	seen(t, views, "it is made", func(v View) bool { return len(v.Workspaces) == 1 })
	// A write that is under way puts something into it in between.
	apptest.Eventually(t, "it is removed", func() bool { return os.RemoveAll(m.store.path(recordsDir)) == nil })
	seen(t, views, "it has gone", func(v View) bool { return len(v.Workspaces) == 0 })
	apptest.Eventually(t, "it is made again", func() bool {
		_, err := os.Stat(m.store.path(recordsDir))
		return err == nil
	})
	l.create(m, Request{Kind: Temp})
	seen(t, views, "another one", func(v View) bool { return len(v.Workspaces) == 1 })
}

// What writes have left that were killed goes with the next start, also when that
// writes nothing.
func TestServeSweepsLeftovers(t *testing.T) {
	m := newLab(t).manager(nil)
	stays := "." + toldFile + ".2.tmp" // somebody may be writing it
	left := []string{"." + toldFile + ".1.tmp", "." + scannedFile + ".1.tmp"}
	for _, name := range append(left, stays) {
		write(t, m.o.Dir, map[string]string{name: "half"})
	}
	for _, name := range left {
		if err := os.Chtimes(m.store.path(name), time.Time{}, time.Now().Add(-2*statefile.Abandoned)); err != nil {
			t.Fatal(err)
		}
	}
	var e events
	serve(t, m, &e)
	apptest.Eventually(t, "what was left is gone", func() bool {
		return !slices.ContainsFunc(left, func(name string) bool {
			_, err := os.Lstat(m.store.path(name))
			return !errors.Is(err, os.ErrNotExist)
		})
	})
	if _, err := os.Lstat(m.store.path(stays)); err != nil {
		t.Error(err)
	}
}

func TestAwait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := monitor.NewBell()
		b.Ring()
		b.Ring() // not heard yet
		begun := time.Now()
		if err := await(t.Context(), b, 0); err != nil {
			t.Error(err)
		}
		if err := await(t.Context(), b, time.Hour); err != nil || time.Since(begun) != time.Hour {
			t.Errorf("%v after %v", err, time.Since(begun))
		}
		time.AfterFunc(time.Minute, b.Ring)
		if err := await(t.Context(), b, time.Hour); err != nil || time.Since(begun) != time.Hour+time.Minute {
			t.Errorf("%v after %v", err, time.Since(begun))
		}
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Minute, cancel)
		if err := await(ctx, b, 0); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}

func TestClockWait(t *testing.T) {
	if !slices.Equal(clockWaits(), []time.Duration{0, time.Second, time.Minute, longestWait}) {
		t.Errorf("%v", clockWaits())
	}
}

func clockWaits() []time.Duration {
	return []time.Duration{clockWait(0), clockWait(time.Millisecond), clockWait(time.Minute), clockWait(1000 * day)}
}

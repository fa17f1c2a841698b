//go:build unix

package watch

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/process"
	"lamplighter/monitor/serena/serenatest"
)

func isIdle(in *monitor.Instance) bool {
	return in != nil && in.State == monitor.StateProject && !in.Evidence.IdleSince.IsZero()
}

// freshly looks at an instance, and returns it as the snapshot then has it.
func freshly(t *testing.T, w *Watch, id monitor.Identity) *monitor.Instance {
	t.Helper()
	s, err := w.Fresh(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	in := s.Instance(id)
	if in == nil {
		t.Fatalf("it is not shown: %+v", s.Instances)
	}
	return in
}

// A look at a server finds out what it does now, and everybody sees that.
func TestFreshUse(t *testing.T) {
	t.Parallel()
	w := watching(t)
	before := answers{"project": "alpha", "calls": 3, "last": answers{"name": "Task-2:FindSymbolTool", "finished_successfully": true}}
	f := startFake(t, before)
	in := await(t, w, f.pid, "idle", patience, isIdle)
	since := in.Evidence.IdleSince
	if in.Evidence.Transport != "stdio" || in.Evidence.ClientGone || in.Evidence.KeepsState != nil || since == since.Round(0) {
		t.Errorf("%+v", in.Evidence)
	}
	// One part of an answer that comes too late, on a slow machine, begins its time anew.
	idle := func() (since time.Time) {
		waitFor(t, "it stays idle although it is looked at", func() bool {
			since = await(t, w, f.pid, "idle", patience, isIdle).Evidence.IdleSince
			return freshly(t, w, in.Identity).Evidence.IdleSince == since
		})
		return since
	}
	idle()
	if _, err := w.Fresh(t.Context(), monitor.Identity{PID: f.pid, Start: in.Identity.Start + 1}); !errors.Is(err, process.ErrGone) {
		t.Errorf("another process: %v", err)
	}
	for _, c := range []struct {
		name  string
		a     answers
		idles bool
	}{
		{"at work", answers{"project": "alpha", "calls": 3, "queue": []answers{task("Task-3:FindSymbolTool")}}, false},
		{"used", answers{"project": "alpha", "calls": 4, "last": answers{"name": "Task-4:FindSymbolTool", "finished_successfully": true}}, true},
		{"does not say whether it is at work", answers{"project": "alpha", "broken": []string{"/queued_task_executions"}}, false},
	} {
		f.say(t, before)
		freshly(t, w, in.Identity)
		since := idle()
		f.say(t, c.a)
		waitFor(t, c.name, func() bool { // an answer that comes too late tells of no use
			now := freshly(t, w, in.Identity).Evidence.IdleSince
			return now.IsZero() != c.idles && now != since
		})
	}

	f.say(t, before)
	freshly(t, w, in.Identity)
	idle()
	f.signal(t, syscall.SIGSTOP)
	waitFor(t, "it is suspended", func() bool {
		st, err := process.ReadStat(f.pid)
		return err == nil && st.State == process.Stopped
	})
	if now := freshly(t, w, in.Identity); now.Cause != monitor.CauseSuspended || !now.Evidence.IdleSince.IsZero() || now.Evidence.RedSince.IsZero() {
		t.Errorf("suspended: %+v", now)
	}
	await(t, w, f.pid, "suspended, as everybody sees", patience, inState(monitor.StateZombie, monitor.CauseSuspended))
	f.signal(t, syscall.SIGKILL)
	await(t, w, f.pid, "gone", patience, gone)
	if _, err := w.Fresh(t.Context(), in.Identity); !errors.Is(err, process.ErrGone) {
		t.Errorf("%v", err)
	}
}

// strange is a machine on which something cannot be found out.
type strange struct {
	process.System
	stat  func(int) (process.Stat, error)
	tree  error
	ports bool
}

func (s strange) Stat(pid int) (process.Stat, error) {
	if s.stat != nil {
		return s.stat(pid)
	}
	return s.System.Stat(pid)
}

func (s strange) Tree(id monitor.Identity) ([]process.Stat, error) {
	if s.tree != nil {
		return nil, s.tree
	}
	return s.System.Tree(id)
}

func (s strange) Listeners(pids []int) ([]process.Listener, error) {
	if s.ports {
		return nil, nil
	}
	return s.System.Listeners(pids)
}

// What cannot be read has not ended: whoever asks would forget it. And a server whose
// port is another's is not idle, whatever that one says.
func TestFreshOnAStrangeMachine(t *testing.T) {
	own, err := process.ReadStat(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	stat := func(st process.Stat, err error) func(int) (process.Stat, error) {
		return func(int) (process.Stat, error) { return st, err }
	}
	other := own
	other.Identity.Start++
	unreaped := own
	unreaped.State = process.Unreaped
	for _, c := range []struct {
		name string
		s    strange
		says string // "" = nothing is wrong but that it is not known to be idle
		gone bool
	}{
		{"gone", strange{stat: stat(process.Stat{}, process.ErrGone)}, "has ended", true},
		{"its pid is another's", strange{stat: stat(other, nil)}, "has ended", true},
		{"not reaped", strange{stat: stat(unreaped, nil)}, "has ended", true},
		{"may not be read", strange{stat: stat(process.Stat{}, fs.ErrPermission)}, "not known", false},
		{"too many files", strange{stat: stat(process.Stat{}, syscall.EMFILE)}, "not known", false},
		{"no tree", strange{tree: fs.ErrPermission}, "not known", false},
		{"its port is another's", strange{ports: true}, "", false},
	} {
		s := replay(t, serenatest.Version, serenatest.NoProject)
		s.look(false)
		if s.known.shownEvidence().IdleSince.IsZero() {
			t.Fatal("it is not idle")
		}
		c.s.System = process.Local()
		s.loop.o.System = c.s
		err := s.fresh()
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) || errors.Is(err, process.ErrGone) != c.gone {
			t.Errorf("%s: %v", c.name, err)
		}
		if since := s.known.shownEvidence().IdleSince; c.says == "" && !since.IsZero() {
			t.Errorf("%s: idle since %v", c.name, since)
		}
	}
}

// An answer that was under way tells of an earlier moment.
func TestFreshAsksAnew(t *testing.T) {
	s := replay(t, serenatest.Version, serenatest.NoProject)
	s.look(false)
	s.loop.probe(t.Context(), s.known, s.now)
	early := <-s.loop.results
	answer := make(chan freshAnswer, 1)
	if err := s.loop.lookFreshly(t.Context(), s.known.in.Identity, answer, s.now); err != nil {
		t.Fatal(err)
	}
	s.loop.absorb(early, s.now)
	if len(s.loop.answers) > 0 {
		t.Error("it is answered by what was asked before")
	}
	s.loop.probeForWaiting(t.Context(), s.known, s.now)
	s.loop.absorb(<-s.loop.results, s.now)
	if len(s.loop.answers) != 1 {
		t.Error("it is not answered")
	}
	// One that leaves the model has ended.
	s.loop.answers = nil
	if err := s.loop.lookFreshly(t.Context(), s.known.in.Identity, answer, s.now); err != nil {
		t.Fatal(err)
	}
	s.loop.untrack(s.known)
	if f := <-answer; !errors.Is(f.err, process.ErrGone) {
		t.Errorf("%v", f.err)
	}
	s.loop.absorb(<-s.loop.results, s.now)
}

// Nothing answers before Serve runs, and nobody waits for ever.
func TestFreshWithoutServe(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := New(Options{}).Fresh(ctx, monitor.Identity{PID: 1, Start: 1}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// What the policies mean is part of what is published, in the same snapshot as what
// has changed. It is asked for after a change, when they say so, and when it is due.
func TestPlans(t *testing.T) {
	t.Parallel()
	now := time.Now()
	due, next := now.Add(time.Hour), time.Time{}
	paused, asked := false, 0
	w := New(Options{Plan: func(s *monitor.Snapshot) time.Time {
		asked++
		s.Policy = monitor.Policy{Active: true, Paused: paused, Rules: []monitor.PolicyRule{{Name: "idle", On: true}}}
		for _, in := range s.Instances {
			in.Plan = monitor.Plan{ShutdownAt: due, Reason: "no call for 1 h"}
		}
		return next
	}})
	l := w.begin(nil)
	tr := known()
	tr.in.ProjectName = "alpha"
	l.tracked[tr.in.Identity] = tr
	l.firstTick = now
	publish := func(what string, times int, news bool) {
		t.Helper()
		before := w.Snapshot()
		asked = 0
		now = now.Add(time.Second)
		w.readInbox(t.Context(), l)
		w.publish(l, now)
		if asked != times || (w.Snapshot() != before) != news {
			t.Errorf("%s: asked %d times, %+v after %+v", what, asked, w.Snapshot(), before)
		}
	}
	publish("at first", 1, true)
	if s := w.Snapshot(); !s.Policy.Active || len(s.Instances) != 1 || s.Instances[0].Plan.ShutdownAt != due {
		t.Fatalf("%+v", s)
	}
	for range 10 {
		publish("nothing", 0, false)
	}
	tr.Project = !tr.Project
	publish("a change", 1, true)
	if p := w.Snapshot().Instances[0].Plan; p.ShutdownAt != due {
		t.Errorf("%+v", p)
	}
	paused = true
	w.PolicyChanged()
	publish("the policies say so", 1, true)
	if !w.Snapshot().Policy.Paused {
		t.Error("they are not paused")
	}
	next = now.Add(3 * time.Second)
	w.PolicyChanged()
	publish("due later", 1, false)
	publish("not due", 0, false)
	next, due = time.Time{}, due.Add(time.Hour)
	publish("due", 1, true)
	publish("nothing more", 0, false)
	if s, err := Once(t.Context(), Options{Plan: w.o.Plan}); err != nil || !s.Policy.Active {
		t.Errorf("a single look: %+v, %v", s.Policy, err)
	}
}

// A quiet server makes no news although time goes by, whatever is known of it.
func TestQuietEvidence(t *testing.T) {
	t.Parallel()
	at := time.Now()
	for name, touch := range map[string]func(*tracked){
		"idle":    func(t *tracked) { t.noteAnswer(idle(aCall), at) },
		"cut off": func(t *tracked) { t.noteAnswer(idle(aCall), at); t.calls.last = &cutOff{over: at.Add(-1)} },
		"orphaned": func(t *tracked) {
			t.in.Evidence, t.clientGone = monitor.Evidence{Orphaned: true, Pipe: aPipe, AloneSince: at.Add(-time.Hour)}, at
		},
		"suspected": func(t *tracked) { t.in.Evidence = monitor.Evidence{Suspected: true, AloneSince: at.Add(-time.Hour)} },
		"suspended": func(t *tracked) { t.noteStat(process.Stat{State: process.Stopped}, 0, at) },
	} {
		w := New(Options{})
		l := w.begin(nil)
		tr := known()
		touch(tr)
		l.tracked[tr.in.Identity] = tr
		l.firstTick = at
		w.publish(l, at)
		before := w.Snapshot()
		for range 100 {
			at = at.Add(30 * time.Second)
			tr.noteStat(process.Stat{Identity: tr.in.Identity, State: map[bool]process.RunState{true: process.Stopped, false: process.Running}[tr.Stopped]}, 0, at)
			w.publish(l, at)
		}
		if w.Snapshot() != before {
			t.Errorf("%s: news without a change: %+v, then %+v", name, before.Instances, w.Snapshot().Instances)
		}
	}
}

// A client that was taken to have ended, and runs, has its server.
func TestFreshFindsTheClient(t *testing.T) {
	w := New(Options{})
	l := w.begin(nil)
	own, err := process.ReadStat(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	tr := known()
	tr.in.Client = &monitor.Client{Identity: own.Identity}
	tr.in.Evidence, tr.clientGone = monitor.Evidence{Orphaned: true, Pipe: aPipe, AloneSince: time.Now()}, time.Now()
	if !tr.shownEvidence().Orphaned {
		t.Fatal("it is no orphan")
	}
	if err := l.lookAtClient(tr, time.Now()); err != nil {
		t.Fatal(err)
	}
	if e := tr.shownEvidence(); e.Orphaned || e.ClientGone {
		t.Errorf("%+v", e)
	}
	l.o.System = strange{System: w.o.System, stat: func(int) (process.Stat, error) { return process.Stat{}, fs.ErrPermission }}
	tr.clientGone = time.Now()
	if err := l.lookAtClient(tr, time.Now()); err == nil {
		t.Error("nobody knows whether its client is gone")
	}
}

// looking is a loop that nobody serves, and the context for what it asks.
func looking(t interface{ Cleanup(func()) }) (*loop, context.Context) {
	ctx, cancel := context.WithCancel(context.Background())
	l := New(Options{Rules: noRules{}}).begin(nil)
	t.Cleanup(func() {
		cancel()
		l.probes.Wait()
	})
	return l, ctx
}

// Of a tree that cannot be read nobody knows whether it has changed, so that its server is asked.
func TestTreeThatCannotBeRead(t *testing.T) {
	t.Parallel()
	l, ctx := looking(t)
	tr := known()
	own := process.Stat{Identity: tr.in.Identity}
	tr.noteTree([]process.Stat{own}, start)
	tr.probing = true // so that nobody asks it here
	l.tracked[own.Identity] = tr
	l.o.System = strange{System: l.o.System, tree: fs.ErrPermission, stat: func(int) (process.Stat, error) { return own, nil }}
	if l.tick(ctx, start.Add(burstEvery)); !tr.active {
		t.Error("taken for one that has not changed")
	}
}

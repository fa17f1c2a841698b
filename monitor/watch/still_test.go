//go:build unix

package watch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"
	"time"

	"lamplighter/monitor"
	"lamplighter/monitor/process"
)

func isIdle(in *monitor.Instance) bool {
	return in != nil && in.State == monitor.StateProject && !in.Evidence.IdleSince.IsZero()
}

// refused checks that an error says why.
func refused(t *testing.T, what string, err error, says string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), says) {
		t.Errorf("%s: %v", what, err)
	}
}

// refusedBy asks until it is told what an error is to say, or that there is none,
// which is wrong: a server that answers late, on a slow machine, says something
// else first.
func refusedBy(t *testing.T, what, says string, ask func() error) {
	t.Helper()
	var err error
	waitFor(t, what+" is refused, because "+says, func() bool {
		err = ask()
		return err == nil || strings.Contains(err.Error(), says)
	})
	refused(t, what, err, says)
}

func TestStillIdle(t *testing.T) {
	t.Parallel()
	w := watching(t)
	before := answers{"project": "alpha", "calls": 3, "last": answers{"name": "Task-2:FindSymbolTool", "finished_successfully": true}}
	f := startFake(t, before)
	in := await(t, w, f.pid, "idle", patience, isIdle)
	since := in.Evidence.IdleSince
	if in.Evidence.Transport != "stdio" || in.Evidence.ClientGone || in.Evidence.KeepsState != nil || since == since.Round(0) {
		t.Errorf("%+v", in.Evidence)
	}
	waitFor(t, "it is idle when it is asked", func() bool {
		since = await(t, w, f.pid, "idle", patience, isIdle).Evidence.IdleSince
		return w.StillIdle(t.Context(), in.Identity, since) == nil
	})
	refusedBy(t, "an older look", "was used since", func() error { return w.StillIdle(t.Context(), in.Identity, since.Add(-time.Second)) })
	refused(t, "another process", w.StillIdle(t.Context(), monitor.Identity{PID: f.pid, Start: in.Identity.Start + 1}, since), "watched no more")

	// Each time it has done more than the watch has seen, which then looks again.
	for _, c := range []struct {
		name  string
		a     answers
		says  string
		idles bool
	}{
		{"at work", answers{"project": "alpha", "calls": 3, "queue": []answers{task("Task-3:FindSymbolTool")}}, "is at work", false},
		{"used", answers{"project": "alpha", "calls": 4, "last": answers{"name": "Task-4:FindSymbolTool", "finished_successfully": true}}, "has just been used", true},
		{"does not say", answers{"project": "alpha", "broken": []string{"/queued_task_executions"}}, "does not say whether it is at work", false},
		{"does not say what it did", answers{"project": "alpha", "broken": []string{"/last_execution"}}, "does not say what it did last", false},
		{"does not count", answers{"project": "alpha", "broken": []string{"/get_tool_stats"}}, "does not say how many calls", true},
	} {
		f.say(t, before)
		w.Hint(Hint{PID: f.pid})
		since = await(t, w, f.pid, "idle again, before "+c.name, patience, isIdle).Evidence.IdleSince
		waitFor(t, "nothing has changed", func() bool {
			now := await(t, w, f.pid, "idle", patience, isIdle)
			since = now.Evidence.IdleSince
			return w.StillIdle(t.Context(), in.Identity, since) == nil
		})
		var told standing
		waitFor(t, "its last look has told all", func() bool {
			var err error
			told, err = w.inquire(t.Context(), in.Identity)
			return err == nil && !told.idleSince.IsZero() && told.calls != nil
		})
		f.say(t, c.a)
		refusedBy(t, c.name, c.says, func() error { return w.stillIdle(t.Context(), in.Identity, told, told.idleSince) })
		refused(t, c.name, w.StillIdle(t.Context(), in.Identity, since), "it ") // the watch may have seen it meanwhile
		await(t, w, f.pid, "looked at again: "+c.name, patience, func(in *monitor.Instance) bool {
			return in != nil && (c.name == "does not count" || in.Evidence.IdleSince != since && in.Evidence.IdleSince.IsZero() != c.idles)
		})
	}

	f.say(t, before)
	w.Hint(Hint{PID: f.pid})
	since = await(t, w, f.pid, "idle at the end", patience, isIdle).Evidence.IdleSince
	f.signal(t, syscall.SIGSTOP)
	waitFor(t, "it is suspended", func() bool {
		st, err := process.ReadStat(f.pid)
		return err == nil && st.State == process.Stopped
	})
	if w.StillIdle(t.Context(), in.Identity, since) == nil {
		t.Error("one that is suspended is still idle")
	}
	await(t, w, f.pid, "suspended, and nobody knows what it does", patience, func(in *monitor.Instance) bool {
		return in != nil && in.Cause == monitor.CauseSuspended && in.Evidence.IdleSince.IsZero() && !in.Evidence.RedSince.IsZero()
	})
	f.signal(t, syscall.SIGKILL)
	await(t, w, f.pid, "gone", patience, gone)
	if err := w.StillIdle(t.Context(), in.Identity, since); !errors.Is(err, process.ErrGone) {
		t.Errorf("%v", err)
	}
}

// What cannot be read has not ended: whoever asks would forget it.
func TestCanSay(t *testing.T) {
	id := monitor.Identity{PID: 4711, Start: 7}
	for _, c := range []struct {
		name string
		st   process.Stat
		err  error
		says string // "" = it can
		gone bool
	}{
		{name: "runs", st: process.Stat{Identity: id}},
		{"suspended", process.Stat{Identity: id, State: process.Stopped}, nil, "suspended", false},
		{"gone", process.Stat{}, fmt.Errorf("process 4711: %w", process.ErrGone), "has ended", true},
		{"its pid is another's", process.Stat{Identity: monitor.Identity{PID: 4711, Start: 8}}, nil, "has ended", true},
		{"may not be read", process.Stat{}, fs.ErrPermission, "not known", false},
		{"too many files", process.Stat{}, syscall.EMFILE, "not known", false},
	} {
		err := canSay(id, c.st, c.err)
		if c.says == "" && err != nil || errors.Is(err, process.ErrGone) != c.gone {
			t.Errorf("%s: %v", c.name, err)
		}
		if c.says != "" {
			refused(t, c.name, err, c.says)
		}
	}
}

// What a call that was cut off may have started is looked for at that moment.
func TestStillIdleLooksAtTheTree(t *testing.T) {
	t.Parallel()
	w := watching(t)
	f := startFake(t, answers{"project": "alpha", "calls": 3}, "sh", "-c", `sleep 0.1; sleep 600 <&- >/dev/null 2>&1 & exec "$@"`, "sh")
	id := await(t, w, f.pid, "idle", patience, isIdle).Identity
	var told standing
	waitFor(t, "nothing has changed", func() bool {
		var err error
		told, err = w.inquire(t.Context(), id)
		return err == nil && w.stillIdle(t.Context(), id, told, told.idleSince) == nil
	})
	tree, err := process.Tree(id)
	if err != nil || len(tree) < 2 {
		t.Fatalf("%v, %v", tree, err)
	}
	told.marked = true
	refused(t, "a command", w.stillIdle(t.Context(), id, told, told.idleSince), "cut off may still be at work")
	told.before = identitiesOf(tree)
	waitFor(t, "what was there before does not count", func() bool { return w.stillIdle(t.Context(), id, told, told.idleSince) == nil })
}

// Nothing answers before Serve runs, and nobody waits for ever.
func TestStillWithoutServe(t *testing.T) {
	t.Parallel()
	w := New(Options{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, err := range []error{
		w.StillAlone(ctx, monitor.Identity{PID: 1, Start: 1}), w.StillIdle(ctx, monitor.Identity{PID: 1, Start: 1}, time.Now()),
	} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
	}
}

// A server that is used in between begins to be idle anew; nothing else does.
func TestIdleSinceOfAServer(t *testing.T) {
	t.Parallel()
	w := watching(t)
	f := startFake(t, answers{"project": "alpha"})
	// It is asked for the whole answer again, and has done nothing. One part of it
	// that comes too late, on a slow machine, would begin its time anew.
	var first time.Time
	name := "alpha"
	waitFor(t, "it stays idle although it is asked", func() bool {
		name = map[string]string{"alpha": "beta", "beta": "alpha"}[name]
		first = await(t, w, f.pid, "idle", patience, isIdle).Evidence.IdleSince
		w.Hint(Hint{PID: f.pid})
		f.say(t, answers{"project": name})
		in := await(t, w, f.pid, "asked again", patience, func(in *monitor.Instance) bool { return in != nil && in.ProjectName == name })
		return in.Evidence.IdleSince == first
	})
	f.say(t, answers{"project": "beta", "burn": true, "queue": []answers{task("Task-2:FindSymbolTool")}})
	await(t, w, f.pid, "at work", patience, func(in *monitor.Instance) bool { return in.Evidence.IdleSince.IsZero() })
	f.say(t, answers{"project": "beta", "calls": 1, "last": answers{"name": "Task-2:FindSymbolTool", "finished_successfully": true}})
	if got := await(t, w, f.pid, "idle again", patience, isIdle).Evidence.IdleSince; !got.After(first) {
		t.Errorf("idle since %v, before it was used", got)
	}
	// Cut off, it goes on for some time.
	f.say(t, answers{"project": "beta", "calls": 1, "burn": true, "last": task("Task-3:FindSymbolTool")})
	await(t, w, f.pid, "cut off", patience, func(in *monitor.Instance) bool {
		return in.Evidence.IdleSince.IsZero() && in.Busy != nil && !*in.Busy
	})
}

// What the policies mean is part of what is published, at once when they say so,
// and no news while it stays the same.
func TestPlans(t *testing.T) {
	t.Parallel()
	due := time.Now().Add(time.Hour)
	paused := false
	w := New(Options{Plan: func(s *monitor.Snapshot) {
		s.Policy = monitor.Policy{Active: true, Paused: paused, Rules: []monitor.PolicyRule{{Name: "idle", On: true}}}
		for i := range s.Instances {
			s.Instances[i].Plan = monitor.Plan{ShutdownAt: due, Reason: "no call for 1 h"}
		}
	}})
	l := newLoop(w.system, w.log, w.client, w.given.rules, nil)
	tr := known()
	tr.in.ProjectName = "alpha"
	l.tracked[tr.in.Identity] = tr
	now := time.Now()
	l.begun = now
	w.publish(l, now, true)
	before := w.Snapshot()
	if !before.Policy.Active || len(before.Instances) != 1 || before.Instances[0].Plan.ShutdownAt != due {
		t.Fatalf("%+v", before)
	}
	for range 10 {
		now = now.Add(time.Second)
		w.publish(l, now, true)
	}
	if w.Snapshot() != before {
		t.Error("a snapshot without a change")
	}
	w.PolicyChanged()
	select {
	case <-w.wake:
	default:
		t.Error("nobody wakes")
	}
	paused = true
	w.publish(l, now, true)
	if !w.Snapshot().Policy.Paused {
		t.Error("a change of the policies is no news")
	}
	if s, err := Once(t.Context(), Options{Plan: w.plan}); err != nil || !s.Policy.Active {
		t.Errorf("a single look: %+v, %v", s.Policy, err)
	}
}

// A quiet server makes no news although time goes by, whatever is known of it.
func TestQuietEvidence(t *testing.T) {
	t.Parallel()
	at := time.Now()
	for name, touch := range map[string]func(*tracked){
		"idle":    func(t *tracked) { t.succeeded(idle(aCall), at) },
		"cut off": func(t *tracked) { t.succeeded(idle(aCall), at); t.use.cut.over = at.Add(-1) },
		"orphaned": func(t *tracked) {
			t.evidence = evidence{closed: true, linked: true, clientGone: at, since: at.Add(-time.Hour)}
		},
		"suspected": func(t *tracked) { t.evidence = evidence{suspected: true, since: at.Add(-time.Hour)} },
		"suspended": func(t *tracked) { t.noteStat(process.Stat{State: process.Stopped}, 0, at) },
	} {
		w := New(Options{})
		l := newLoop(w.system, w.log, w.client, w.given.rules, nil)
		tr := known()
		touch(tr)
		l.tracked[tr.in.Identity] = tr
		l.begun = at
		w.publish(l, at, true)
		before := w.Snapshot()
		for range 100 {
			at = at.Add(30 * time.Second)
			tr.noteStat(process.Stat{Identity: tr.in.Identity, State: map[bool]process.RunState{true: process.Stopped, false: process.Running}[tr.stopped]}, 0, at)
			w.publish(l, at, true)
		}
		if w.Snapshot() != before {
			t.Errorf("%s: news without a change: %+v, then %+v", name, before.Instances, w.Snapshot().Instances)
		}
	}
}

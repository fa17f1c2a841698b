package watch

import (
	"context"
	"errors"
	"testing"
	"time"
	"unsafe"

	"pgregory.net/rapid"

	"lamplighter/monitor"
	"lamplighter/monitor/process"
	"lamplighter/monitor/serena"
)

var (
	aCall  = &serena.Task{Name: "Task-2:FindSymbolTool", Finished: true}
	cutOff = &serena.Task{Name: "Task-2:FindSymbolTool"}
	ofOwn  = &serena.Task{Name: "Task-3:init_project_services", Finished: true}
)

func number(n int64) *int64 { return &n }

// idle is an answer of a server that has nothing to do, and did task last.
func idle(task *serena.Task) result {
	return result{port: 24282, tasked: true, task: task, queued: true}
}

func TestIdleSince(t *testing.T) {
	first, now := time.Now(), time.Now().Add(20*time.Minute)
	with := func(r result, change func(*result)) result { change(&r); return r }
	for _, c := range []struct {
		name  string
		known time.Time // idle since, before
		r     result
		want  time.Time
	}{
		{"first look", time.Time{}, idle(aCall), now},
		{"nothing new", first, idle(&serena.Task{Name: "Task-1:ListDirTool"}), first},
		{"a sign of life", first, result{port: 24282, signOfLife: true}, first},
		{"a sign of life, and nothing known", time.Time{}, result{port: 24282, signOfLife: true}, time.Time{}},
		{"a call has come and gone", first, idle(aCall), now},
		{"a task of its own has", first, idle(ofOwn), now},
		{"a call, and its own task after it", first, with(idle(ofOwn), func(r *result) { r.calls = number(6) }), now},
		{"a call of which only the count tells", first, with(idle(&serena.Task{Name: "Task-1:ListDirTool"}), func(r *result) { r.calls = number(6) }), now},
		{"statistics cleared", first, with(idle(&serena.Task{Name: "Task-1:ListDirTool"}), func(r *result) { r.calls = number(0) }), first},
		{"statistics cleared, and a call since", first, with(idle(&serena.Task{Name: "Task-1:ListDirTool"}), func(r *result) { r.calls = number(1) }), now},
		{"a call runs", first, with(idle(aCall), func(r *result) { r.queue = []serena.Task{*aCall} }), time.Time{}},
		{"it gets ready", first, with(idle(nil), func(r *result) { r.queue = []serena.Task{*ofOwn} }), time.Time{}},
		{"the queue is not known", first, with(idle(aCall), func(r *result) { r.queued = false }), time.Time{}},
		{"the last task is not known", first, with(idle(nil), func(r *result) { r.tasked = false }), time.Time{}},
		{"cut off", first, idle(cutOff), time.Time{}},
	} {
		tr := known()
		tr.lastTask, tr.in.ToolCalls, tr.use.idleSince = "Task-1:ListDirTool", number(5), c.known
		tr.succeeded(c.r, now)
		if got := tr.usage().IdleSince; got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestWhatEndsIdleness(t *testing.T) {
	now := time.Now()
	for name, happens := range map[string]func(*tracked){
		"no answer":                    func(t *tracked) { t.failed(result{}, now) },
		"suspended":                    func(t *tracked) { t.noteStat(process.Stat{State: process.Stopped}, 0, now) },
		"suspended while it was asked": func(t *tracked) { t.stopped = true; t.succeeded(idle(nil), now) },
	} {
		tr := known()
		tr.use.idleSince = now
		happens(tr)
		if got := tr.usage().IdleSince; !got.IsZero() {
			t.Errorf("%s: idle since %v", name, got)
		}
	}
	// That we stop to ask is no answer.
	tr := known()
	tr.use.idleSince = now
	tr.failed(result{err: context.Canceled}, now)
	if tr.usage().IdleSince != now {
		t.Error("a probe that was given up ends idleness")
	}
	// It begins anew when it is continued and says so.
	tr.noteStat(process.Stat{State: process.Stopped}, 0, now)
	tr.noteStat(process.Stat{State: process.Running}, 0, now)
	if !tr.active {
		t.Error("one that was continued is not asked")
	}
	later := now.Add(time.Second)
	if tr.succeeded(idle(nil), later); tr.usage().IdleSince != later {
		t.Errorf("idle since %v", tr.usage().IdleSince)
	}
}

// treeOf is a tree of the server of known, and of children that are younger.
func treeOf(children ...int) []process.Stat {
	tree := []process.Stat{{Identity: known().in.Identity}}
	for _, pid := range children {
		tree = append(tree, process.Stat{Identity: monitor.Identity{PID: pid, Start: known().in.Identity.Start + 1}})
	}
	return tree
}

// A call that was cut off goes on where nothing tells of it.
func TestCutOffCalls(t *testing.T) {
	at := time.Now()
	tr := known()
	tr.succeeded(idle(cutOff), at)
	later := at.Add(time.Minute)
	tr.succeeded(idle(&serena.Task{Name: "Task-3:ListDirTool", Finished: true}), later)
	over := at.Add(cutOffWork)
	for _, c := range []struct{ now, want time.Time }{
		{later, time.Time{}}, {over.Add(-1), time.Time{}}, {over, over}, {over.Add(time.Hour), over},
	} {
		tr.noteTree(treeOf(), c.now)
		if got := tr.usage().IdleSince; got != c.want {
			t.Errorf("after %v: idle since %v, want %v", c.now.Sub(at), got, c.want)
		}
	}
	// The same one, seen again, is no other.
	tr = known()
	tr.succeeded(idle(cutOff), at)
	tr.succeeded(idle(cutOff), over)
	tr.noteTree(treeOf(), over)
	if got := tr.usage().IdleSince; got != over {
		t.Errorf("idle since %v", got)
	}
}

// What a call has started outlives ten minutes, and keeps its server busy.
func TestWhatACutOffCallLeaves(t *testing.T) {
	at := time.Now()
	over, long := at.Add(cutOffWork), at.Add(10*cutOffWork)
	for _, c := range []struct {
		name   string
		before []process.Stat // nil: no tree was known
		after  []process.Stat
		idle   bool
	}{
		{"nothing", treeOf(), treeOf(), true},
		{"what was there before", treeOf(5), treeOf(5), true},
		{"less than before", treeOf(5, 6), treeOf(6), true},
		{"a command", treeOf(5), treeOf(5, 9), false},
		{"a pid that is another's by now", treeOf(5), []process.Stat{treeOf()[0], {Identity: monitor.Identity{PID: 5, Start: 99}}}, false},
		{"no tree is known", treeOf(5), nil, false},
		{"none was known before", nil, treeOf(5), false},
		{"none was known before, and it is alone", nil, treeOf(), true},
	} {
		tr := known()
		if c.before != nil {
			tr.noteTree(c.before, at.Add(-time.Minute))
		}
		tr.use.cut.asked = tr.treeIDs
		tr.succeeded(result{port: 24282, signOfLife: true}, at.Add(-time.Second))
		tr.noteTree(treeOf(5, 9), at) // the call is at work already
		tr.use.cut.asked = tr.treeIDs
		tr.succeeded(idle(cutOff), at)
		for _, now := range []time.Time{over.Add(-1), over, long} {
			tr.noteTree(c.after, now)
			if got := tr.usage().IdleSince; !got.IsZero() != (c.idle && !now.Before(over)) {
				t.Errorf("%s, after %v: idle since %v", c.name, now.Sub(at), got)
			}
		}
		tr.noteTree(treeOf(), long.Add(time.Hour))
		if got := tr.usage().IdleSince; got.IsZero() || !c.idle && got != long.Add(time.Hour) {
			t.Errorf("%s, which has ended: idle since %v", c.name, got)
		}
	}
}

// Of calls that stand one behind the other, the server tells of the last alone.
func TestCutOffBehindAnother(t *testing.T) {
	at := time.Now()
	at2 := &serena.Task{Name: "Task-2:ExecuteShellCommandTool", IsRunning: true}
	waits := &serena.Task{Name: "Task-3:FindSymbolTool"}
	ended := func(task *serena.Task) *serena.Task { return &serena.Task{Name: task.Name, Finished: true} }
	first := &serena.Task{Name: "Task-1:ListDirTool", Finished: true}
	look := func(last *serena.Task, queue ...*serena.Task) result {
		r := idle(last)
		for _, task := range queue {
			r.queue = append(r.queue, *task)
		}
		return r
	}
	running := func(task *serena.Task) *serena.Task { return &serena.Task{Name: task.Name, IsRunning: true} }
	then := &serena.Task{Name: "Task-4:FindSymbolTool"}
	counted := func(n int64, r result) result {
		r.calls = number(n)
		return r
	}
	unknown := look(nil)
	unknown.tasked = false
	for _, c := range []struct {
		name  string
		looks []result
		cut   bool
	}{
		{"the other one hides it", []result{look(first, at2, waits), look(ended(waits)), look(ended(waits))}, true},
		{"the other one is at work", []result{look(first, at2, waits), look(first, running(waits)), look(ended(waits)), look(ended(waits))}, true},
		{"its end was not told", []result{look(first, at2), unknown, unknown, look(ended(waits)), look(ended(waits))}, true},
		{"it was seen to end badly", []result{look(first, at2, waits), look(&serena.Task{Name: at2.Name}, running(waits)), look(ended(waits))}, true},
		{"it ended well", []result{look(first, at2, waits), look(ended(at2), running(waits)), look(ended(waits))}, false},
		{"it ended well between two questions", []result{look(first, at2, waits), look(first, running(waits)), look(ended(at2), running(waits)), look(ended(waits))}, false},
		{"both are counted", []result{counted(4, look(first, at2, waits)), counted(6, look(ended(waits))), look(ended(waits))}, false},
		{"one of both is counted", []result{counted(4, look(first, at2, waits)), counted(5, look(ended(waits))), look(ended(waits))}, true},
		{"a third one may have been counted", []result{
			counted(4, look(first, at2, waits)), counted(6, look(ended(waits))), counted(6, look(ended(then))), look(ended(then)),
		}, true},
		{"it never began", []result{look(first, waits), look(first)}, false},
		{"Serena's own", []result{look(first, &serena.Task{Name: ofOwn.Name, IsRunning: true}), look(first), look(first)}, false},
	} {
		tr := known()
		tr.lastTask, tr.use.idleSince = first.Name, at
		now := at
		for _, r := range c.looks {
			now = now.Add(whileBusy)
			tr.succeeded(r, now)
			if tr.use.cut.missing() && (!tr.usage().IdleSince.IsZero() || tr.nextProbe.IsZero()) {
				t.Errorf("%s: idle, or not asked again, before its end is known", c.name)
			}
		}
		if got := tr.usage().IdleSince; got.IsZero() != c.cut {
			t.Errorf("%s: idle since %v", c.name, got)
		}
		tr.noteTree(treeOf(), now.Add(cutOffWork))
		if tr.usage().IdleSince.IsZero() {
			t.Errorf("%s: never idle again", c.name)
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

func TestClockSteps(t *testing.T) {
	at := time.Now()
	for _, step := range []time.Duration{24 * time.Hour, -24 * time.Hour} {
		tr := known()
		tr.firstSeen = at
		tr.succeeded(idle(cutOff), at)
		tr.use.idleSince, tr.evidence = at, evidence{closed: true, linked: true, clientGone: at, since: at}
		tr.noteTree(treeOf(), stepped(t, at.Add(time.Minute), step))
		if got := tr.usage().IdleSince; !got.IsZero() {
			t.Errorf("%v: a call that was cut off is over", step)
		}
		now := stepped(t, at.Add(cutOffWork), step)
		tr.noteTree(treeOf(), now)
		tr.noteState(now)
		in, _ := tr.instance(now)
		if idle := now.Sub(in.Evidence.IdleSince); idle != 0 {
			t.Errorf("%v: idle for %v", step, idle)
		}
		if alone := now.Sub(in.Evidence.AloneSince); alone != cutOffWork {
			t.Errorf("%v: alone for %v", step, alone)
		}
		if red := now.Sub(in.Evidence.RedSince); red != 0 {
			t.Errorf("%v: red for %v", step, red)
		}
	}
}

func TestUsage(t *testing.T) {
	gone, found, now := time.Now(), time.Now().Add(time.Second), time.Now().Add(time.Hour)
	for _, c := range []struct {
		name  string
		touch func(*tracked)
		want  monitor.Evidence
	}{
		{"over stdio", func(*tracked) {}, monitor.Evidence{Transport: "stdio"}},
		{"over HTTP", func(t *tracked) { t.cmd.Transport = "streamable-http" }, monitor.Evidence{Transport: "http"}},
		{"over SSE", func(t *tracked) { t.cmd.Transport = "sse" }, monitor.Evidence{Transport: "sse"}},
		{"its client has gone", func(t *tracked) { t.evidence.clientGone = gone }, monitor.Evidence{Transport: "stdio", ClientGone: true}},
		{"orphaned, at once", func(t *tracked) { t.evidence = evidence{closed: true, linked: true, clientGone: gone, since: now} },
			monitor.Evidence{Transport: "stdio", Orphaned: true, ClientGone: true, AloneSince: now}},
		{"suspected", func(t *tracked) { t.evidence = evidence{suspected: true, since: found} },
			monitor.Evidence{Transport: "stdio", Suspected: true, AloneSince: found, RedSince: now}},
		{"by a single look", func(t *tracked) { t.evidence = evidence{suspected: true, since: now, once: true} },
			monitor.Evidence{Transport: "stdio", Suspected: true, AloneSince: now, RedSince: now}},
		{"no more", func(t *tracked) { t.evidence = evidence{since: found} }, monitor.Evidence{Transport: "stdio"}},
		{"over HTTP, whoever started it has gone", func(t *tracked) { t.cmd.Transport, t.evidence.clientGone = "sse", gone }, monitor.Evidence{Transport: "sse"}},
		{"managed", func(t *tracked) { t.in.Managed, t.cmd.Transport = true, "streamable-http" }, monitor.Evidence{Transport: "http"}},
		{"another kind", func(t *tracked) { t.in.Kind, t.cmd, t.looked = "git", serena.Command{}, true }, monitor.Evidence{Transport: "stdio"}},
		{"another kind that listens", func(t *tracked) { t.in.Kind, t.cmd, t.looked, t.listens = "git", serena.Command{}, true, true }, monitor.Evidence{}},
		{"unrecognised", func(t *tracked) { t.in.Recognised, t.cmd = false, serena.Command{} }, monitor.Evidence{}},
		{"suspended", func(t *tracked) { t.stopped = true }, monitor.Evidence{Transport: "stdio", RedSince: now}},
		{"defunct", func(t *tracked) {
			t.exitedAt, t.unreaped, t.use.idleSince = gone, true, gone
			t.evidence = evidence{closed: true, linked: true, clientGone: gone, since: found}
		}, monitor.Evidence{RedSince: now}},
	} {
		tr := known()
		c.touch(tr)
		tr.noteState(now)
		in, shown := tr.instance(now)
		if !shown || in.Evidence != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, in.Evidence, c.want)
		}
	}
}

func TestRedSince(t *testing.T) {
	tr := known()
	at := time.Now()
	red := func(now time.Time) time.Time {
		tr.noteState(now)
		in, _ := tr.instance(now)
		return in.Evidence.RedSince
	}
	if !red(at).IsZero() {
		t.Error("red from the start")
	}
	tr.stopped = true
	if red(at.Add(1)) != at.Add(1) || red(at.Add(2)) != at.Add(1) {
		t.Error("not since it was found")
	}
	tr.evidence = evidence{closed: true, linked: true, since: at.Add(-time.Hour)}
	if red(at.Add(3)) != at.Add(1) {
		t.Error("another cause is no other state")
	}
	tr.stopped, tr.evidence = false, evidence{}
	if !red(at.Add(4)).IsZero() {
		t.Error("red for ever")
	}
	tr.stopped = true
	tr.instance(at.Add(5))
	if !tr.redSince.IsZero() {
		t.Error("to look at it takes note of it")
	}
}

// What a server says about its interface stays known when it does not say so.
func TestKeepsState(t *testing.T) {
	tr := known()
	if tr.usage().KeepsState != nil {
		t.Error("known before it has said so")
	}
	tr.noteOverview(&serena.Overview{Version: "2.1.0", AgentInterface: "REPL"})
	tr.noteOverview(&serena.Overview{Version: "2.1.0"})
	if keeps := tr.usage().KeepsState; keeps == nil || !*keeps {
		t.Error("forgotten")
	}
	tr.noteOverview(&serena.Overview{Version: "2.1.0", AgentInterface: "tools"})
	if keeps := tr.usage().KeepsState; keeps == nil || *keeps {
		t.Error("it keeps nothing")
	}
}

// A message during a probe asks for another one: the answer may be older.
func TestMessageDuringAProbe(t *testing.T) {
	w := New(Options{})
	l := newLoop(w.log, w.client, w.rules, nil)
	ctx, cancel := context.WithCancel(t.Context())
	defer l.probes.Wait()
	cancel() // nobody is to be asked
	tr := known()
	l.tracked[tr.in.Identity] = tr
	tr.active = true
	l.probe(ctx, tr, start)
	if tr.active {
		t.Error("what led to this probe asks for another")
	}
	if tr.noteStat(process.Stat{Identity: tr.in.Identity, CPU: processCPU}, 0, start.Add(time.Second)); tr.active {
		t.Error("that it answers us counts as a message")
	}
	tr.active = true
	l.inFlight++ // that of this result
	l.absorb(result{id: tr.in.Identity, port: 24282, signOfLife: true}, start)
	if !tr.probeDue(start.Add(activeGap), false) {
		t.Error("the message is lost")
	}
}

// Whatever happens, a server is idle only since a moment at which it said so,
// and never while it has not.
func TestIdlenessIsNeverMadeUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tr := known()
		now := time.Now()
		said := map[time.Time]bool{} // when it said that it has nothing to do
		var task int
		quiet, cut, over := false, time.Time{}, time.Time{}
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(1, 400).Draw(t, "seconds")) * time.Second)
			switch rapid.SampledFrom([]string{"idle", "call", "busy", "sign", "fails", "stop", "go", "unknown"}).Draw(t, "what") {
			case "idle":
				tr.succeeded(idle(&serena.Task{Name: tr.lastTask, Finished: true}), now)
				quiet = !tr.stopped
				said[now] = quiet
			case "call":
				task++
				last := &serena.Task{Name: "Task-" + string(rune('a'+task%26)) + ":XTool", Finished: rapid.Bool().Draw(t, "finished")}
				if !last.Finished {
					cut = now.Add(cutOffWork)
				}
				tr.succeeded(idle(last), now)
				quiet, said = !tr.stopped, map[time.Time]bool{now: true}
			case "busy":
				r := idle(nil)
				r.queue = []serena.Task{*aCall}
				r.task = &serena.Task{Name: tr.lastTask, Finished: true}
				tr.succeeded(r, now)
				quiet, said = false, map[time.Time]bool{}
			case "sign":
				tr.succeeded(result{port: 1, signOfLife: true}, now)
			case "fails":
				tr.failed(result{err: errors.New("x")}, now)
				if !tr.stopped {
					quiet, said = false, map[time.Time]bool{}
				}
			case "unknown":
				tr.succeeded(result{port: 1}, now)
				quiet, said = false, map[time.Time]bool{}
			case "stop":
				tr.noteStat(process.Stat{State: process.Stopped}, 0, now)
				quiet, said = false, map[time.Time]bool{}
			case "go":
				tr.noteStat(process.Stat{State: process.Running}, 0, now)
			}
			if !cut.IsZero() && over.Before(cut) && !now.Before(cut) {
				over = now
			}
			tr.noteTree(treeOf(), now)
			got := tr.usage().IdleSince
			switch {
			case now.Before(cut) || !quiet:
				if !got.IsZero() {
					t.Fatalf("idle since %v", got)
				}
			case !said[got] && got != over:
				t.Fatalf("idle since %v, which nobody said", got)
			}
		}
	})
}
